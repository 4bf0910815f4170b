"""Telephone numbers: equal by their digits, and never a source of plain numbers."""

import regex

from proxy.guards.gate.values.page import Page
from proxy.guards.gate.values.types import Value

_PLUS = regex.compile(r"(?<![\p{Latin}\d])\+(?:[ \u00a0().‑/-]{0,2}\d){7,15}(?!\d)")
_HOME = regex.compile(
    r"(?<![\p{Latin}\d.,:/+-])(?=[0(])\(?\d{2,5}\)?(?:[ \u00a0/-]{1,2}\d{2,4}){2,5}"
    r"(?![\p{Latin}\d]|[.,:/-]\d)"
    r"|(?<![\p{Latin}\d.,:/+-])"
    r"(?:0\d(?:(?:\.\d\d){4}|\d{7,9})|(?:1[-. ])?(?:\d{3}[-. ]|\(\d{3}\) ?)\d{3}[-. ]\d{4})"
    r"(?![\p{Latin}\d]|[.,:/-]\d)"
)
"""Also 01.23.45.67.89, 0123456789 (no number begins with a nought) and the North American 555.555.0199."""
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
    return page.value("tel", f"tel:{_digits(match[0])}", match.span())


def _home(page: Page, match: regex.Match[str]) -> list[Value] | None:
    return [_phone(page, match)] if len(_digits(match[0])) >= DIGITS_MIN else None


def _digits(text: str) -> str:
    return "".join(char for char in text if char.isdigit())
