"""YAML read strictly: known keys, no words read as booleans or numbers, every fault with its line.

Values are taken from the syntax tree by what is wanted of them; a `no` or `12` where a text is wanted is a
fault, not a guess.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches

import yaml

_MOMENT = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|[+-]\d\d:\d\d)?)?")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_PLAIN = {"str": "text", "int": "a number", "bool": "a boolean", "null": "nothing", "float": "a number",
          "timestamp": "a date", "seq": "a list", "map": "a mapping"}  # fmt: skip


class Bad(Exception):
    """What is wrong, in one line, and where (`line` counts from 1)."""

    def __init__(self, line: int, text: str):
        super().__init__(text)
        self.line = line
        self.text = text


class Table:
    """A mapping whose keys are taken one by one; `close` refuses those that nobody took."""

    def __init__(self, node: yaml.Node, skipped: int = 0):
        self._skipped = skipped
        """Lines before the YAML text in its file."""
        if not isinstance(node, yaml.MappingNode):
            raise self._bad(node, f"want a mapping of keys to values, got {_kind(node)}")
        self._node = node
        self._values: dict[str, yaml.Node] = {}
        self._asked: list[str] = []
        for key, value in node.value:
            name = self._text(key)
            if name in self._values:
                raise self._bad(key, f"`{name}` stands here twice")
            self._values[name] = value

    @property
    def line(self) -> int:
        return _line(self._node) + self._skipped

    def has(self, name: str) -> bool:
        return self._take(name) is not None

    def text(self, name: str) -> str | None:
        node = self._take(name)
        return None if node is None else self._text(node)

    def flag(self, name: str) -> bool:
        node = self._take(name)
        if node is None:
            return False
        if _tag(node) != "bool" or str(node.value).lower() not in ("true", "false"):
            raise self._bad(node, f"`{name}`: want true or false, got {_got(node)}")
        return str(node.value).lower() == "true"

    def plain(self, name: str) -> str | None:
        """A scalar as it is written: for dates and numbers that are read by their own rules."""
        node = self._take(name)
        if node is None:
            return None
        if not isinstance(node, yaml.ScalarNode) or _tag(node) in ("bool", "null"):
            raise self._bad(node, f"`{name}`: want a date, got {_got(node)}")
        return str(node.value)

    def texts(self, name: str) -> tuple[str, ...] | None:
        node = self._take(name)
        if node is None:
            return None
        if not isinstance(node, yaml.SequenceNode):
            raise self._bad(node, f"`{name}`: want a list, as in [public, staff], got {_got(node)}")
        return tuple(self._text(item) for item in node.value)

    def moment(self, name: str) -> datetime | None:
        """A time with its zone; a date alone is its first instant in UTC."""
        node = self._take(name)
        if node is None:
            return None
        written = str(node.value)
        if not isinstance(node, yaml.ScalarNode) or not _MOMENT.fullmatch(written):
            raise self._bad(node, f"`{name}`: want a date or time, as 2026-01-31T00:00:00Z, got {_got(node)}")
        try:
            found = datetime.fromisoformat(written)
            moment = found.replace(tzinfo=found.tzinfo or UTC).astimezone(UTC)
        except (ValueError, OverflowError):  # an offset may lead out of the years that there are
            raise self._bad(node, f"`{name}`: {written} is no date of the calendar") from None
        if found.tzinfo is None and len(written) > len("2026-01-31"):
            raise self._bad(node, f"`{name}`: {written} has no time zone: add Z or an offset as +01:00")
        return moment

    def nodes(self, name: str) -> tuple[yaml.Node, ...]:
        """The entries of a list, unread."""
        node = self._take(name)
        if node is None:
            return ()
        if not isinstance(node, yaml.SequenceNode):
            raise self._bad(node, f"`{name}`: want a list, got {_got(node)}")
        return tuple(node.value)

    def tables(self, name: str) -> tuple["Table", ...]:
        return tuple(Table(node, self._skipped) for node in self.nodes(name))

    def texts_by(self, name: str, alone: str) -> dict[str, str]:
        """A mapping of texts to texts; a text alone stands under the key `alone`. Missing: empty."""
        node = self._take(name)
        if node is None:
            return {}
        if isinstance(node, yaml.ScalarNode):
            return {alone: self._text(node)}
        inner = Table(node, self._skipped)
        return {key: inner._text(value) for key, value in inner._values.items()}

    def bad(self, name: str, text: str) -> Bad:
        """A fault at the value of `name`."""
        return self._bad(self._values.get(name, self._node), f"`{name}`: {text}")

    def close(self) -> None:
        for name, value in self._values.items():
            if name not in self._asked:
                near = get_close_matches(name, self._asked, 1)
                hint = f"did you mean `{near[0]}`?" if near else f"known are {', '.join(self._asked)}"
                raise self._bad(value, f"unknown key `{name}`: {hint}")

    def _take(self, name: str) -> yaml.Node | None:
        if name not in self._asked:
            self._asked.append(name)
        return self._values.get(name)

    def _text(self, node: yaml.Node) -> str:
        if _tag(node) != "str" or not str(node.value).strip():
            raise self._bad(node, f"want a text, got {_got(node)}: put it in quotes if it is meant so")
        return str(node.value).strip()

    def _bad(self, node: yaml.Node, text: str) -> Bad:
        return Bad(_line(node) + self._skipped, text)


def load(text: str, skipped: int = 0) -> Table | None:
    """The mapping that `text` is; None if it is empty. Raises `Bad`."""
    node = _compose(text, skipped)
    return None if node is None else Table(node, skipped)


def load_list(text: str, name: str) -> "Listing":
    """A list of mappings; or a mapping that holds that list under `name` beside what is common to all.

    A text without any list is `Bad`: it was cut off, or not meant to say that there is nothing.
    """
    node = _compose(text, 0)
    if isinstance(node, yaml.SequenceNode):
        return Listing(None, tuple(node.value))
    common = Table(node) if node is not None else None
    if common is None or not common.has(name):
        raise Bad(1, f"want a list, or `{name}:` with one; [] says that there are none")
    return Listing(common, common.nodes(name))


@dataclass(frozen=True, slots=True)
class Listing:
    """The nodes of a list, each read by itself so that a fault in one spares the others."""

    common: Table | None
    nodes: tuple[yaml.Node, ...]


def _compose(text: str, skipped: int) -> yaml.Node | None:
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
                raise Bad(_at(event) + skipped, "anchors and aliases (& and *) are not read")
            if getattr(event, "tag", None):
                raise Bad(_at(event) + skipped, "tags (!) are not read")
        return yaml.compose(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as fault:
        mark = fault.problem_mark or fault.context_mark
        raise Bad((mark.line + 1 if mark else 1) + skipped, f"not YAML: {fault.problem}") from None
    except RecursionError:
        raise Bad(1 + skipped, "is nested too deeply") from None
    except UnicodeError:
        raise Bad(1 + skipped, "holds halves of characters (lone surrogates)") from None
    except yaml.YAMLError as fault:
        raise Bad(1 + skipped, f"not YAML: {' '.join(str(fault).split())}") from None


def _at(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 1


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


def _tag(node: yaml.Node) -> str:
    return str(node.tag).rpartition(":")[2]


def _kind(node: yaml.Node) -> str:
    return _PLAIN.get(_tag(node), _tag(node))


def _got(node: yaml.Node) -> str:
    return f"{_kind(node)} ({node.value:.40})" if isinstance(node, yaml.ScalarNode) else _kind(node)
