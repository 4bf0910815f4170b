"""Days of a month in words: the third of June, le premier juin, سوم تیر."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

import regex

from proxy.gate.values.calendar_date import CalendarDate
from proxy.gate.values.named_dates import index_month_names
from proxy.gate.values.pack import LATIN, ValuePack, build_alternation
from proxy.gate.values.page import ValuePage
from proxy.gate.values.types import Value

_EDGE = r"[\p{L}\p{M}]"


@dataclass(frozen=True, slots=True)
class _DayPatterns:
    """What makes a number in words of one language a day."""

    months: Mapping[str, tuple[int, str]]
    first_words: frozenset[str]
    month_after: regex.Pattern[str]
    """The month after the day."""
    month_before: regex.Pattern[str]
    """The month before it, read backwards."""


@lru_cache(maxsize=64)
def _compile_day_patterns(pack: ValuePack) -> _DayPatterns:
    full = tuple(_iterate_full_names(pack))
    month = rf"(?<!{_EDGE})(?<month>{build_alternation(full)})(?!{_EDGE})"
    of = rf"(?:(?:{build_alternation(pack.of)})(?!{_EDGE})[\s\u200c]{{1,2}}){{0,2}}"
    year = rf"(?:[\s,،\u200c]{{1,2}}{of}(?<year>[12]\d{{3}})(?!\d))?"
    return _DayPatterns(
        index_month_names(pack),
        frozenset(name.split()[0] for name in full),
        regex.compile(rf"[\s\u200c]{{1,2}}(?<of>{of}){month}{year}"),
        regex.compile(rf"(?r){month}[\s,]{{1,2}}(?<of>{of})"),
    )


def _iterate_full_names(pack: ValuePack) -> Iterator[str]:
    """Names of months that are no abbreviations: in Latin script the first of each row."""
    for row in (*pack.hijri, *pack.jalali, *pack.months):
        yield from (name for name in row if name == row[0] or not LATIN.match(name))


def read_day_in_words(
    page: ValuePage, pack: ValuePack, day: Decimal, span: tuple[int, int], *, is_ordinal: bool
) -> Value | None:
    """The date whose day is the number in words at `span` of an answer; None where no month is beside it.

    A source that says both in words holds it too. The month may have been taken already, with its year.
    """
    patterns = _compile_day_patterns(pack)
    if day % 1 or not 1 <= day <= 31 or page.words.isdisjoint(patterns.first_words):
        return None
    start, end = span
    text = page.flat_text
    match = patterns.month_after.match(text, end) or patterns.month_before.match(text, 0, start)
    if match is None or not _is_day_of_month(page, pack, match, is_ordinal=is_ordinal):
        return None
    month, calendar = patterns.months[match["month"]]
    date = CalendarDate(int(match.groupdict().get("year") or 0), month, int(day), calendar)
    keys_in_words = (CalendarDate(0, month, 0, calendar).key, f"s:{int(day)}")
    return page.build_value("date", date.key, span, alternatives=[*date.alternatives, keys_in_words])


def _is_day_of_month(page: ValuePage, pack: ValuePack, match: regex.Match[str], *, is_ordinal: bool) -> bool:
    """The second may be a verb's, and two June workshops are two: those want an `of` or an ordinal."""
    is_capital = page.raw[match.start("month")].isupper()
    if match["month"] in pack.month_words and not is_capital:
        return False
    return is_ordinal or not is_capital or bool(match["of"])
