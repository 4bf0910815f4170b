"""List numbers: the only digits of an answer that no source must hold, and so the narrowest rule."""

import unicodedata
from collections.abc import Mapping

import regex

from indexes.text import fold
from proxy.guards.gate.values import ValuePack

_NUMBER = regex.compile(
    r"[\s>]*(?:[-*+•][ \t]+)?(?:\#{1,6}[ \t]+)?[*_]{0,3}"
    r"(?:\(?(?<plain>\p{Nd}{1,3}|(?:\p{Nd}{1,2}\.){1,3}\p{Nd}{1,2})(?:[.)．]{1,2}[*_]{0,3}(?=\s)|、)"
    r"|(?<sign>[①-⑳])|(?<key>\p{Nd})\ufe0f?\u20e3)\s*"
)
_WORD = regex.compile(r"[\p{L}\p{M}]+")


def month_names(packs: Mapping[str, ValuePack]) -> frozenset[str]:
    """Month names of all languages: `1. Mai` begins a date, not a list."""
    return frozenset(fold(name) for pack in packs.values() for row in pack.months for name in row)


class Listing:
    """Counts along: a number opens a list item if it is 1 or follows one that did."""

    def __init__(self, months: frozenset[str]) -> None:
        self._months = months
        self._seen: set[tuple[int, ...]] = set()

    def plain(self, text: str) -> str:
        """A line's beginning without its list number; any other number stays, and so is a value."""
        m = _NUMBER.match(text)
        if m is None or m.end() == len(text) or self._dated(text, m.end()):
            return text
        number = _parts(m)
        if number[-1] != 1 and (*number[:-1], number[-1] - 1) not in self._seen:
            return text
        self._seen.add(number)
        return text[m.end() :]

    def _dated(self, text: str, at: int) -> bool:
        m = _WORD.match(text, at)
        return m is not None and fold(m.group()) in self._months


def _parts(match: regex.Match[str]) -> tuple[int, ...]:
    if match["sign"]:
        return (int(unicodedata.numeric(match["sign"])),)
    return tuple(int(part) for part in (match["plain"] or match["key"]).split("."))
