"""Telephone numbers: equal by their digits, and never a source of plain numbers."""

import regex

from proxy.gate.values.page import ValuePage
from proxy.gate.values.types import Value

_PLUS_NUMBER = regex.compile(r"(?<![\p{Latin}\d])\+(?:[ \u00a0().‑/-]{0,2}\d){7,15}(?!\d)")
_NATIONAL_FORMS = (
    r"(?=[0(])\(?\d{2,5}\)?(?:[ \u00a0/-]{1,2}\d{2,4}){2,5}",
    r"0\d(?:(?:\.\d\d){4}|\d{7,9})",  # 01.23.45.67.89, 0123456789: no number begins with a nought
    r"0\d{1,3}[ -]\d{6,8}",  # 010-12345678
    r"(?:1[-. ])?(?:\d{3}[-. ]|\(\d{3}\) ?)\d{3}[-. ]\d{4}",  # North America: 555.555.0199
    r"8[ -]?(?:\(\d{3}\)|\d{3})[ -]?\d{3}[ -]\d\d[ -]\d\d",  # Russia: 8 (555) 555-01-99
)
_NATIONAL_NUMBER = regex.compile(
    rf"(?<![\p{{Latin}}\d.,:/+-])(?:{'|'.join(_NATIONAL_FORMS)})(?![\p{{Latin}}\d]|[.,:/-]\d)"
)
"""Numbers as they are dialled within a country."""
_TRUNK = regex.compile(r"8(\d{10})")
"""A Russian number: abroad its 8 is a 7."""
PLUS_DIGITS_MIN = 7
DIGITS_MIN = 9
"""Fewer digits without a plus are read as numbers."""


def read_phones(page: ValuePage) -> None:
    """Take numbers with a plus and `PLUS_DIGITS_MIN` digits or more, and national ones."""
    digits = sum(map(len, page.digit_runs))
    if digits >= PLUS_DIGITS_MIN and "+" in page.text:
        page.take_matches(_PLUS_NUMBER, lambda match: [_build_phone(page, match)])
    if digits >= DIGITS_MIN:
        page.take_matches(_NATIONAL_NUMBER, lambda match: _read_national_phone(page, match))


def _build_phone(page: ValuePage, match: regex.Match[str]) -> Value:
    digits = _keep_digits(match[0])
    abroad = _TRUNK.fullmatch(digits) if "+" not in match[0] else None
    keys = [f"tel:{digits}", *([f"tel:7{abroad[1]}"] if abroad else [])]
    return page.build_value(
        "tel", keys[0], match.span(), alternatives=[[key] for key in keys], source_keys=keys
    )


def _read_national_phone(page: ValuePage, match: regex.Match[str]) -> list[Value] | None:
    return [_build_phone(page, match)] if len(_keep_digits(match[0])) >= DIGITS_MIN else None


def _keep_digits(text: str) -> str:
    return "".join(char for char in text if char.isdigit())
