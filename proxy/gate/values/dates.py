"""Dates in figures, by their known parts: 2024-05-01, 3.10., 05/2024, 2024年5月1日."""

import re
from decimal import Decimal

import regex

from proxy.gate.values.calendar_date import CalendarDate, build_date_value
from proxy.gate.values.decimals import format_number_key
from proxy.gate.values.han import parse_han_number
from proxy.gate.values.named_dates import read_named_dates
from proxy.gate.values.pack import LETTER, ValueGrammar
from proxy.gate.values.page import ValuePage
from proxy.gate.values.types import Value

_EDGE = rf"(?<![{LETTER}\d_]|\d[.,:/-])"
_END = rf"(?![{LETTER}\d]|[.,/-]\d)"
_FIGURE_DATE = regex.compile(
    rf"{_EDGE}(?:(?<y>\d{{4}})(?<s>[-/.]|\. )(?<m>\d{{1,2}})(?P=s)(?<d>\d{{1,2}})(?:t(?=\d\d:)|{_END})"
    rf"|(?<a>\d{{1,2}})[ºª°]?(?<t>[-/.]|\. )(?<b>\d{{1,2}})(?P=t)(?<z>\d{{4}}|\d{{2}}){_END})"
)
_HAN_DAY = r"\d{1,2}|[一二三四五六七八九十]{1,3}"
_HAN_DATE = regex.compile(
    rf"(?<!\d)(?:(?<y>\d{{4}}|\d{{2}}|[〇零一二三四五六七八九]{{4}})\s?年\s?)?"
    rf"(?<m>{_HAN_DAY})\s?月(?:\s?(?:(?<first>{_HAN_DAY})\s?[日号號]?\s?(?:[-–—~～]+|至|到)\s?)?"
    rf"(?<d>{_HAN_DAY})\s?[日号號])?"
)
_HAN_DECADE = regex.compile(r"(?<!\d)(?<century>\d{1,2})\s?世[纪紀]\s?(?<tens>[1-9]0)\s?年代")
_DAY_MONTH = regex.compile(rf"{_EDGE}(?<d>\d{{1,2}})\.(?<m>\d{{1,2}})\.(?![{LETTER}\d])")
_MONTH_YEAR = regex.compile(rf"{_EDGE}(?<m>\d{{1,2}})(?<s>[/.])(?<y>[12]\d{{3}}){_END}")

_YEAR_SPAN = regex.compile(
    rf"{_EDGE}(?<from>[12]\d{{3}})[-–/](?<to>\d{{4}}|\d{{2}})(?![{LETTER}\d]|[-–/.,:]\d)"
)
_FIGURE_JOINT = re.compile(r"[0-9](?:[-–/.]|\. )[0-9]")
"""What every date in figures holds."""


def read_dates(page: ValuePage, grammar: ValueGrammar, is_source: bool) -> None:
    """Take every date of `page`; figures that can be none are left to others.

    In a source a month's name alone counts too: it holds the month that an answer writes as a figure.
    """
    if _FIGURE_JOINT.search(page.text):
        page.take_matches(_FIGURE_DATE, lambda match: _read_figure_date(page, grammar, match))
        page.take_matches(_YEAR_SPAN, lambda match: _read_year_span(page, match))
        page.take_matches(_MONTH_YEAR, lambda match: _read_month_year(page, grammar, match))
        page.take_matches(_DAY_MONTH, lambda match: _read_day_month(page, grammar, match))
    if "年代" in page.text:
        page.take_matches(_HAN_DECADE, lambda match: _read_han_decade(page, match))
    if "月" in page.text:
        page.take_matches(_HAN_DATE, lambda match: _read_han_date(page, match))
    read_named_dates(page, grammar, is_source)


def _read_figure_date(page: ValuePage, grammar: ValueGrammar, match: regex.Match[str]) -> list[Value] | None:
    if match["y"]:
        dates = [_build_figure_date(int(match["y"]), int(match["m"]), int(match["d"]))]
    else:
        first, second = int(match["a"]), int(match["b"])
        order = grammar.own.order if grammar.is_known else "either"
        pairs = {"day": [(second, first)], "month": [(first, second)]}.get(
            order, [(second, first), (first, second)]
        )
        years = (
            [int(match["z"])] if len(match["z"]) == 4 else [2000 + int(match["z"]), 1900 + int(match["z"])]
        )
        dates = [_build_figure_date(year, month, day) for year in years for month, day in pairs]
    dates = [date for date in dates if date.is_possible and date.month and date.day]
    if not dates:
        return None
    value = build_date_value(page, match.span(), dates)
    if len(match["z"] or "") == 2:  # 10.2.24 may be a version
        literal = f"comp:{match[0]}"
        return [
            page.build_value(
                "date",
                value.key,
                match.span(),
                alternatives=[*value.alternatives, [literal]],
                source_keys=[*value.source_keys, literal],
            )
        ]
    return [value]


