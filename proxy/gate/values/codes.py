"""Codes and composites: B2B, COVID-19, v2.0.1, 24/7, 10². Literal but for case."""

import re
import unicodedata
from decimal import Decimal

import regex

from proxy.gate.values.decades import DecadeKeys, build_decade_keys
from proxy.gate.values.decimals import format_number_key
from proxy.gate.values.numbers import CYRILLIC
from proxy.gate.values.pack import LETTER, ValueGrammar
from proxy.gate.values.page import FIGURE, ValuePage
from proxy.gate.values.types import Value

_COMPOSITE = regex.compile(
    rf"(?<![{LETTER}\d_.,:/-])(?:\d{{1,4}}(?:/\d{{1,4}})+|\d{{1,4}}(?::\d{{1,4}})+)(?![{LETTER}\d/:]|[.,]\d)"
)
_VERSION = regex.compile(
    rf"(?<![{LETTER}\d_.])v\.?\s?(?<number>\d+(?:\.\d+)*(?:[-+]?[{LETTER}][{LETTER}\d.]*)?)(?<!\.)(?![{LETTER}\d])"
)
_SPECIAL_NUMERAL = regex.compile(r"[\p{No}\p{Nl}--[〇]]", regex.V1)
_SIGN_NUMBER = regex.compile(
    rf"(?<![{LETTER}])(?<head>[{LETTER}]*)(?<number>-?\d*(?:[.,]\d+)?)(?<sign>[\p{{No}}\p{{Nl}}--[〇]]+)(?<tail>[{LETTER}\d]*)",
    regex.V1,
)
_CODE = regex.compile(rf"(?=[{LETTER}_.-]*\d)[{LETTER}\d〇○◯]+(?:[-_.][{LETTER}\d〇○◯]+)*+")
_LETTER_ZEROS = regex.compile(rf"(?<![{LETTER}\d.,])\d++(?:[.,]\d++)*+(?:[\s.,'][oоο]{{3}})+(?![{LETTER}\d])")
"""Letters that pass for three zeros."""
_LETTER_TRIPLE = re.compile("[oоο]{3}")
_TO_LAST_DIGIT = regex.compile(r".*[\d〇○◯][^-_.]*")
_NOT_FIGURE = regex.compile(r"[\p{L}〇○◯]")
_DECADE = regex.compile(r"(\d+)('?s|er|ers)?")
_DIGITS = regex.compile(r"\d+(?:[.,]\d+)*")
_FULL_SCORES = frozenset(("5", "10", "20", "100"))
"""What a score may be out of."""
_FISCAL = regex.compile(r"fy\d{4}")
_QUARTER = regex.compile(r"q[1-4]")
_LENGTH_UNITS = frozenset(("m", "km", "cm", "mm", "dm", "ft", "in", "yd", "mi", "м", "км", "см", "мм"))


def read_composites(page: ValuePage, grammar: ValueGrammar) -> None:
    """Take 24/7, 16:9, versions with a v, signs like ½ or ², and 45 OOO."""
    if not page.raw.isascii() and _SPECIAL_NUMERAL.search(page.text):
        page.take_matches(_SIGN_NUMBER, lambda match: _read_sign_number(page, match))
    if _LETTER_TRIPLE.search(page.text):
        page.take_matches(
            _LETTER_ZEROS, lambda match: [page.build_value("code", f"mix:{match[0]}", match.span())]
        )
    if "v" in page.text:
        page.take_matches(_VERSION, lambda match: _read_version(page, match))
    if len(page.digit_runs) > 1:
        page.take_matches(_COMPOSITE, lambda match: [_read_composite(page, grammar, match)])


def _read_composite(page: ValuePage, grammar: ValueGrammar, match: regex.Match[str]) -> Value:
    """24/7 and 16:9 hold no numbers, but a score holds its two: 27/100. In Persian ۳/۵ may be 3.5."""
    first, stroke, last = match[0].partition("/")
    keys = [f"comp:{match[0]}"]
    if grammar.own.slash and grammar.is_known and last.isdigit():
        keys.append(format_number_key(Decimal(f"{first}.{last}")))
    parts = (
        [format_number_key(Decimal(first)), format_number_key(Decimal(last))]
        if stroke and last in _FULL_SCORES
        else []
    )
    return page.build_value(
        "code", keys[0], match.span(), alternatives=[[key] for key in keys], source_keys=[*keys, *parts]
    )


