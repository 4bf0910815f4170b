"""Numbers before a stop: an end, but not in `am 3. Mai`, `Ludwig XIV. regierte` and `1. 5. 2024`."""

import regex

from proxy.gate.lexicon import SentenceLexicon, is_roman
from proxy.gate.lookahead import WAIT, Wait
from proxy.gate.stop_context import StopContext

ORDINAL_DIGITS_MAX = 3
"""Digits of an ordinal: more make a year."""
_RANGE = regex.compile(r"\.[–—](\p{Nd}?)")
"""`vom 4.–6. Mai`."""
_DAY_MONTH = regex.compile(r"\d{1,2}\.\d{1,2}")
_BEFORE_MONTH = regex.compile(r"\d{1,2}\.[^\S\r\n]?\d{2,4}")
"""What follows the day of `1. 5. 2024`."""
_BEFORE_YEAR = regex.compile(r"\d{4}")
_DAY = regex.compile(r"(?r)(?<!\d)\d{1,2}\.[^\S\r\n]?")


def is_number(token: str, lexicon: SentenceLexicon) -> bool:
    """Whether `token` is a number that a stop may make an ordinal or a part of a date."""
    if token.isdigit():
        return True
    return lexicon.has_ordinals and (
        _DAY_MONTH.fullmatch(token) is not None or (len(token) > 1 and is_roman(token))
    )


def decide_after_number(context: StopContext, lexicon: SentenceLexicon) -> bool | Wait:
    """Whether the sentence ends at the stop after a number."""
    if not lexicon.has_ordinals:
        return True
    if m := _RANGE.match(context.text, context.ahead.at, context.ahead.limit):
        return WAIT if context.ahead.can_grow and m.end() == context.ahead.limit and not m[1] else not m[1]
    if context.has_marker or (context.token.isdigit() and len(context.token) > ORDINAL_DIGITS_MAX):
        return True
    if context.following.isdigit():
        return _decide_in_date(context)
    if not context.following.isalpha() or context.following.islower():
        return not context.following.islower()
    word = context.read_next_word()
    return word if isinstance(word, Wait) else not lexicon.is_ordinal(context.read_word_before(), word)


def _decide_in_date(context: StopContext) -> bool | Wait:
    """False for the stops inside `1. 5. 2024`; WAIT while more could make it one."""
    start, limit = context.ahead.at - len(context.token), context.ahead.limit
    is_after_day = _DAY.match(context.text, 0, start) is not None
    m = (_BEFORE_YEAR if is_after_day else _BEFORE_MONTH).match(
        context.text, context.content_start, limit, partial=True
    )
    if m is None or not context.token.isdigit() or len(context.token) > 2:
        return True
    return WAIT if context.ahead.can_grow and m.end() == limit else m.partial
