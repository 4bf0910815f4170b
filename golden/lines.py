"""YAML that remembers where each value was written, so that every fault can name its line."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import yaml

from proxy.domain.errors import ConfigError

Spot = tuple[str | int, ...]
"""Keys and positions from the top of the file down to a value."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A parsed file: `data` in YAML's plain values, `lines` the line (from 1) of each value by its spot."""

    name: str
    data: object
    lines: Mapping[Spot, int]

    def place(self, spot: Spot) -> str:
        """`file:line` of a spot, or of the nearest value around it."""
        while spot and spot not in self.lines:
            spot = spot[:-1]
        return f"{self.name}:{self.lines.get(spot, 1)}"

    def fault(self, spot: Spot, text: str) -> str:
        """One line that says what is wrong where; the key's name is part of it, positions are not."""
        keys = [part for part in spot if isinstance(part, str) and part not in ("cases", "turns")]
        return ": ".join((self.place(spot), *keys[-1:], text))


def parse(text: str, name: str) -> Placed:
    """Parses one YAML document; `name` is shown in faults.

    Raises `ConfigError` for what is no YAML, and for a key said twice (YAML itself would keep the last).
    """
    loader = yaml.SafeLoader(text)
    try:
        node = loader.get_single_node()
        lines = dict(_walk(node, (), name)) if node else {}
        return Placed(name, loader.construct_document(node) if node else None, lines)
    except yaml.MarkedYAMLError as fault:
        mark = fault.problem_mark or fault.context_mark
        raise ConfigError(f"{name}:{mark.line + 1 if mark else 1}: not YAML: {fault.problem}") from fault
    except (yaml.YAMLError, ValueError) as fault:  # a forbidden character; a date that does not exist
        raise ConfigError(f"{name}:1: not YAML: {fault}") from fault
    finally:
        loader.dispose()


def _walk(node: yaml.Node, spot: Spot, name: str) -> Iterator[tuple[Spot, int]]:
    yield spot, node.start_mark.line + 1
    if isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            yield from _walk(item, (*spot, index), name)
    elif isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            word = str(key.value)
            if word in seen:
                raise ConfigError(f"{name}:{key.start_mark.line + 1}: `{word}` is said twice")
            seen.add(word)
            yield from _walk(value, (*spot, word), name)
            yield (*spot, word), key.start_mark.line + 1