def _read_sign_number(page: ValuePage, match: regex.Match[str]) -> list[Value] | None:
    """m² is a unit, CO₂ is CO2, 10² and ½ are themselves, and 2½ is also 2.5."""
    head, number, sign = match["head"], match["number"], match["sign"]
    if head in _LENGTH_UNITS and not number:
        return []
    if head:
        plain = unicodedata.normalize("NFKC", match[0])
        return [page.build_value("code", f"mix:{plain}", match.span())]
    key = f"mix:{match[0]}"
    exact = _parse_fraction(number, sign)
    keys = [key] if exact is None else [key, format_number_key(exact)]
    return [page.build_value("code", key, match.span(), alternatives=[[k] for k in keys], source_keys=keys)]


def _parse_fraction(number: str, sign: str) -> Decimal | None:
    """The decimal that a number and a fraction sign make; None where there is no exact one."""
    if len(sign) != 1 or not (0 < unicodedata.numeric(sign) < 1) or not (number or "0").isdigit():
        return None
    part = Decimal(repr(unicodedata.numeric(sign)))
    return Decimal(number or 0) + part if len(str(part)) <= 6 else None


def _read_version(page: ValuePage, match: regex.Match[str]) -> list[Value]:
    """v2.0.1 is also 2.0.1; v2.0 is no 2.0, which is a number."""
    number = match["number"]
    keys = [f"comp:v{number}", *([f"comp:{number}"] if number.count(".") > 1 else [])]
    return [
        page.build_value(
            "code", keys[0], match.span(), alternatives=[[key] for key in keys], source_keys=keys
        )
    ]


def read_codes(page: ValuePage) -> None:
    """Take what letters and digits make together, and then any digit that is left, as it stands."""
    if FIGURE.search(page.text):
        page.take_matches(_CODE, lambda match: _read_code(page, match))
        page.take_matches(_DIGITS, lambda match: _read_rest_digits(page, match))


def _read_code(page: ValuePage, match: regex.Match[str]) -> list[Value] | None:
    text = match[0]
    if not _NOT_FIGURE.search(text):
        return None
    figures = _TO_LAST_DIGIT.match(text)
    if figures is None:
        return None  # the digit that the pattern saw ahead belongs to the next word
    end = figures.end()
    start = match.start()
    keys = _list_code_keys(text[:end], page.raw[start : start + end])
    decade_name = _DECADE.fullmatch(text[:end].partition("-")[2])
    decade_keys = build_decade_keys(decade_name[1]) if decade_name and decade_name[2] else DecadeKeys()
    alternatives = [[key] for key in (*keys, *decade_keys.alternatives)]
    return [
        page.build_value(
            "code",
            keys[0],
            (start, start + end),
            alternatives=alternatives,
            source_keys=[*keys, *decade_keys.source_keys],
        )
    ]


def _list_code_keys(text: str, raw: str) -> list[str]:
    """What else the code may be called: mid-1990s 1990, Аполлон-1 Apollo 1, Q4 the fourth, FY2024 2024."""
    keys = [f"mix:{text}"]
    prefix, _, rest = text.partition("-")
    if rest and prefix.isalpha() and (raw[: len(prefix)].islower() or CYRILLIC.fullmatch(prefix)):
        number = _DECADE.fullmatch(rest)
        keys += [format_number_key(Decimal(number[1]))] if number else [f"mix:{rest}"]
    if _QUARTER.fullmatch(text):
        keys.append(f"rank:{text[1]}")
    if _FISCAL.fullmatch(text):
        keys.append(f"n:{text[2:]}")
    return keys


def _read_rest_digits(page: ValuePage, match: regex.Match[str]) -> list[Value]:
    return [
        page.build_value("number", format_number_key(Decimal(part[0])), part.span())
        for part in FIGURE.finditer(page.text, match.start(), match.end())
    ]
