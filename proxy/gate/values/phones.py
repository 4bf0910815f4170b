"""Telephone numbers: equal by their digits, and never a source of plain numbers."""

import regex

from proxy.gate.values.page import Page
from proxy.gate.values.types import Value

_PLUS = regex.compile(r"(?<![\p{Latin}\d])\+(?:[ \u00a0().‑/-]{0,2}\d){7,15}(?!\d)")
_FORMS = (
    r"(?=[0(])\(?\d{2,5}\)?(?:[ \u00a0/-]{1,2}\d{2,4}){2,5}",
    r"0\d(?:(?:\.\d\d){4}|\d{7,9})",  # 01.23.45.67.89, 0123456789: no number begins with a nought
    r"0\d{1,3}[ -]\d{6,8}",  # 010-12345678
    r"(?:1[-. ])?(?:\d{3}[-. ]|\(\d{3}\) ?)\d{3}[-. ]\d{4}",  # North America: 555.555.0199
    r"8[ -]?(?:\(\d{3}\)|\d{3})[ -]?\d{3}[ -]\d\d[ -]\d\d",  # Russia: 8 (555) 555-01-99
)
_HOME = regex.compile(rf"(?<![\p{{Latin}}\d.,:/+-])(?:{'|'.join(_FORMS)})(?![\p{{Latin}}\d]|[.,:/-]\d)")
"""Numbers as they are dialled within a country."""
_TRUNK = regex.compile(r"8(\d{10})")
"""A Russian number: abroad its 8 is a 7."""
PLUS_MIN = 7
DIGITS_MIN = 9
"""Fewer digits without a plus are read as numbers."""


def read_phones(page: Page) -> None:
    """Take numbers with a plus and eight digits or more, and national ones that begin with 0 or a bracket."""
    digits = sum(map(len, page.figures))
    if digits >= PLUS_MIN and "+" in page.text:
        page.take(_PLUS, lambda match: [_phone(page, match)])
    if digits >= DIGITS_MIN:
        page.take(_HOME, lambda match: _home(page, match))


def _phone(page: Page, match: regex.Match[str]) -> Value:
    digits = _digits(match[0])
    abroad = _TRUNK.fullmatch(digits) if "+" not in match[0] else None
    keys = [f"tel:{digits}", *([f"tel:7{abroad[1]}"] if abroad else [])]
    return page.value("tel", keys[0], match.span(), accepts=[[key] for key in keys], gives=keys)


def _home(page: Page, match: regex.Match[str]) -> list[Value] | None:
    return [_phone(page, match)] if len(_digits(match[0])) >= DIGITS_MIN else None


def _digits(text: str) -> str:
    return "".join(char for char in text if char.isdigit())
