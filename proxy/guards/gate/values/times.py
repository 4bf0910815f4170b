"""Times of day, equal by hour and minute in any notation: 9:30, 9.30 Uhr, 9h30, 下午3点."""

from functools import lru_cache

import regex

from proxy.guards.gate.values.pack import LETTER, Tongue
from proxy.guards.gate.values.page import Page
from proxy.guards.gate.values.types import Value

_CJK_HALF = {"半": 30, "一刻": 15, "三刻": 45}


@lru_cache(maxsize=64)
def _pattern(tongue: Tongue) -> regex.Pattern[str]:
    words = {
        name: _ended(tongue.words(name))
        for name in ("clock", "hours", "minutes", "morning", "evening", "night")
    }
    part = "|".join(f"(?<{name}{{0}}>{words[name]})" for name in ("morning", "evening", "night"))
    said = rf"{words['clock']}|{words['hours']}|{words['morning']}|{words['evening']}|{words['night']}"
    later = rf"\s?(?:[-–—]|(?:{tongue.words('until')}))\s?\d{{1,2}}(?:[.:]\d{{2}})?\s?(?:{said})"
    return regex.compile(
        rf"(?:(?:{part.replace('{0}', '1')})\s?)?(?:(?<mark>{tongue.words('clock_before')})\s?)?"
        rf"(?<![{LETTER}\d_]|\d[.,:/-])(?<h>[01]?\d|2[0-4])"
        rf"(?::(?<m>[0-5]\d)(?::(?<s>[0-5]\d))?(?![:\d])"
        rf"|\s?(?:{tongue.words('hours')}|{tongue.words('clock')})\s?(?:(?<half>半|一刻|三刻)|(?<n>[0-5]?\d)(?!\d)\s?(?:{words['minutes']})?)"
        rf"|\.(?<p>[0-5]\d)(?=\s?(?:{said})|{later})"
        rf"|(?=\s?(?:{said})|{later})|(?<=(?:{tongue.words('clock_before')})\s?\d{{1,2}}))(?![{LETTER}]*\d)"
        rf"(?:\s?(?:(?<clock>{words['clock']})|(?<hours>{words['hours']})))?"
        rf"(?:[\s,]?\s?(?:{part.replace('{0}', '2')}))?(?![.,]\d)"
    )


def _ended(words: str) -> str:
    """Words that end where letters end; Han needs no end."""
    return rf"(?:{words})(?![\p{{Latin}}\p{{Cyrillic}}\p{{Arabic}}\p{{Devanagari}}])"


def read_times(page: Page, tongue: Tongue) -> None:
    """Take the times of `page`."""
    page.take(_pattern(tongue), lambda match: _time(page, match))


def _time(page: Page, match: regex.Match[str]) -> list[Value] | None:
    hour, minute = int(match["h"]), int(match["m"] or match["p"] or match["n"] or 0)
    minute = _CJK_HALF.get(match["half"] or "", minute)
    part = next(
        (name for name in ("evening", "night", "morning") if match[name + "1"] or match[name + "2"]), ""
    )
    exact = bool(match["m"] or match["p"] or match["n"] or match["half"] or part)
    if part and hour > 12 and not match["m"]:
        part = ""
    key = f"time:{_shift(hour, part):02d}:{minute:02d}" + (f":{match['s']}" if match["s"] else "")
    if exact:
        gives = [key] if minute else [key, f"n:{hour}"]
        return [page.value("time", key, match.span(), [[key]], gives)]
    number = f"n:{hour}"
    first = key if match["clock"] or match["mark"] else number
    return [page.value("time", first, match.span(), [[key], [number]], [key, number])]


def _shift(hour: int, part: str) -> int:
    """The hour of 24 for an hour and its part of the day."""
    if part == "morning":
        return hour % 12 if hour == 12 else hour
    if part == "evening" or (part == "night" and hour >= 6):
        return hour + 12 if hour < 12 else hour
    return hour
