"""List numbers: the only digits of an answer that no source must hold, and so the narrowest rule."""

import unicodedata
from collections.abc import Mapping

import regex

from indexes.text.folding import fold_text
from proxy.gate.values import ValuePack
from proxy.gate.values.page import flatten_text

_NUMBER = regex.compile(
    r"[\s>]*(?:[-*+•][ \t]+)?(?:\#{1,6}[ \t]+)?[*_]{0,3}"
    r"(?:\(?(?<plain>\p{Nd}{1,3}|(?:\p{Nd}{1,2}\.){1,3}\p{Nd}{1,2})(?:[.)．]{1,2}[*_]{0,3}(?=\s)|、)"
    r"|(?<sign>[①-⑳])|(?<key>\p{Nd})\ufe0f?\u20e3)\s*"
)
_INLINE_NUMBER = regex.compile(
    r"(?:[:：][^\S\r\n]{1,4}|(?<=\s))[*_]{0,3}\K\(?(?<plain>\p{Nd}{1,2})[.)](?=\s+[*_]{0,3}\p{L})"
)
"""A number of a list that runs on within a line."""
ELSEWHERE_NUMBER_MAX = 20
"""`(49) Seats` is a number of seats, no item of a list begun elsewhere."""
_WORD = regex.compile(r"[\p{L}\p{M}]+")


def collect_month_names(packs: Mapping[str, ValuePack]) -> frozenset[str]:
    """Month names of all languages: `1. Mai` begins a date, not a list."""
    return frozenset(fold_text(name) for pack in packs.values() for row in pack.months for name in row)


def is_next_inline_number(text: str, start: int, at: int, number: int) -> bool:
    """Whether a list runs on from `text[start:at]` with `number`: `: 1. Paint 2. Brushes`."""
    last = 0
    for m in _INLINE_NUMBER.finditer(text, start, at + 1):
        last = _advance_inline_number(last, m, text)
    return last > 0 and number == last + 1


class ListNumberParser:
    """Counts along: a number opens a list item if it is 1 or follows one that did."""

    def __init__(self, months: frozenset[str]) -> None:
        self._months = months
        self._seen_numbers: set[tuple[int, ...]] = set()

    def strip_list_number(self, text: str, is_line_start: bool) -> str:
        """A sentence without the list number at its beginning; any other number stays, and so is a value.

        Where a line begins with it, `9) Paint` is an item of a list that began elsewhere: nobody reads it as
        nine. Every number taken away is remembered, since the next one follows it.
        """
        m = None if text.lstrip()[:1].isalpha() else _NUMBER.match(text)
        if m and m.end() < len(text) and not self._is_before_month(text, m.end()):
            may_begin_elsewhere = is_line_start and _parse_list_number(m)[-1] <= ELSEWHERE_NUMBER_MAX
            is_bracketed_item = (
                may_begin_elsewhere and text[m.end("plain")] == ")" and text[m.end()].isupper()
            )
            if self._accept_number(_parse_list_number(m)) or is_bracketed_item:
                text = text[m.end() :]
        if ":" in text or "：" in text:
            text, last = _strip_inline_numbers(text)
            self._seen_numbers.update((n,) for n in range(1, last + 1))
        return text

    def _accept_number(self, number: tuple[int, ...]) -> bool:
        """Whether `number` is in its turn; if so, the next may follow it."""
        if number[-1] != 1 and (*number[:-1], number[-1] - 1) not in self._seen_numbers:
            return False
        self._seen_numbers.add(number)
        return True

    def _is_before_month(self, text: str, at: int) -> bool:
        m = _WORD.match(text, at)
        return m is not None and fold_text(m.group()) in self._months


def _parse_list_number(match: regex.Match[str]) -> tuple[int, ...]:
    """The parts of a list number, as of 1.2.3."""
    if match["sign"]:
        return (int(unicodedata.numeric(match["sign"])),)
    return tuple(int(part) for part in flatten_text(match["plain"] or match["key"]).split("."))


def _strip_inline_numbers(text: str) -> tuple[str, int]:
    """`text` without the numbers of a list that begins with 1 after a colon, and the last of them."""
    last, parts, at = 0, [], 0
    for m in _INLINE_NUMBER.finditer(text):
        if (number := _advance_inline_number(last, m, text)) != last:
            parts.append(text[at : m.start()])
            last, at = number, m.end()
    return "".join([*parts, text[at:]]), last


def _advance_inline_number(last: int, match: regex.Match[str], text: str) -> int:
    """The number a running list has come to at `match`: 1 only after a colon, then each in its turn."""
    number = int(flatten_text(match["plain"]))
    if number == 1:
        return 1 if text[: match.start()].rstrip(" \t\u00a0*_").endswith((":", "：")) else last
    return number if last and number == last + 1 else last
