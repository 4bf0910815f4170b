"""Numbers before a stop: an end, but not in `am 3. Mai`, `Ludwig XIV. regierte` and `1. 5. 2024`."""

import regex

from proxy.gate.lexicon import Lexicon, roman
from proxy.gate.lookahead import WAIT, Wait
from proxy.gate.stop_context import Place

DIGITS_MAX = 3
"""Digits of an ordinal: more make a year."""
_RANGE = regex.compile(r"\.[–—](\p{Nd}?)")
"""`vom 4.–6. Mai`."""
_DAY_MONTH = regex.compile(r"\d{1,2}\.\d{1,2}")
_BEFORE_MONTH = regex.compile(r"\d{1,2}\.[^\S\r\n]?\d{2,4}")
"""What follows the day of `1. 5. 2024`."""
_BEFORE_YEAR = regex.compile(r"\d{4}")
_DAY = regex.compile(r"(?r)(?<!\d)\d{1,2}\.[^\S\r\n]?")


def is_number(token: str, lexicon: Lexicon) -> bool:
    """Whether `token` is a number that a stop may make an ordinal or a part of a date."""
    if token.isdigit():
        return True
    return lexicon.ordinals and (_DAY_MONTH.fullmatch(token) is not None or (len(token) > 1 and roman(token)))


def ends_number(place: Place, lexicon: Lexicon) -> bool | Wait:
    """Whether the sentence ends at the stop after a number."""
    if not lexicon.ordinals:
        return True
    if m := _RANGE.match(place.text, place.ahead.at, place.ahead.limit):
        return WAIT if place.ahead.short and m.end() == place.ahead.limit and not m[1] else not m[1]
    if place.marked or (place.token.isdigit() and len(place.token) > DIGITS_MAX):
        return True
    if place.following.isdigit():
        return _parts_date(place)
    if not place.following.isalpha() or place.following.islower():
        return not place.following.islower()
    word = place.word()
    return word if isinstance(word, Wait) else not lexicon.ordinal(place.before(), word)


def _parts_date(place: Place) -> bool | Wait:
    """False for the stops inside `1. 5. 2024`; WAIT while more could make it one."""
    start, limit = place.ahead.at - len(place.token), place.ahead.limit
    dated = _DAY.match(place.text, 0, start) is not None
    m = (_BEFORE_YEAR if dated else _BEFORE_MONTH).match(place.text, place.inside, limit, partial=True)
    if m is None or not place.token.isdigit() or len(place.token) > 2:
        return True
    return WAIT if place.ahead.short and m.end() == limit else m.partial
