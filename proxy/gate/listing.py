"""List numbers: the only digits of an answer that no source must hold, and so the narrowest rule."""

import unicodedata
from collections.abc import Mapping

import regex

from indexes.text.folding import fold_text
from proxy.gate.values import ValuePack
from proxy.gate.values.page import flatten

_NUMBER = regex.compile(
    r"[\s>]*(?:[-*+•][ \t]+)?(?:\#{1,6}[ \t]+)?[*_]{0,3}"
    r"(?:\(?(?<plain>\p{Nd}{1,3}|(?:\p{Nd}{1,2}\.){1,3}\p{Nd}{1,2})(?:[.)．]{1,2}[*_]{0,3}(?=\s)|、)"
    r"|(?<sign>[①-⑳])|(?<key>\p{Nd})\ufe0f?\u20e3)\s*"
)
_INLINE = regex.compile(
    r"(?:[:：][^\S\r\n]{1,4}|(?<=\s))[*_]{0,3}\K\(?(?<plain>\p{Nd}{1,2})[.)](?=\s+[*_]{0,3}\p{L})"
)
"""A number of a list that runs on within a line."""
ELSEWHERE_MAX = 20
"""`(49) Seats` is a number of seats, no item of a list begun elsewhere."""
_WORD = regex.compile(r"[\p{L}\p{M}]+")


def month_names(packs: Mapping[str, ValuePack]) -> frozenset[str]:
    """Month names of all languages: `1. Mai` begins a date, not a list."""
    return frozenset(fold_text(name) for pack in packs.values() for row in pack.months for name in row)


def listed(text: str, start: int, at: int, number: int) -> bool:
    """Whether a list runs on from `text[start:at]` with `number`: `: 1. Paint 2. Brushes`."""
    last = 0
    for m in _INLINE.finditer(text, start, at + 1):
        last = _after(last, m, text)
    return last > 0 and number == last + 1


class Listing:
    """Counts along: a number opens a list item if it is 1 or follows one that did."""

    def __init__(self, months: frozenset[str]) -> None:
        self._months = months
        self._seen: set[tuple[int, ...]] = set()

    def plain(self, text: str, opens: bool) -> str:
        """A sentence without the list number at its beginning; any other number stays, and so is a value.

        Where a line `opens`, `9) Paint` is an item of a list that began elsewhere: nobody reads it as nine.
        """
        m = None if text.lstrip()[:1].isalpha() else _NUMBER.match(text)
        if m and m.end() < len(text) and not self._dated(text, m.end()):
            elsewhere = opens and _parts(m)[-1] <= ELSEWHERE_MAX
            bracketed = elsewhere and text[m.end("plain")] == ")" and text[m.end()].isupper()
            if self._follows(_parts(m)) or bracketed:
                text = text[m.end() :]
        if ":" in text or "：" in text:
            text, last = _without_inline(text)
            self._seen.update((n,) for n in range(1, last + 1))
        return text

    def _follows(self, number: tuple[int, ...]) -> bool:
        if number[-1] != 1 and (*number[:-1], number[-1] - 1) not in self._seen:
            return False
        self._seen.add(number)
        return True

    def _dated(self, text: str, at: int) -> bool:
        m = _WORD.match(text, at)
        return m is not None and fold_text(m.group()) in self._months


def _parts(match: regex.Match[str]) -> tuple[int, ...]:
    if match["sign"]:
        return (int(unicodedata.numeric(match["sign"])),)
    return tuple(int(part) for part in flatten(match["plain"] or match["key"]).split("."))


def _without_inline(text: str) -> tuple[str, int]:
    """`text` without the numbers of a list that begins with 1 after a colon, and the last of them."""
    last, kept, at = 0, [], 0
    for m in _INLINE.finditer(text):
        if (number := _after(last, m, text)) != last:
            kept.append(text[at : m.start()])
            last, at = number, m.end()
    return "".join([*kept, text[at:]]), last


def _after(last: int, match: regex.Match[str], text: str) -> int:
    """The number a running list has come to at `match`: 1 only after a colon, then each in its turn."""
    number = int(flatten(match["plain"]))
    if number == 1:
        return 1 if text[: match.start()].rstrip(" \t\u00a0*_").endswith((":", "：")) else last
    return number if last and number == last + 1 else last
