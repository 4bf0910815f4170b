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
_FIRST = regex.compile(r"[:：][^\S\r\n]{1,4}[*_]{0,3}\K\(?[1１۱١१][.)](?=\s+[*_]{0,3}\p{L})")
"""A list that begins within a line."""
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
        """A sentence without the list number at its beginning; any other number stays, and so is a value."""
        m = _NUMBER.match(text)
        if m and m.end() < len(text) and not self._dated(text, m.end()) and self._follows(_parts(m)):
            text = text[m.end() :]
        if ":" in text or "：" in text:
            text = _FIRST.sub(self._first, text)
        return text

    def _follows(self, number: tuple[int, ...]) -> bool:
        if number[-1] != 1 and (*number[:-1], number[-1] - 1) not in self._seen:
            return False
        self._seen.add(number)
        return True

    def _first(self, match: regex.Match[str]) -> str:
        self._seen.add((1,))
        return ""

    def _dated(self, text: str, at: int) -> bool:
        m = _WORD.match(text, at)
        return m is not None and fold(m.group()) in self._months


def _parts(match: regex.Match[str]) -> tuple[int, ...]:
    if match["sign"]:
        return (int(unicodedata.numeric(match["sign"])),)
    return tuple(int(part) for part in (match["plain"] or match["key"]).split("."))
