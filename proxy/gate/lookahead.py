"""What follows a stop: closing quotes and brackets, markers, white space, the next significant character.

All of it is read within a window of `LOOK_AHEAD` characters. A window that is not full while the stream is
open means waiting; a full one is decided as it stands. So a decision depends on the text, never on its
pieces.
"""

import re
from dataclasses import dataclass
from enum import Enum

from proxy.gate.markers import BEGUN, BODY, OPENERS

LOOK_AHEAD = 96
"""Characters after a candidate that may be looked at."""
BREAK = re.compile(r"\r\n?|[\n\u2028\u2029\x85\v\f]")

ASKS = "!?！？؟‼⁇⁈⁉‽﹖﹗❓❔❕❗"
STRONG = "。｡।॥۔︒﹒።։"
STOPS = f".…．{ASKS}{STRONG}"
"""All that may end a sentence."""

_CLOSE = re.compile(rf"""(?:[{STOPS}]|["'”’»›)\]}}*_`）」』】〉》］｠~])*+""")
_OPENED_BY = {"“": "„", "‘": "‚", "«": "»"}
_TERMS = re.compile(rf"[{STOPS}]++")
_SPACE = re.compile(r"[^\S\r\n\u2028\u2029\x85\v\f\x1c-\x1f]*+")


class Wait(Enum):
    """The text so far does not decide."""

    WAIT = "wait"


WAIT = Wait.WAIT


@dataclass(slots=True)  # not frozen: made at every stop, for a fourth of the price
class Ahead:
    """What follows the stop at `at`; all fields are positions in the text looked at."""

    at: int
    terms: int
    """End of the stops themselves."""
    closed: int
    """End of stops and closers."""
    end: int
    """End of the sentence, if it ends here: markers included."""
    next: int
    """The next significant character; equal to the text's length or the window's end if there is none."""
    line_end: bool
    """Nothing but white space follows on the line."""
    limit: int
    """End of the window."""
    short: bool
    """The window may still grow."""


def look(text: str, at: int, is_open: bool) -> Ahead | Wait:
    """What follows the stop at `text[at]`; WAIT while that is not certain."""
    limit = min(len(text), at + LOOK_AHEAD)
    short = is_open and limit == len(text) and limit < at + LOOK_AHEAD
    terms = _after(_TERMS, text, at, limit)
    closed = _closers(text, at, limit)
    end, following = _markers(text, closed, limit)
    if short and (following == limit or _may_grow(text, following, limit)):
        return WAIT
    line_end = following == limit or bool(BREAK.match(text, following))
    return Ahead(at, terms, closed, end, following, line_end, limit, short)


def next_line(text: str, end: int, is_open: bool) -> int | None:
    """Where the sentence that ends its line at `end` ends with a next line of markers alone; None: wait."""
    limit = min(len(text), end + LOOK_AHEAD)
    short = is_open and limit == len(text) and limit < end + LOOK_AHEAD
    start = _after(_SPACE, text, end, limit)
    m = BREAK.match(text, start, limit)
    if m is None:
        return None if short and start == limit else end
    first = _after(_SPACE, text, m.end(), limit)
    if first == limit or text[first] not in OPENERS:
        return None if short and first == limit else end
    last, following = _markers(text, first, limit)
    if short and (following == limit or _may_grow(text, following, limit)):
        return None
    over = not is_open and following == len(text)
    alone = over or (following < limit and BREAK.match(text, following) is not None)
    return last if alone else end


def _markers(text: str, start: int, limit: int) -> tuple[int, int]:
    """End of the markers (with closers) after `start`, and the next significant character."""
    end = start
    while True:
        following = _after(_SPACE, text, end, limit)
        m = BODY.match(text, following, limit) if following < limit and text[following] in OPENERS else None
        if m is None or _is_link(text, m.end()):
            return end, following
        end = _closers(text, m.end(), limit)


def _is_link(text: str, end: int) -> bool:
    """Whether a bracket that ends at `end` is a link's, or the end of one's text."""
    return text.startswith(("(", "]("), end)


def _may_grow(text: str, start: int, limit: int) -> bool:
    """Whether `text[start:]` may still become a marker."""
    m = BEGUN.match(text, start, limit)
    return m is not None and m.end() == limit


def _closers(text: str, start: int, limit: int) -> int:
    """End of the stops and closers after `start`; a quote that may open or close closes what stands open."""
    end = _after(_CLOSE, text, start, limit)
    while end < limit and (width := _closes(text, end, limit)):
        end = _after(_CLOSE, text, end + width, limit)
    return end


def _closes(text: str, at: int, limit: int) -> int:
    """Length of the quote at `at` that closes one before it, French space included; 0 if none does."""
    opener = _OPENED_BY.get(text[at])
    if opener:
        return int(text.rfind(opener, 0, at) > text.rfind(text[at], 0, at))
    spaced = text[at] in " \u00a0\u202f" and at + 1 < limit and text[at + 1] == "»"
    return 2 if spaced and text.rfind("«", 0, at) > text.rfind("»", 0, at) else 0


def _after(pattern: re.Pattern[str], text: str, start: int, limit: int) -> int:
    m = pattern.match(text, start, limit)
    return m.end() if m else start
