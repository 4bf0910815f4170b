"""What follows a stop: closing quotes and brackets, markers, white space, the next significant character.

All of it is read within a window of bounded length. A window that is not full while the stream is
open means waiting; a full one is decided as it stands. So a decision depends on the text, never on its
pieces.
"""

import re
from dataclasses import dataclass
from enum import Enum

from proxy.gate.markers import MARKER_BEGINNING, MARKER_BODY, MARKER_OPENERS

LOOKAHEAD_CHARS = 96
"""Characters from a candidate on that may be looked at."""
LINE_BREAK = re.compile(r"\r\n?|[\n\u2028\u2029\x85\v\f]")

QUESTION_STOPS = "!?！？؟‼⁇⁈⁉‽﹖﹗❓❔❕❗"
STRONG_STOPS = "。｡।॥۔︒﹒።։"
STOPS = f".…．{QUESTION_STOPS}{STRONG_STOPS}"
"""All that may end a sentence."""

_CLOSER_RUN = re.compile(rf"""(?:[{STOPS}]|["'”’»›)\]}}*_`）」』】〉》］｠~])*+""")
_OPENERS_BY_CLOSER = {"“": "„", "‘": "‚", "«": "»"}
_STOP_RUN = re.compile(rf"[{STOPS}]++")
_SPACE = re.compile(r"[^\S\r\n\u2028\u2029\x85\v\f\x1c-\x1f]*+")


class Wait(Enum):
    """The text so far does not decide."""

    WAIT = "wait"


WAIT = Wait.WAIT


@dataclass(slots=True)  # not frozen: made at every stop, for a fourth of the price
class Lookahead:
    """What follows the stop at `at`; the numbers are positions in the text looked at."""

    at: int
    stops_end: int
    """End of the stops themselves."""
    closers_end: int
    """End of stops and closers."""
    end: int
    """End of the sentence, if it ends here: markers included."""
    next_at: int
    """The next significant character; equal to the text's length or the window's end if there is none."""
    is_line_end: bool
    """Nothing but white space follows on the line."""
    limit: int
    """End of the window."""
    can_grow: bool
    """The window may still grow."""


def read_lookahead(text: str, at: int, is_open: bool) -> Lookahead | Wait:
    """What follows the stop at `text[at]`; WAIT while that is not certain."""
    limit = min(len(text), at + LOOKAHEAD_CHARS)
    can_grow = is_open and limit == len(text) and limit < at + LOOKAHEAD_CHARS
    stops_end = _skip_pattern(_STOP_RUN, text, at, limit)
    closers_end = _skip_closers(text, at, limit)
    end, next_at = _skip_markers(text, closers_end, limit)
    if can_grow and (next_at == limit or _can_become_marker(text, next_at, limit)):
        return WAIT
    is_line_end = next_at == limit or bool(LINE_BREAK.match(text, next_at))
    return Lookahead(at, stops_end, closers_end, end, next_at, is_line_end, limit, can_grow)


def extend_to_next_line(text: str, end: int, is_open: bool) -> int | None:
    """Where the sentence that ends its line at `end` ends with a next line of markers alone; None: wait."""
    limit = min(len(text), end + LOOKAHEAD_CHARS)
    can_grow = is_open and limit == len(text) and limit < end + LOOKAHEAD_CHARS
    start = _skip_pattern(_SPACE, text, end, limit)
    m = LINE_BREAK.match(text, start, limit)
    if m is None:
        return None if can_grow and start == limit else end
    content_start = _skip_pattern(_SPACE, text, m.end(), limit)
    if content_start == limit or text[content_start] not in MARKER_OPENERS:
        return None if can_grow and content_start == limit else end
    markers_end, following = _skip_markers(text, content_start, limit)
    if can_grow and (following == limit or _can_become_marker(text, following, limit)):
        return None
    is_over = not is_open and following == len(text)
    is_alone = is_over or (following < limit and LINE_BREAK.match(text, following) is not None)
    return markers_end if is_alone else end


def _skip_markers(text: str, start: int, limit: int) -> tuple[int, int]:
    """End of the markers (with closers) after `start`, and the next significant character."""
    end = start
    while True:
        following = _skip_pattern(_SPACE, text, end, limit)
        m = (
            MARKER_BODY.match(text, following, limit)
            if following < limit and text[following] in MARKER_OPENERS
            else None
        )
        if m is None or _is_link(text, m.end()):
            return end, following
        end = _skip_closers(text, m.end(), limit)


def _is_link(text: str, end: int) -> bool:
    """Whether a bracket that ends at `end` is a link's, or the end of one's text."""
    return text.startswith(("(", "]("), end)


def _can_become_marker(text: str, start: int, limit: int) -> bool:
    """Whether `text[start:]` may still become a marker."""
    m = MARKER_BEGINNING.match(text, start, limit)
    return m is not None and m.end() == limit


def _skip_closers(text: str, start: int, limit: int) -> int:
    """End of the stops and closers after `start`; a quote that may open or close closes what stands open."""
    end = _skip_pattern(_CLOSER_RUN, text, start, limit)
    while end < limit and (width := _measure_closing_quote(text, end, limit)):
        end = _skip_pattern(_CLOSER_RUN, text, end + width, limit)
    return end


def _measure_closing_quote(text: str, at: int, limit: int) -> int:
    """Length of the quote at `at` that closes one before it, French space included; 0 if none does."""
    opener = _OPENERS_BY_CLOSER.get(text[at])
    if opener:
        return int(text.rfind(opener, 0, at) > text.rfind(text[at], 0, at))
    is_spaced = text[at] in " \u00a0\u202f" and at + 1 < limit and text[at + 1] == "»"
    return 2 if is_spaced and text.rfind("«", 0, at) > text.rfind("»", 0, at) else 0


def _skip_pattern(pattern: re.Pattern[str], text: str, start: int, limit: int) -> int:
    m = pattern.match(text, start, limit)
    return m.end() if m else start
