"""Dates with the month's name: 3 May 2024, mayo de 2024, ۳ تیر ۱۴۰۳."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

import regex

from proxy.gate.values.calendar_date import CalendarDate, build_date_value
from proxy.gate.values.pack import LETTER, ValueGrammar, ValuePack, build_alternation
from proxy.gate.values.page import FIGURE, NEAR_CHARS, ValuePage
from proxy.gate.values.types import Value


def read_named_dates(page: ValuePage, grammar: ValueGrammar, is_source: bool) -> None:
    """Take every date that names its month, and, in a source, every month's name alone."""
    names = _compile_month_names(grammar)
    name_places = sorted(
        at for word in page.words & names.first_words for at in _iterate_word_positions(word, page.text)
    )
    date_places = [
        at for at in name_places if FIGURE.search(page.text, max(0, at - NEAR_CHARS), at + NEAR_CHARS)
    ]
    for pattern in names.patterns if date_places else ():
        page.take_matches_near(date_places, pattern, lambda match: _read_named_date(page, names, match))
    for place in name_places if is_source else ():
        match = names.name_pattern.match(page.text, place)
        page.values.extend(_read_named_date(page, names, match) or () if match else ())


def _iterate_word_positions(word: str, text: str) -> Iterator[int]:
    """Where `word` stands as a whole word."""
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        if not (text[at - 1 : at].isalpha() or text[end : end + 1].isalpha()):
            yield at
        at = text.find(word, end)


@dataclass(frozen=True, slots=True)
class _MonthNames:
    """The month names of a grammar and the patterns that hold them."""

    months: Mapping[str, tuple[int, str]]
    first_words: frozenset[str]
    name_pattern: regex.Pattern[str]
    patterns: tuple[regex.Pattern[str], ...]


@lru_cache(maxsize=64)
def _compile_month_names(grammar: ValueGrammar) -> _MonthNames:
    # Reversed: of a name in several packs the first says what it means.
    months = {
        name: month for pack in reversed(grammar.packs) for name, month in index_month_names(pack).items()
    }
    ords = grammar.join_words("ordinals")
    of = rf"(?:(?:{grammar.join_words('of')})(?![\p{{L}}\p{{M}}])\.?[\s\u200c]*)*"
    month = rf"(?<![\p{{L}}\p{{M}}])(?<month>{build_alternation(months)})(?![\p{{L}}\p{{M}}])\.?"
    day = rf"(?<!\d[.,:/]|[{LETTER}\d_])(?<day>[0-3]?\d)(?:\.?(?:{ords})(?![{LETTER}])|\.)?"
    until = rf"\s?(?:[-–—]|(?:{grammar.join_words('until')}))\s?"
    span = rf"\s?(?:[-–—]|{grammar.range_pattern})\s?"
    more = rf"(?<!\d[.,:/]|[{LETTER}\d_])(?<first>[0-3]?\d)(?:\.?(?:{ords})|\.)?{until}"
    end = rf"(?![{LETTER}\d]|[.,:]\d|\s?%|\s?(?:{grammar.scale_pattern}))"
    year = rf"(?<year>[12]\d{{3}}){end}"
    gap = r"[\s,،\u200c/-]{0,3}"
    return _MonthNames(
        months,
        frozenset(name.split()[0] for name in months),
        regex.compile(month),
        (
            regex.compile(rf"(?:{more})?{day}{gap}{of}{month}(?:{gap}{of}{year})?"),
            regex.compile(rf"{month}{gap}{of}(?:(?<first>[0-3]?\d){span})?{day}{end}(?:{gap}{of}{year})?"),
            regex.compile(rf"{month}{gap}{of}{year}"),
            regex.compile(rf"{year}{gap}{of}{month}"),
        ),
    )


def index_month_names(pack: ValuePack) -> dict[str, tuple[int, str]]:
    """Each name of a month → its number and calendar."""
    tables = ((pack.hijri, "hijri"), (pack.jalali, "jalali"), (pack.months, ""))
    return {
        name: (number, calendar)
        for rows, calendar in tables
        for number, row in enumerate(rows, 1)
        for name in row
    }


def _read_named_date(page: ValuePage, names: _MonthNames, match: regex.Match[str]) -> list[Value] | None:
    month, calendar = names.months[match["month"]]
    groups = match.groupdict()
    year, day, first = (int(groups.get(name) or 0) for name in ("year", "day", "first"))
    parts = [part for part in (first, day) if part] or [0]
    dates = [CalendarDate(year, month, part, calendar) for part in parts]
    if not all(date.is_possible for date in dates):
        return None
    return [build_date_value(page, match.span(), [date]) for date in dates]
