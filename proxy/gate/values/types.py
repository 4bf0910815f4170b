"""A value, the values of a text, and the one comparison of answer and sources."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

ValueKind = Literal["number", "date", "time", "code", "url", "mail", "tel"]


@dataclass(frozen=True, slots=True)
class Value:
    """One value of a text. `start` and `end` are code points of the composed (NFC) text."""

    kind: ValueKind
    key: str
    """Stable form: `n:1200`, `date:2024-05-01` (`date:--05-01`), `time:09:30`, `comp:24/7`, `mix:b2b`, …"""
    text: str
    start: int
    end: int
    alternatives: tuple[tuple[str, ...], ...]
    """In an answer: alternatives, each a set of keys that must all stand in the sources."""
    source_keys: tuple[str, ...]
    """In a source: the keys that it holds by this value."""


@dataclass(frozen=True, slots=True)
class CountedNumber:
    """A small number in words that may only count what an answer lists: "two friends, Ann and Bo"."""

    value: Value
    noun: str
    """The folded word after it."""


@dataclass(frozen=True)
class TextValues:
    """What `read_values` found. Both strings are "" where there is nothing to object to."""

    items: tuple[Value, ...] = ()
    leftover: str = ""
    """First digit, `@`, `://` or `www.` that belongs to no value, or an unseen character inside a value."""
    markup: str = ""
    """First image, raw HTML or scheme other than http, https, mailto and tel."""
    counts: tuple[CountedNumber, ...] = ()
    """In an answer. They need no source, but must not go against one."""
    counted_nouns: frozenset[str] = frozenset()
    """In a source: the folded words right after a number."""

    @cached_property
    def source_keys(self) -> frozenset[str]:
        """Every key that a source of these values supports."""
        return frozenset(key for value in self.items for key in value.source_keys)


def find_missing_value(answer: TextValues, sources: Sequence[TextValues]) -> Value | None:
    """The first value of `answer` that no source holds; None when all are held.

    A count is asked for only where a source numbers the same thing: "two rooms" of a house of "9 rooms".
    """
    contradictions = (
        c.value for c in answer.counts if any(c.noun in source.counted_nouns for source in sources)
    )
    for value in (*answer.items, *contradictions):
        if not any(all(_is_held(key, sources) for key in keys) for keys in value.alternatives):
            return value
    return None


def _is_held(key: str, sources: Sequence[TextValues]) -> bool:
    return any(key in source.source_keys for source in sources)
