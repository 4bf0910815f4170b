"""YAML read strictly: known keys, no words read as booleans or numbers, every fault with its line.

Values are taken from the syntax tree by what is wanted of them; a `no` or `12` where a text is wanted is a
fault, not a guess.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches

import yaml

_INSTANT = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|[+-]\d\d:\d\d)?)?")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_KIND_NAMES = {"str": "text", "int": "a number", "bool": "a boolean", "null": "nothing", "float": "a number",
          "timestamp": "a date", "seq": "a list", "map": "a mapping"}  # fmt: skip


class YamlFault(Exception):
    """What is wrong, in one line, and where (`line` counts from 1)."""

    def __init__(self, line: int, text: str):
        super().__init__(text)
        self.line = line
        self.text = text


class YamlTable:
    """A mapping whose keys are taken one by one; `reject_unknown_keys` refuses those that nobody took."""

    def __init__(self, node: yaml.Node, line_offset: int = 0):
        self._line_offset = line_offset
        """Lines before the YAML text in its file."""
        if not isinstance(node, yaml.MappingNode):
            raise self._build_node_fault(
                node, f"want a mapping of keys to values, got {_name_node_kind(node)}"
            )
        self._node = node
        self._values: dict[str, yaml.Node] = {}
        self._known_keys: list[str] = []
        for key, value in node.value:
            name = self._parse_text_node(key)
            if name in self._values:
                raise self._build_node_fault(key, f"`{name}` stands here twice")
            self._values[name] = value

    @property
    def line(self) -> int:
        return _find_node_line(self._node) + self._line_offset

    def has_key(self, name: str) -> bool:
        """Whether `name` stands here. It is a known key from now on, as one that is taken."""
        return self._take_node(name) is not None

    def take_text(self, name: str) -> str | None:
        node = self._take_node(name)
        return None if node is None else self._parse_text_node(node)

    def take_flag(self, name: str) -> bool:
        node = self._take_node(name)
        if node is None:
            return False
        if _read_node_tag(node) != "bool" or str(node.value).lower() not in ("true", "false"):
            raise self._build_node_fault(node, f"`{name}`: want true or false, got {_describe_node(node)}")
        return str(node.value).lower() == "true"

    def take_scalar(self, name: str) -> str | None:
        """A scalar as it is written: for dates and numbers that are read by their own rules."""
        node = self._take_node(name)
        if node is None:
            return None
        if not isinstance(node, yaml.ScalarNode) or _read_node_tag(node) in ("bool", "null"):
            raise self._build_node_fault(node, f"`{name}`: want a date, got {_describe_node(node)}")
        return str(node.value)

    def take_texts(self, name: str) -> tuple[str, ...] | None:
        node = self._take_node(name)
        if node is None:
            return None
        if not isinstance(node, yaml.SequenceNode):
            raise self._build_node_fault(
                node, f"`{name}`: want a list, as in [public, staff], got {_describe_node(node)}"
            )
        return tuple(self._parse_text_node(item) for item in node.value)

    def take_instant(self, name: str) -> datetime | None:
        """A time with its zone; a date alone is its first instant in UTC."""
        node = self._take_node(name)
        if node is None:
            return None
        written = str(node.value)
        if not isinstance(node, yaml.ScalarNode) or not _INSTANT.fullmatch(written):
            raise self._build_node_fault(
                node, f"`{name}`: want a date or time, as 2026-01-31T00:00:00Z, got {_describe_node(node)}"
            )
        try:
            parsed = datetime.fromisoformat(written)
            moment = parsed.replace(tzinfo=parsed.tzinfo or UTC).astimezone(UTC)
        except (ValueError, OverflowError):  # an offset may lead out of the years that there are
            raise self._build_node_fault(node, f"`{name}`: {written} is no date of the calendar") from None
        if parsed.tzinfo is None and len(written) > len("2026-01-31"):
            raise self._build_node_fault(
                node, f"`{name}`: {written} has no time zone: add Z or an offset as +01:00"
            )
        return moment

    def take_nodes(self, name: str) -> tuple[yaml.Node, ...]:
        """The entries of a list, unread."""
        node = self._take_node(name)
        if node is None:
            return ()
        if not isinstance(node, yaml.SequenceNode):
            raise self._build_node_fault(node, f"`{name}`: want a list, got {_describe_node(node)}")
        return tuple(node.value)

    def take_tables(self, name: str) -> tuple["YamlTable", ...]:
        return tuple(YamlTable(node, self._line_offset) for node in self.take_nodes(name))

    def take_text_map(self, name: str, default_key: str) -> dict[str, str]:
        """A mapping of texts to texts; a text alone stands under `default_key`. Missing: empty."""
        node = self._take_node(name)
        if node is None:
            return {}
        if isinstance(node, yaml.ScalarNode):
            return {default_key: self._parse_text_node(node)}
        inner = YamlTable(node, self._line_offset)
        return {key: inner._parse_text_node(value) for key, value in inner._values.items()}

    def build_key_fault(self, name: str, text: str) -> YamlFault:
        """A fault at the value of `name`."""
        return self._build_node_fault(self._values.get(name, self._node), f"`{name}`: {text}")

    def reject_unknown_keys(self) -> None:
        """Raises the fault of the first key that nobody took."""
        for name, value in self._values.items():
            if name not in self._known_keys:
                near = get_close_matches(name, self._known_keys, 1)
                hint = f"did you mean `{near[0]}`?" if near else f"known are {', '.join(self._known_keys)}"
                raise self._build_node_fault(value, f"unknown key `{name}`: {hint}")

    def _take_node(self, name: str) -> yaml.Node | None:
        if name not in self._known_keys:
            self._known_keys.append(name)
        return self._values.get(name)

    def _parse_text_node(self, node: yaml.Node) -> str:
        if _read_node_tag(node) != "str" or not str(node.value).strip():
            raise self._build_node_fault(
                node, f"want a text, got {_describe_node(node)}: put it in quotes if it is meant so"
            )
        return str(node.value).strip()

    def _build_node_fault(self, node: yaml.Node, text: str) -> YamlFault:
        return YamlFault(_find_node_line(node) + self._line_offset, text)


def load_table(text: str, line_offset: int = 0) -> YamlTable | None:
    """The mapping that `text` is; None if it is empty. Raises `YamlFault`."""
    node = _compose_node(text, line_offset)
    return None if node is None else YamlTable(node, line_offset)


def load_yaml_list(text: str, name: str) -> "YamlList":
    """A list of mappings; or a mapping that holds that list under `name` beside what is common to all.

    A text without any list raises `YamlFault`: it was cut off, or not meant to say that there is nothing.
    """
    node = _compose_node(text, 0)
    if isinstance(node, yaml.SequenceNode):
        return YamlList(None, tuple(node.value))
    common = YamlTable(node) if node is not None else None
    if common is None or not common.has_key(name):
        raise YamlFault(1, f"want a list, or `{name}:` with one; [] says that there are none")
    return YamlList(common, common.take_nodes(name))


@dataclass(frozen=True, slots=True)
class YamlList:
    """The nodes of a list, each read by itself so that a fault in one spares the others."""

    common: YamlTable | None
    nodes: tuple[yaml.Node, ...]


def _compose_node(text: str, line_offset: int) -> yaml.Node | None:
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
                raise YamlFault(
                    _find_event_line(event) + line_offset, "anchors and aliases (& and *) are not read"
                )
            if getattr(event, "tag", None):
                raise YamlFault(_find_event_line(event) + line_offset, "tags (!) are not read")
        return yaml.compose(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as fault:
        mark = fault.problem_mark or fault.context_mark
        raise YamlFault((mark.line + 1 if mark else 1) + line_offset, f"not YAML: {fault.problem}") from None
    except RecursionError:
        raise YamlFault(1 + line_offset, "is nested too deeply") from None
    except UnicodeError:
        raise YamlFault(1 + line_offset, "holds halves of characters (lone surrogates)") from None
    except yaml.YAMLError as fault:
        raise YamlFault(1 + line_offset, f"not YAML: {' '.join(str(fault).split())}") from None


def _find_event_line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 1


def _find_node_line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


def _read_node_tag(node: yaml.Node) -> str:
    return str(node.tag).rpartition(":")[2]


def _name_node_kind(node: yaml.Node) -> str:
    return _KIND_NAMES.get(_read_node_tag(node), _read_node_tag(node))


def _describe_node(node: yaml.Node) -> str:
    return (
        f"{_name_node_kind(node)} ({node.value:.40})"
        if isinstance(node, yaml.ScalarNode)
        else _name_node_kind(node)
    )
