"""Days of a month in words: the third of June, le premier juin, سوم تیر."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

import regex

from proxy.gate.values.dates import Date, month_names
from proxy.gate.values.pack import LATIN, ValuePack, either
from proxy.gate.values.page import Page
from proxy.gate.values.types import Value

_EDGE = r"[\p{L}\p{M}]"


@dataclass(frozen=True, slots=True)
class _Days:
    """What makes a number in words of one language a day."""

    months: Mapping[str, tuple[int, str]]
    first_words: frozenset[str]
    after: regex.Pattern[str]
    """The month after the day."""
    before: regex.Pattern[str]
    """The month before it, read backwards."""


@lru_cache(maxsize=64)
def _days(pack: ValuePack) -> _Days:
    full = tuple(_full(pack))
    month = rf"(?<!{_EDGE})(?<month>{either(full)})(?!{_EDGE})"
    of = rf"(?:(?:{either(pack.of)})(?!{_EDGE})[\s\u200c]{{1,2}}){{0,2}}"
    year = rf"(?:[\s,،\u200c]{{1,2}}{of}(?<year>[12]\d{{3}})(?!\d))?"
    return _Days(
        month_names(pack),
        frozenset(name.split()[0] for name in full),
        regex.compile(rf"[\s\u200c]{{1,2}}(?<of>{of}){month}{year}"),
        regex.compile(rf"(?r){month}[\s,]{{1,2}}(?<of>{of})"),
    )


def _full(pack: ValuePack) -> Iterator[str]:
    """Names of months that are no abbreviations: in Latin script the first of each row."""
    for row in (*pack.hijri, *pack.jalali, *pack.months):
        yield from (name for name in row if name == row[0] or not LATIN.match(name))


def day_in_words(
    page: Page, pack: ValuePack, day: Decimal, span: tuple[int, int], *, rank: bool
) -> Value | None:
    """The date whose day is the number in words at `span` of an answer; None where no month is beside it.

    A source that says both in words holds it too. The month may have been taken already, with its year.
    """
    days = _days(pack)
    if day % 1 or not 1 <= day <= 31 or page.words.isdisjoint(days.first_words):
        return None
    start, end = span
    match = days.after.match(page.flat, end) or days.before.match(page.flat, 0, start)
    if match is None or not _names_day(page, pack, match, rank=rank):
        return None
    month, calendar = days.months[match["month"]]
    date = Date(int(match.groupdict().get("year") or 0), month, int(day), calendar)
    words = (Date(0, month, 0, calendar).key, f"s:{int(day)}")
    return page.value("date", date.key, span, accepts=[*date.accepts, words])


def _names_day(page: Page, pack: ValuePack, match: regex.Match[str], *, rank: bool) -> bool:
    """The second may be a verb's, and two June workshops are two: those want an `of` or an ordinal."""
    capital = page.raw[match.start("month")].isupper()
    if match["month"] in pack.month_words and not capital:
        return False
    return rank or not capital or bool(match["of"])
