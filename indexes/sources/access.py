"""Who may see a file: what its front matter states, within what the nearest `.access.yaml` allows."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

from indexes.grants import ALWAYS
from indexes.sources.strict_yaml import Bad, Table, load
from indexes.types import Access

NAME = ".access.yaml"
_TAG = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*")


class Denied(Exception):
    """Why the access of a file cannot be established, in one line."""


@dataclass(frozen=True, slots=True)
class Stated:
    """What one place says about access; None: it does not say."""

    groups: frozenset[str] | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    language: str | None = None
    """Without its region: `pt` of `pt-BR`."""

    def over(self, other: "Stated") -> "Stated":
        """What this says, and where it is silent, what `other` says."""
        return Stated(
            other.groups if self.groups is None else self.groups,
            self.valid_from or other.valid_from,
            self.valid_to or other.valid_to,
            self.language or other.language,
        )


@dataclass(slots=True)
class Rule:
    """A pattern of paths below the folder of its `.access.yaml`, and what holds for them."""

    path: str
    stated: Stated
    used: bool = False
    _pattern: re.Pattern[str] = field(init=False)

    def __post_init__(self) -> None:
        self._pattern = re.compile(_translated(self.path))

    def matches(self, path: str) -> bool:
        found = self._pattern.fullmatch(path) is not None
        self.used = self.used or found
        return found


@dataclass(frozen=True, slots=True)
class Rules:
    """One `.access.yaml`: the first rule that matches a path holds, over what the file says for all."""

    stated: Stated
    rules: tuple[Rule, ...]

    def of(self, path: str) -> Stated:
        """What holds for `path`, relative to the file's folder, with `/`."""
        rule = next((rule for rule in self.rules if rule.matches(path)), None)
        return rule.stated.over(self.stated) if rule else self.stated

    def unused(self) -> Iterator[str]:
        yield from (rule.path for rule in self.rules if not rule.used)


def rules(text: str) -> Rules:
    """Reads a `.access.yaml`. Raises `Bad`; an empty file states nothing, so it is one."""
    table = load(text)
    if table is None:
        raise Bad(1, "is empty: state allowed_groups, or delete it")
    found = Rules(stated(table), tuple(_rule(inner) for inner in table.tables("rules")))
    table.close()
    return found


def stated(table: Table) -> Stated:
    """`allowed_groups`, `valid_from`, `valid_to`, `language` of a mapping. Raises `Bad`."""
    groups = table.texts("allowed_groups")
    if groups is not None and not groups:
        raise table.bad("allowed_groups", "is empty, so that nobody could see it: name a group")
    begins, ends = table.moment("valid_from"), table.moment("valid_to")
    if begins and ends and ends <= begins:
        raise table.bad("valid_to", f"{_shown(ends)} is not after valid_from, {_shown(begins)}")
    return Stated(None if groups is None else frozenset(groups), begins, ends, _language(table))


def combined(folder: Stated | None, front: Stated, may_widen: bool = False) -> Access:
    """The access of a file. `folder`: what its `.access.yaml` states; None: there is none.

    The front matter may narrow groups and validity; more only where `may_widen`. Raises `Denied`.
    """
    if folder is not None and not may_widen:
        _check_narrower(folder, front)
    whole = front.over(folder or Stated())
    if not whole.groups:
        raise Denied(f"states no allowed_groups, nor does a {NAME} above it: nobody may see it")
    begins = whole.valid_from or ALWAYS
    if whole.valid_to is not None and whole.valid_to <= begins:
        raise Denied(f"valid_to, {_shown(whole.valid_to)}, is not after valid_from, {_shown(begins)}")
    return Access(whole.groups, begins, whole.valid_to)


def _check_narrower(folder: Stated, front: Stated) -> None:
    more = (front.groups or frozenset()) - (folder.groups or frozenset())
    if more:
        named = ", ".join(sorted(more))
        raise Denied(
            f"the front matter adds groups that {NAME} does not allow: {named}; allow them there first"
        )
    if front.valid_from and folder.valid_from and front.valid_from < folder.valid_from:
        raise Denied(f"the front matter begins before {NAME} allows, {_shown(folder.valid_from)}")
    if front.valid_to and folder.valid_to and front.valid_to > folder.valid_to:
        raise Denied(f"the front matter ends after {NAME} allows, {_shown(folder.valid_to)}")


def _language(table: Table) -> str | None:
    tag = table.text("language")
    if tag is not None and not _TAG.fullmatch(tag):
        raise table.bad("language", f"want a tag as en or pt-BR, got {tag:.20}")
    return tag.split("-")[0].lower() if tag else None


def _rule(table: Table) -> Rule:
    path = table.text("path")
    if path is None:
        raise Bad(table.line, "a rule needs a `path`")
    rule = Rule(path.removeprefix("/"), stated(table))
    table.close()
    return rule


def _translated(path: str) -> str:
    """As a regular expression: `**` any folders, `*` and `?` within a name; without `/`: at any depth."""
    if path.endswith("/"):
        path += "**"
    elif "/" not in path:
        path = f"**/{path}"
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", path)
    meant = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return "(?s:" + "".join(meant.get(part) or re.escape(part) for part in parts) + ")"


def _shown(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%MZ}"
