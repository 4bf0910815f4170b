"""YAML that remembers where each value was written, so that every fault can name its line."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import yaml

from proxy.domain.errors import ConfigError

ValuePath = tuple[str | int, ...]
"""Keys and positions from the top of the file down to a value."""


@dataclass(frozen=True, slots=True)
class LocatedYaml:
    """A parsed file: `data` in YAML's plain values, `lines` the line (from 1) of each value by its path."""

    name: str
    data: object
    lines: Mapping[ValuePath, int]

    def format_location(self, path: ValuePath) -> str:
        """`file:line` of the value at `path`, or of the nearest one around it."""
        while path and path not in self.lines:
            path = path[:-1]
        return f"{self.name}:{self.lines.get(path, 1)}"

    def format_fault(self, path: ValuePath, text: str) -> str:
        """One line that says what is wrong where; the key's name is part of it, positions are not."""
        keys = [part for part in path if isinstance(part, str) and part not in ("cases", "turns")]
        return ": ".join((self.format_location(path), *keys[-1:], text))


def parse_located_yaml(text: str, name: str) -> LocatedYaml:
    """Parses one YAML document; `name` is shown in faults.

    Raises `ConfigError` for what is no YAML, and for a key said twice (YAML itself would keep the last).
    """
    loader = yaml.SafeLoader(text)
    try:
        node = loader.get_single_node()
        lines = dict(_walk_node(node, (), name)) if node else {}
        return LocatedYaml(name, loader.construct_document(node) if node else None, lines)
    except yaml.MarkedYAMLError as fault:
        mark = fault.problem_mark or fault.context_mark
        raise ConfigError(f"{name}:{mark.line + 1 if mark else 1}: not YAML: {fault.problem}") from fault
    except (yaml.YAMLError, ValueError) as fault:  # a forbidden character; a date that does not exist
        raise ConfigError(f"{name}:1: not YAML: {fault}") from fault
    finally:
        loader.dispose()


def _walk_node(node: yaml.Node, path: ValuePath, name: str) -> Iterator[tuple[ValuePath, int]]:
    """The line of each value; of one below a key the key's own, where a fault is looked for."""
    yield path, node.start_mark.line + 1
    if isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            yield from _walk_node(item, (*path, index), name)
    elif isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            word = str(key.value)
            if word in seen:
                raise ConfigError(f"{name}:{key.start_mark.line + 1}: `{word}` is said twice")
            seen.add(word)
            yield from _walk_node(value, (*path, word), name)
            yield (*path, word), key.start_mark.line + 1  # over the value's own line, which came before
