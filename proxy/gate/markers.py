"""Markers: `[n]` in the answer, one grammar for the scanner, the checks and the stripping."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

MARKER_OPENERS = "[【［"
_NUMBER = r"[^\S\r\n]*+\^?[^\S\r\n]*+\d{1,3}+[^\S\r\n]*+"
_LIST = rf"{_NUMBER}(?:[,;،؛、，；\-‐‑–—−]{_NUMBER}){{0,31}}+"
_FORM = rf"(?:\[\[{_LIST}\]\]|\[{_LIST}\]|【{_LIST}】|［{_LIST}］)"
MARKER_BODY = re.compile(_FORM)
"""A marker's own characters; whether it is one depends on what follows (see `MARKER`)."""
MARKER = re.compile(rf"{_FORM}(?!\]?\()")
"""A marker; a bracket followed by `(` is a link."""
MARKER_BEGINNING = re.compile(r"[\[【［]{1,2}[\^\d,;،؛、，；\-‐‑–—− \t\u00a0\u202f\u2009]{0,64}[\]】］]{0,2}")
"""What may still become a marker when more text comes."""

_RANGE = re.compile(r"[-‐‑–—−]")
_DIGITS = re.compile(r"\d+|[-‐‑–—−]")
_TICKS = re.compile(r"`+")
_SPACE = " \t\u00a0\u202f\u2009\u3000"


@dataclass(slots=True)  # not frozen: made at every marker, for a fourth of the price
class Marker:
    """One marker at `start:end` of a sentence; `numbers` in order, ranges written out."""

    start: int
    end: int
    numbers: tuple[int, ...]


def find_code_spans(text: str) -> list[tuple[int, int]]:
    """Half-open spans between backtick runs of equal length, as CommonMark pairs them; linear."""
    runs = [(m.start(), m.end()) for m in _TICKS.finditer(text)]
    indexes_by_length: dict[int, list[int]] = {}  # the first index last
    for index in range(len(runs) - 1, -1, -1):
        indexes_by_length.setdefault(runs[index][1] - runs[index][0], []).append(index)
    spans, index = [], 0
    while index < len(runs):
        closers = indexes_by_length[runs[index][1] - runs[index][0]]
        while closers and closers[-1] <= index:
            closers.pop()
        if not closers:
            index += 1
            continue
        spans.append((runs[index][0], runs[closers[-1]][1]))
        index = closers[-1] + 1
    return spans


def find_markers(text: str) -> tuple[Marker, ...]:
    """All markers of a sentence, those in code spans left out."""
    if "[" not in text and "【" not in text and "［" not in text:
        return ()
    matches = MARKER.finditer(text)
    if "`" in text:
        spans = find_code_spans(text)
        matches = (m for m in matches if not _is_inside(m, spans))
    return tuple(Marker(m.start(), m.end(), _parse_numbers(m.group())) for m in matches)


def strip_markers(text: str, markers: Sequence[Marker]) -> str:
    """`text` without `markers` and without the horizontal space before each."""
    parts, at = [], 0
    for marker in markers:
        parts.append(text[at : marker.start].rstrip(_SPACE))
        at = marker.end
    return "".join([*parts, text[at:]])


def find_stray_number(text: str) -> str:
    """The first bracketed number left when markers are gone; "" if none. `[7](…)` and code are values."""
    if "[" not in text and "【" not in text and "［" not in text:
        return ""
    spans = find_code_spans(text) if "`" in text else []
    for m in MARKER_BODY.finditer(text):
        is_link = text[m.end() : m.end() + 1] == "(" and text[m.start() + 1] not in MARKER_OPENERS
        if not is_link and not _is_inside(m, spans):
            return m.group()
    return ""


def _is_inside(match: re.Match[str], spans: Sequence[tuple[int, int]]) -> bool:
    return any(start <= match.start() < end for start, end in spans)


@lru_cache(maxsize=512)
def _parse_numbers(marker: str) -> tuple[int, ...]:
    """The numbers of a marker in order: `[1, 3-5]` gives 1, 3, 4, 5."""
    parts = _DIGITS.findall(marker)
    listed = [int(part) for part in parts if not _RANGE.match(part)]
    if len(listed) == len(parts):
        return tuple(listed)
    numbers: list[int] = []
    for left, right in pairwise([*parts, ""]):
        if _RANGE.match(left):
            numbers.extend(range(numbers[-1] + 1, int(right)))
        else:
            numbers.append(int(left))
    return tuple(numbers)
