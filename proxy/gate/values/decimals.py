"""Exact decimals: what digits, points and commas say, and the keys under which numbers are compared."""

from decimal import Decimal

import regex

CLOCK_HOURS = 12
_INDIAN = regex.compile(r"\d{1,2}(?:,\d{2})+,\d{3}")
_GROUPS = {".": regex.compile(r"\d{1,3}(?:\.\d{3})+"), ",": regex.compile(r"\d{1,3}(?:,\d{3})+")}


def format_decimal(number: Decimal) -> str:
    """`number` in full without needless zeros: 3.50 → 3.5, -0 → 0. Exact at any length."""
    text = format(number, "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "") else text


def shift_decimal(number: Decimal, power: int) -> Decimal:
    """`number` × 10^`power`, exact: arithmetic on decimals rounds to 28 figures."""
    sign, digits, exponent = number.as_tuple()
    return Decimal((sign, digits, int(exponent) + power))


def format_number_key(number: Decimal) -> str:
    """The key of a plain number."""
    return f"n:{format_decimal(number)}"


def list_clock_keys(hours: Decimal) -> tuple[str, ...]:
    """The times that so many hours may be, before noon and after it: 9.25 is 9:15 or 21:15."""
    hour, minute = divmod(int(hours * 60), 60)
    return tuple(f"time:{h % 24:02d}:{minute:02d}" for h in (hour, hour + CLOCK_HOURS))


def is_ambiguous_number(body: str) -> bool:
    """One point or comma with one to three digits before, not 0, and three after: 1,234."""
    before, _, after = body.replace(",", ".").partition(".")
    return len(after) == 3 and after.isdigit() and 1 <= len(before) <= 3 and before[0] != "0"


def parse_number(body: str, decimal: str) -> Decimal | None:
    """`body` of digits, points and commas by two rules: the last of two kinds is decimal, else `decimal` is.

    None where it is no number: 1,2,3 or 2.0.1.
    """
    if body.isdigit():
        return Decimal(body)
    if "٫" in body:
        return _parse_decimal_at(body, "٫")
    kinds = [mark for mark in ".," if mark in body]
    if len(kinds) == 2:
        return _parse_decimal_at(body, max(kinds, key=body.rindex))
    mark = kinds[0]
    if body.count(mark) > 1 or (is_ambiguous_number(body) and mark != decimal):
        return _parse_grouped(body)
    if mark == "," and decimal == "." and body.index(",") > 3:
        return None
    return Decimal(body.replace(",", "."))


def _parse_decimal_at(body: str, mark: str) -> Decimal | None:
    """`body` with `mark` as its decimal sign."""
    whole, _, part = body.rpartition(mark)
    number = _parse_grouped(whole) if part.isdigit() else None
    return None if number is None else Decimal(f"{number}.{part}")


def _parse_grouped(body: str) -> Decimal | None:
    """Digits in groups of three by one separator, or in the Indian way."""
    if body.isdigit() or _INDIAN.fullmatch(body) or any(form.fullmatch(body) for form in _GROUPS.values()):
        return Decimal(body.replace(",", "").replace(".", ""))
    return None