def _read_year_span(page: ValuePage, match: regex.Match[str]) -> list[Value] | None:
    """2007-08 is two years that follow each other, or a month; 2019–2024 is two numbers."""
    first, last = int(match["from"]), match["to"]
    if len(last) == 4:
        spans = (match.span("from"), match.span("to")) if "/" in match[0] else ()
        return [page.build_value("number", f"n:{page.raw[a:b]}", (a, b)) for a, b in spans] or None
    month = CalendarDate(first, int(last)) if 1 <= int(last) <= 12 else None
    later = first // 100 * 100 + int(last)
    years = [f"n:{first}", f"n:{later}"] if later > first else []
    if month is None:
        key = f"comp:{match[0]}"
        return (
            [page.build_value("date", key, match.span(), alternatives=[years], source_keys=years)]
            if years
            else None
        )
    alternatives = [*month.alternatives, *([years] if years else [])]
    return [
        page.build_value(
            "date",
            month.key,
            match.span(),
            alternatives=alternatives,
            source_keys=[*month.source_keys, *years],
        )
    ]


def _build_figure_date(year: int, month: int, day: int) -> CalendarDate:
    """A date in figures; before 1700 the year is taken for one of another calendar."""
    return CalendarDate(year, month, day, "other" if year < 1700 else "")


def _read_han_date(page: ValuePage, match: regex.Match[str]) -> list[Value] | None:
    year, month, day, first = (_parse_han_part(match[group] or "0") for group in ("y", "m", "d", "first"))
    dates = [CalendarDate(year, month, part) for part in ((first, day) if first else (day,))]
    if not all(date.is_possible and date.month for date in dates):
        return None
    return [build_date_value(page, match.span(), [date]) for date in dates]


def _parse_han_part(text: str) -> int:
    return int(text) if text.isdigit() and text.isascii() else parse_han_number(text)


def _read_month_year(page: ValuePage, grammar: ValueGrammar, match: regex.Match[str]) -> list[Value] | None:
    """05/2024; also 05.2024 where the point is no decimal sign."""
    date, literal = CalendarDate(int(match["y"]), int(match["m"])), f"comp:{match[0]}"
    if match["s"] == grammar.own.decimal or not (grammar.is_known and 1 <= date.month <= 12):
        return None
    return [
        page.build_value(
            "date",
            date.key,
            match.span(),
            alternatives=[*date.alternatives, [literal]],
            source_keys=[*date.source_keys, literal],
        )
    ]


def _read_han_decade(page: ValuePage, match: regex.Match[str]) -> list[Value]:
    """20世纪80年代: two numbers, and together the 1980s."""
    century, tens = match["century"], match["tens"]
    year = f"n:{int(century) - 1}{tens}"
    both = {"century": [f"n:{int(century)}"], "tens": [f"n:{tens}", f"decade:{tens}"]}
    return [
        page.build_value(
            "number",
            keys[0],
            match.span(name),
            alternatives=[[k] for k in (*keys, year)],
            source_keys=[*keys, year],
        )
        for name, keys in both.items()
    ]


def _read_day_month(page: ValuePage, grammar: ValueGrammar, match: regex.Match[str]) -> list[Value] | None:
    """`am 3.10. um neun`, where the point is no decimal sign; at a sentence's end it may be one after all."""
    date = CalendarDate(0, int(match["m"]), int(match["d"]))
    if not (grammar.is_known and grammar.own.decimal == "," and date.is_possible and date.month and date.day):
        return None
    number = format_number_key(Decimal(match[0][:-1]))
    span = (match.start(), match.end() - 1)
    return [
        page.build_value(
            "date",
            date.key,
            span,
            alternatives=[*date.alternatives, [number]],
            source_keys=[*date.source_keys, number],
        )
    ]
