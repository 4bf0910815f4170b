"""Dates by their known parts, in figures and with the month's name."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

import regex

from proxy.guards.gate.values.pack import LETTER, Tongue, ValuePack, either
from proxy.guards.gate.values.page import Page
from proxy.guards.gate.values.types import Value

_EDGE = rf"(?<![{LETTER}\d_]|\d[.,:/-])"
_END = rf"(?![{LETTER}\d]|[.,/-]\d)"
_FIGURES = regex.compile(
    rf"{_EDGE}(?:(?<y>\d{{4}})(?<s>[-/.]|\. )(?<m>\d{{1,2}})(?P=s)(?<d>\d{{1,2}})(?:(?=t\d\d)|{_END})"
    rf"|(?<a>\d{{1,2}})(?<t>[-/.]|\. )(?<b>\d{{1,2}})(?P=t)(?<z>\d{{4}}|\d{{2}}){_END})"
)
_HAN = regex.compile(
    r"(?<!\d)(?:(?<y>\d{4}|\d{2})\s?年\s?)?(?<m>\d{1,2})\s?月(?:\s?(?<d>\d{1,2})\s?[日号號])?"
)


@dataclass(frozen=True, slots=True)
class Date:
    """What is known of a date; 0 for a part that is not. `calendar` is "" for the Gregorian one."""

    year: int = 0
    month: int = 0
    day: int = 0
    calendar: str = ""

    @property
    def possible(self) -> bool:
        return 0 <= self.month <= 12 and 0 <= self.day <= 31

    @property
    def key(self) -> str:
        """`date:2024-05-01`, `date:2024-05`, `date:--05-01`, `date:--05`."""
        year = f"{self.year:04d}" if self.year else "-"
        day = f"-{self.day:02d}" if self.day else ""
        mark = f"@{self.calendar}" if self.calendar and not self.year else ""
        return f"date:{year}-{self.month:02d}{day}{mark}"

    @property
    def gives(self) -> tuple[str, ...]:
        """The date and every less exact form of it, and its year as a number."""
        parts = [self, Date(self.year, self.month), Date(0, self.month, self.day, self.calendar)]
        keys = [part.key for part in (*parts, Date(0, self.month, 0, self.calendar))]
        return (*dict.fromkeys(keys), *((f"n:{self.year}",) if self.year else ()))


def _value(page: Page, span: tuple[int, int], dates: list[Date]) -> Value:
    """A date that may be read in any of the ways `dates`; the first is its key."""
    accepts = [[date.key] for date in dates]
    return page.value("date", dates[0].key, span, accepts, [key for date in dates for key in date.gives])


def read_dates(page: Page, tongue: Tongue) -> None:
    """Take every date of `page`; figures that can be none are left to others."""
    page.take(_FIGURES, lambda match: _figures(page, tongue, match))
    if "月" in page.text:
        page.take(_HAN, lambda match: _han(page, match))
    names = _names(tongue)
    places = [match.start() for word in page.words & names.first_words for match in _found(word, page.text)]
    for pattern in names.patterns if places else ():
        page.take_near(sorted(places), pattern, lambda match: _named(page, names, match))


def _found(word: str, text: str) -> Iterator[regex.Match[str]]:
    return regex.finditer(rf"(?<![\p{{L}}\p{{M}}]){regex.escape(word)}(?![\p{{L}}\p{{M}}])", text)


def _figures(page: Page, tongue: Tongue, match: regex.Match[str]) -> list[Value] | None:
    if match["y"]:
        dates = [_dated(int(match["y"]), int(match["m"]), int(match["d"]))]
    else:
        first, second = int(match["a"]), int(match["b"])
        order = tongue.own.order if tongue.known else "either"
        pairs = {"day": [(second, first)], "month": [(first, second)]}.get(
            order, [(second, first), (first, second)]
        )
        years = (
            [int(match["z"])] if len(match["z"]) == 4 else [2000 + int(match["z"]), 1900 + int(match["z"])]
        )
        dates = [_dated(year, month, day) for year in years for month, day in pairs]
    dates = [date for date in dates if date.possible and date.month and date.day]
    if not dates:
        return None
    value = _value(page, match.span(), dates)
    if len(match["z"] or "") == 2:  # 10.2.24 may be a version
        literal = f"comp:{match[0]}"
        keys = [*value.gives, literal]
        return [page.value("date", value.key, match.span(), [*value.accepts, [literal]], keys)]
    return [value]


def _dated(year: int, month: int, day: int) -> Date:
    return Date(year, month, day, "other" if year < 1700 else "")


def _han(page: Page, match: regex.Match[str]) -> list[Value] | None:
    date = Date(int(match["y"] or 0), int(match["m"]), int(match["d"] or 0))
    return [_value(page, match.span(), [date])] if date.possible and date.month else None


@dataclass(frozen=True, slots=True)
class _Names:
    """The month names of a tongue and the patterns that hold them."""

    months: Mapping[str, tuple[int, str]]
    first_words: frozenset[str]
    patterns: tuple[regex.Pattern[str], ...]


@lru_cache(maxsize=64)
def _names(tongue: Tongue) -> _Names:
    months = {name: at for pack in reversed(tongue.packs) for name, at in _months(pack).items()}
    ords = tongue.words("ordinals")
    of = rf"(?:(?:{tongue.words('of')})(?![\p{{L}}\p{{M}}])\.?[\s\u200c]*)*"
    month = rf"(?<![\p{{L}}\p{{M}}])(?<month>{either(months)})(?![\p{{L}}\p{{M}}])\.?"
    day = rf"(?<!\d[.,:/]|[{LETTER}\d_])(?<day>[0-3]?\d)(?:\.?(?:{ords})(?![{LETTER}])|\.)?"
    until = rf"\s?(?:[-–—]|(?:{tongue.words('until')}))\s?"
    more = rf"(?<!\d[.,:/]|[{LETTER}\d_])(?<first>[0-3]?\d)(?:\.?(?:{ords})|\.)?{until}"
    year = r"(?<year>[12]\d{3})(?![\p{Latin}\d]|[.,:]\d)"
    gap = r"[\s,،\u200c/-]{0,3}"
    return _Names(
        months,
        frozenset(name.split()[0] for name in months),
        (
            regex.compile(rf"(?:{more})?{day}{gap}{of}{month}(?:{gap}{of}{year})?"),
            regex.compile(
                rf"{month}{gap}{of}(?:(?<first>[0-3]?\d)\s?[-–—]\s?)?{day}(?![{LETTER}\d]|[.,:]\d|\s?%)(?:{gap}{of}{year})?"
            ),
            regex.compile(rf"{month}{gap}{of}{year}"),
            regex.compile(rf"{year}{gap}{of}{month}"),
        ),
    )


def _months(pack: ValuePack) -> dict[str, tuple[int, str]]:
    """Name → number and calendar."""
    tables = ((pack.hijri, "hijri"), (pack.jalali, "jalali"), (pack.months, ""))
    return {
        name: (number, calendar)
        for rows, calendar in tables
        for number, row in enumerate(rows, 1)
        for name in row
    }


def _named(page: Page, names: _Names, match: regex.Match[str]) -> list[Value] | None:
    month, calendar = names.months[match["month"]]
    groups = match.groupdict()
    year, day, first = (int(groups.get(name) or 0) for name in ("year", "day", "first"))
    dates = [Date(year, month, part, calendar) for part in (first, day) if part or part is day]
    if not all(date.possible for date in dates):
        return None
    return [_value(page, match.span(), [date]) for date in dates]
