"""Roman numerals up to 39: the 19th century is the siglo XIX, John Paul II the second of his name."""

from decimal import Decimal

import regex

from proxy.gate.values.decimals import format_number_key
from proxy.gate.values.page import PLACEHOLDER, ValuePage
from proxy.gate.values.types import Value

_SIGN = regex.compile(r"[IVXХІ]{2}|[VX][eᵉ]")
"""Without one of these a text holds no Roman numeral. Cyrillic has letters of the same looks."""
_ROMAN = regex.compile(
    r"(?<![\p{L}\p{M}\p{N}_&.'’])"
    r"(?:(?<number>[IVXХІ]{2,7})(?:e|è|ème|er|ᵉ|\.?[ºª]|-[а-яё]{1,3})?|(?<number>[VX])[eᵉ])"
    r"(?![\p{L}\p{M}\p{N}_&'’]|\.\p{L})"
)
_CANONICAL = regex.compile(r"(?P<tens>X{0,3})(?P<ones>IX|IV|V?I{0,3})")
_ONES = ("", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX")
_LATIN = str.maketrans("ХІ", "XI")
_HEADING = regex.compile(r"(?m)^[^\p{L}\p{N}\n]*\(?[IVX]{2,7}[.):](?=\s)")
"""`II. Equipment` numbers a list."""


def parse_roman(text: str) -> int:
    """The number that `text` writes in the Roman way; 0 where it writes none from 2 to 39."""
    m = _CANONICAL.fullmatch(text.translate(_LATIN))
    return 10 * len(m["tens"]) + _ONES.index(m["ones"]) if m else 0


def read_romans(page: ValuePage) -> None:
    """Add the Roman numerals to the values of `page`; a single letter only with a French ordinal's ending."""
    if not _SIGN.search(page.raw):
        return
    headings = [match.span() for match in _HEADING.finditer(page.raw)]
    for match in _ROMAN.finditer(page.raw):
        start, end = match.span()
        is_free = PLACEHOLDER not in page.text[start:end] and not any(a <= start < b for a, b in headings)
        if is_free and (number := parse_roman(match["number"])):
            page.values.append(_build_roman_value(page, number, (start, end)))


def _build_roman_value(page: ValuePage, number: int, span: tuple[int, int]) -> Value:
    key = format_number_key(Decimal(number))
    return page.build_value("number", key, span, source_keys=[key, f"rank:{number}"])
