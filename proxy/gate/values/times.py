"""Times of day, equal by hour and minute in any notation: 9:30, 9.30 Uhr, 9h30, 下午3点."""

from dataclasses import dataclass
from functools import lru_cache

import regex

from proxy.gate.values.pack import LETTER, SPACED, Tongue, either
from proxy.gate.values.page import Page
from proxy.gate.values.types import Value

_PARTS = ("morning", "evening", "night")
_CJK_HALF = {"半": 30, "一刻": 15, "三刻": 45}
_FROM = rf"(?:\d[:.h][0-5]\d|(?<![{LETTER}\d.,:/-])\d{{1,2}})"
"""What a hyphen makes a range of: 9:00-18:00, 9-18 Uhr; not the parts of a date."""
_BEFORE_CHARS = 20
"""How far before the hour a word like 下午 or ساعت may begin."""


@dataclass(frozen=True, slots=True)
class _Clock:
    """The patterns of a tongue: a time from its first digit on, and what may stand before it."""

    time: regex.Pattern[str]
    before: regex.Pattern[str]


@lru_cache(maxsize=64)
def _clock(tongue: Tongue) -> _Clock:
    clock, hours, minutes, *parts = (
        _ended(tongue.words(name)) for name in ("clock", "hours", "minutes", *_PARTS)
    )
    part = "|".join(f"(?<{name}>{words})" for name, words in zip(_PARTS, parts, strict=True))
    said = "|".join((clock, hours, *parts))
    until = rf"\s?(?:[-–—]|(?:{tongue.words('until')}))\s?\d{{1,2}}(?:[.:]\d{{2}})?\s?(?:{said})"
    joint = rf"(?:{tongue.words('hours')}|{tongue.words('clock')})"
    mark = tongue.words("clock_before")
    return _Clock(
        regex.compile(
            rf"(?<![{LETTER}\d_]|\d[.,:/])(?:(?<!\d-)|(?<={_FROM}-))(?<h>[01]?\d|2[0-4])"
            rf"(?::(?<m>[0-5]\d)(?::(?<s>[0-5]\d)(?:\.\d+)?(?:z|[+-]\d\d:?\d\d)?)?(?![:\d])"
            rf"|\s?{joint}\s?(?:(?<half>半|一刻|三刻)|(?<n>[0-5]?\d)(?!\d)\s?(?:{minutes})?)"
            rf"|(?<=(?:{mark})\s?\d{{1,2}})\s?(?:{tongue.words('joins')})\s?(?<q>[0-5]?\d)\s?(?:{minutes})"
            rf"|\.(?<p>[0-5]\d)(?=\s?(?:{said})|{until})"
            rf"|(?=\s?(?:{said})|{until})|(?<=(?:{mark})\s?\d{{1,2}}))(?![{LETTER}]*\d)"
            rf"(?:\s?(?:(?<clock>{clock})|(?<hours>{hours})))?(?:[\s,]?\s?(?:{part}))?(?![.,]\d)"
        ),
        regex.compile(rf"(?:(?:{part})\s?)?(?:(?<mark>{mark})\s?)?(?:(?:{either(tongue.own.shifts)})\s)?$"),
    )


def _ended(words: str) -> str:
    """Words that end where letters end; Han needs no end."""
    return rf"(?:{words})(?![{SPACED}])"


def read_times(page: Page, tongue: Tongue) -> None:
    """Take the times of `page`."""
    page.take(_clock(tongue).time, lambda match: [_time(page, tongue, match)])


def _time(page: Page, tongue: Tongue, match: regex.Match[str]) -> Value:
    start, clock = match.start(), _clock(tongue)
    before = clock.before.search(page.text, max(0, start - _BEFORE_CHARS), start)
    marked = bool(before and before["mark"])
    part = _part(match) or (_part(before) if before else "")
    hour, minute = int(match["h"]), int(match["m"] or match["p"] or match["n"] or match["q"] or 0)
    minute = _CJK_HALF.get(match["half"] or "", minute)
    if shift := tongue.shift(page.text, start):  # साढ़े 9 बजे is 9:30, पौने 10 is 9:45
        hour, minute = divmod(int(60 * (hour + shift)), 60)
    key = f"time:{_shift(hour, part):02d}:{minute:02d}"
    if int(match["s"] or 0):
        exact = f"{key}:{match['s']}"
        return page.value("time", exact, match.span(), accepts=[[exact]], gives=[exact, key])
    number = f"n:{hour}"
    if part or minute or any(match[name] for name in ("m", "p", "n", "q")):
        return page.value(
            "time", key, match.span(), accepts=[[key]], gives=[key] if minute else [key, number]
        )
    first = key if match["clock"] or marked else number
    return page.value("time", first, match.span(), accepts=[[key], [number]], gives=[key, number])


def _part(match: regex.Match[str]) -> str:
    return next((name for name in _PARTS if match[name]), "")


def _shift(hour: int, part: str) -> int:
    """The hour of 24 for an hour and its part of the day."""
    if part == "morning":
        return hour % 12 if hour == 12 else hour
    if hour < 12 and (part == "evening" or (part == "night" and hour >= 6)):
        return hour + 12
    return hour
