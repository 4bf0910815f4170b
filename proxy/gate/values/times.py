"""Times of day, equal by hour and minute in any notation: 9:30, 9.30 Uhr, 9h30, 下午3点."""

from dataclasses import dataclass
from functools import lru_cache

import regex

from proxy.gate.values.pack import LETTER, SPACED, ValueGrammar, build_alternation
from proxy.gate.values.page import ValuePage
from proxy.gate.values.types import Value

_DAY_PARTS = ("morning", "evening", "night")
_CJK_HALF = {"半": 30, "一刻": 15, "三刻": 45}
_RANGE_START = rf"(?:\d[:.h][0-5]\d|(?<![{LETTER}\d.,:/-])\d{{1,2}})"
"""What a hyphen makes a range of: 9:00-18:00, 9-18 Uhr; not the parts of a date."""
_LOOKBACK_CHARS = 20
"""How far before the hour a word like 下午 or ساعت may begin."""


@dataclass(frozen=True, slots=True)
class _ClockPatterns:
    """The patterns of a grammar: a time from its first digit on, and what may stand before it."""

    time: regex.Pattern[str]
    before: regex.Pattern[str]


@lru_cache(maxsize=64)
def _compile_clock_patterns(grammar: ValueGrammar) -> _ClockPatterns:
    clock, hours, minutes, *parts = (
        _bound_words(grammar.join_words(name)) for name in ("clock", "hours", "minutes", *_DAY_PARTS)
    )
    part = "|".join(f"(?<{name}>{words})" for name, words in zip(_DAY_PARTS, parts, strict=True))
    clock_words = "|".join((clock, hours, *parts))
    until = rf"\s?(?:[-–—]|(?:{grammar.join_words('until')}))\s?\d{{1,2}}(?:[.:]\d{{2}})?\s?(?:{clock_words})"
    joint = rf"(?:{grammar.join_words('hours')}|{grammar.join_words('clock')})"
    mark = grammar.join_words("clock_before")
    return _ClockPatterns(
        regex.compile(
            rf"(?<![{LETTER}\d_]|\d[.,:/])(?:(?<!\d-)|(?<={_RANGE_START}-))(?<h>[01]?\d|2[0-4])"
            rf"(?::(?<m>[0-5]\d)(?::(?<s>[0-5]\d)(?:\.\d+)?(?:z|[+-]\d\d:?\d\d)?)?(?![:\d])"
            rf"|\s?{joint}\s?(?:(?<half>半|一刻|三刻)|(?<n>[0-5]?\d)(?!\d)\s?(?:{minutes})?)"
            rf"|(?<=(?:{mark})\s?\d{{1,2}})\s?(?:{grammar.join_words('joins')})\s?(?<q>[0-5]?\d)\s?(?:{minutes})"
            rf"|\.(?<p>[0-5]\d)(?=\s?(?:{clock_words})|{until})"
            rf"|(?=\s?(?:{clock_words})|{until})|(?<=(?:{mark})\s?\d{{1,2}}))(?![{LETTER}]*\d)"
            rf"(?:\s?(?:(?<clock>{clock})|(?<hours>{hours})))?(?:[\s,]?\s?(?:{part}))?(?![.,]\d)"
        ),
        regex.compile(
            rf"(?:(?:{part})\s?)?(?:(?<mark>{mark})\s?)?(?:(?:{build_alternation(grammar.own.shifts)})\s)?$"
        ),
    )


def _bound_words(words: str) -> str:
    """Words that end where letters end; Han needs no end."""
    return rf"(?:{words})(?![{SPACED}])"


def read_times(page: ValuePage, grammar: ValueGrammar) -> None:
    """Take the times of `page`."""
    page.take_matches(_compile_clock_patterns(grammar).time, lambda match: [_read_time(page, grammar, match)])


def _read_time(page: ValuePage, grammar: ValueGrammar, match: regex.Match[str]) -> Value:
    start, patterns = match.start(), _compile_clock_patterns(grammar)
    before = patterns.before.search(page.text, max(0, start - _LOOKBACK_CHARS), start)
    is_marked = bool(before and before["mark"])
    part = _find_day_part(match) or (_find_day_part(before) if before else "")
    hour, minute = int(match["h"]), int(match["m"] or match["p"] or match["n"] or match["q"] or 0)
    minute = _CJK_HALF.get(match["half"] or "", minute)
    if shift := grammar.find_shift(page.text, start):  # साढ़े 9 बजे is 9:30, पौने 10 is 9:45
        hour, minute = divmod(int(60 * (hour + shift)), 60)
    key = f"time:{_shift_hour(hour, part):02d}:{minute:02d}"
    if int(match["s"] or 0):
        exact = f"{key}:{match['s']}"
        return page.build_value("time", exact, match.span(), alternatives=[[exact]], source_keys=[exact, key])
    number = f"n:{hour}"
    if part or minute or any(match[name] for name in ("m", "p", "n", "q")):
        return page.build_value(
            "time", key, match.span(), alternatives=[[key]], source_keys=[key] if minute else [key, number]
        )
    first = key if match["clock"] or is_marked else number
    return page.build_value(
        "time", first, match.span(), alternatives=[[key], [number]], source_keys=[key, number]
    )


def _find_day_part(match: regex.Match[str]) -> str:
    return next((name for name in _DAY_PARTS if match[name]), "")


def _shift_hour(hour: int, part: str) -> int:
    """The hour of 24 for an hour and its part of the day."""
    if part == "morning":
        return hour % 12 if hour == 12 else hour
    if hour < 12 and (part == "evening" or (part == "night" and hour >= 6)):
        return hour + 12
    return hour
