"""Who may see a file: what its front matter states, within what the nearest `.access.yaml` allows."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

from indexes.grants import ALWAYS
from indexes.sources.strict_yaml import YamlFault, YamlTable, load_table
from indexes.types import Access

ACCESS_FILE_NAME = ".access.yaml"
_TAG = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*")


class UnindexableError(Exception):
    """Why a file cannot be indexed, or its access not be established, in one line."""


class AlreadyReportedError(UnindexableError):
    """The same, without a text: a fault that stands for many files is reported once, not for each."""


@dataclass(frozen=True, slots=True)
class AccessStatement:
    """What one place says about access; None: it does not say."""

    groups: frozenset[str] | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    language: str | None = None
    """Without its region: `pt` of `pt-BR`."""

    def merge_defaults(self, defaults: "AccessStatement") -> "AccessStatement":
        """What this says, and where it is silent, what `defaults` say."""
        return AccessStatement(
            defaults.groups if self.groups is None else self.groups,
            self.valid_from or defaults.valid_from,
            self.valid_to or defaults.valid_to,
            self.language or defaults.language,
        )


@dataclass(slots=True)
class AccessRule:
    """A pattern of paths below the folder of its `.access.yaml`, and what holds for them."""

    path: str
    statement: AccessStatement
    is_used: bool = False
    _pattern: re.Pattern[str] = field(init=False)

    def __post_init__(self) -> None:
        self._pattern = re.compile(_translate_glob(self.path))

    def match_path(self, path: str) -> bool:
        """Whether it holds for `path`; if so, it counts as used from now on."""
        matches = self._pattern.fullmatch(path) is not None
        self.is_used = self.is_used or matches
        return matches


@dataclass(frozen=True, slots=True)
class AccessRules:
    """One `.access.yaml`: the first rule that matches a path holds, over what the file says for all."""

    common: AccessStatement
    rules: tuple[AccessRule, ...]

    def find_statement(self, path: str) -> AccessStatement:
        """What holds for `path`, relative to the file's folder, with `/`."""
        rule = next((rule for rule in self.rules if rule.match_path(path)), None)
        return rule.statement.merge_defaults(self.common) if rule else self.common

    def iterate_unused_paths(self) -> Iterator[str]:
        yield from (rule.path for rule in self.rules if not rule.is_used)


def parse_access_rules(text: str) -> AccessRules:
    """Reads a `.access.yaml`. Raises `YamlFault`; an empty file states nothing, so it is one."""
    table = load_table(text)
    if table is None:
        raise YamlFault(1, "is empty: state allowed_groups, or delete it")
    rules = AccessRules(
        parse_access_statement(table),
        tuple(_parse_access_rule(inner) for inner in table.take_tables("rules")),
    )
    table.reject_unknown_keys()
    return rules


def parse_access_statement(table: YamlTable) -> AccessStatement:
    """`allowed_groups`, `valid_from`, `valid_to`, `language` of a mapping. Raises `YamlFault`."""
    groups = table.take_texts("allowed_groups")
    if groups is not None and not groups:
        raise table.build_key_fault("allowed_groups", "is empty, so that nobody could see it: name a group")
    begins, ends = table.take_instant("valid_from"), table.take_instant("valid_to")
    if begins and ends and ends <= begins:
        raise table.build_key_fault(
            "valid_to", f"{_format_instant(ends)} is not after valid_from, {_format_instant(begins)}"
        )
    return AccessStatement(
        None if groups is None else frozenset(groups), begins, ends, _parse_language_tag(table)
    )


def combine_access(folder: AccessStatement | None, front: AccessStatement, may_widen: bool = False) -> Access:
    """The access of a file. `folder`: what its `.access.yaml` states; None: there is none.

    The front matter may narrow groups and validity; more only where `may_widen`. Raises
    `UnindexableError`.
    """
    if folder is not None and not may_widen:
        _check_narrower(folder, front)
    merged = front.merge_defaults(folder or AccessStatement())
    if not merged.groups:
        raise UnindexableError(
            f"states no allowed_groups, nor does a {ACCESS_FILE_NAME} above it: nobody may see it"
        )
    begins = merged.valid_from or ALWAYS
    if merged.valid_to is not None and merged.valid_to <= begins:
        ends = _format_instant(merged.valid_to)
        raise UnindexableError(f"valid_to, {ends}, is not after valid_from, {_format_instant(begins)}")
    return Access(merged.groups, begins, merged.valid_to)


def _check_narrower(folder: AccessStatement, front: AccessStatement) -> None:
    added = (front.groups or frozenset()) - (folder.groups or frozenset())
    if added:
        named = ", ".join(sorted(added))
        raise UnindexableError(
            f"the front matter adds groups that {ACCESS_FILE_NAME} does not allow: {named}; "
            "allow them there first"
        )
    if front.valid_from and folder.valid_from and front.valid_from < folder.valid_from:
        raise UnindexableError(
            f"the front matter begins before {ACCESS_FILE_NAME} allows, {_format_instant(folder.valid_from)}"
        )
    if front.valid_to and folder.valid_to and front.valid_to > folder.valid_to:
        raise UnindexableError(
            f"the front matter ends after {ACCESS_FILE_NAME} allows, {_format_instant(folder.valid_to)}"
        )


def _parse_language_tag(table: YamlTable) -> str | None:
    tag = table.take_text("language")
    if tag is not None and not _TAG.fullmatch(tag):
        raise table.build_key_fault("language", f"want a tag as en or pt-BR, got {tag:.20}")
    return tag.split("-")[0].lower() if tag else None


def _parse_access_rule(table: YamlTable) -> AccessRule:
    path = table.take_text("path")
    if path is None:
        raise YamlFault(table.line, "a rule needs a `path`")
    rule = AccessRule(path.removeprefix("/"), parse_access_statement(table))
    table.reject_unknown_keys()
    return rule


def _translate_glob(path: str) -> str:
    """As a regular expression: `**` any folders, `*` and `?` within a name; without `/`: at any depth."""
    if path.endswith("/"):
        path += "**"
    elif "/" not in path:
        path = f"**/{path}"
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", path)
    patterns = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return "(?s:" + "".join(patterns.get(part) or re.escape(part) for part in parts) + ")"


def _format_instant(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%MZ}"
