"""Roman numerals up to 39: the 19th century is the siglo XIX, John Paul II the second of his name."""

from decimal import Decimal

import regex

from proxy.gate.values.numbers import number_key
from proxy.gate.values.page import TAKEN, Page
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


def roman(text: str) -> int:
    """The number that `text` writes in the Roman way; 0 where it writes none from 2 to 39."""
    m = _CANONICAL.fullmatch(text.translate(_LATIN))
    return 10 * len(m["tens"]) + _ONES.index(m["ones"]) if m else 0


def read_romans(page: Page) -> None:
    """Find the Roman numerals of `page`; single letters only with the ending of a French ordinal."""
    if not _SIGN.search(page.raw):
        return
    headings = [match.span() for match in _HEADING.finditer(page.raw)]
    for match in _ROMAN.finditer(page.raw):
        start, end = match.span()
        free = TAKEN not in page.text[start:end] and not any(a <= start < b for a, b in headings)
        if free and (number := roman(match["number"])):
            page.found.append(_value(page, number, (start, end)))


def _value(page: Page, number: int, span: tuple[int, int]) -> Value:
    key = number_key(Decimal(number))
    return page.value("number", key, span, gives=[key, f"rank:{number}"])
