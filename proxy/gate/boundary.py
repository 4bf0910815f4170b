"""Boundaries: sentences are checked apart but read together, so nothing may arise where two of them meet."""

from collections.abc import Sequence

import regex

from proxy.gate.evidence import SourceText
from proxy.gate.rules import GateRules
from proxy.gate.values import TextValues, find_missing_value, read_values, render_text

RUN_CHARS_MAX = 80
"""Characters on each side of a boundary that are read together."""
_ADDRESS_POINTS = "。｡܁۔"
"""Stops that a browser, or a reader, takes for the point of an address."""
HEAD_CHARS_MAX = 2 * RUN_CHARS_MAX
"""Characters after a boundary that are looked at, white space before the run included."""

_TAIL = regex.compile(r"(?r)\S{1,80}")
_HEAD = regex.compile(r"\S{1,80}")
_SOFT_BREAK = regex.compile(r"(?:\r\n?|[\n\u2028\u2029\x85\v\f])[^\S\r\n]*(?=\p{Nd}{3}|\p{L})")
"""A soft line break before what may go on with a number: `12⏎500`, `5⏎million`."""


def extract_tail(text: str, previous_tail: str) -> str:
    """What of the released text a next sentence may fuse with: the run that `text` ends in.

    `previous_tail` is the same of the text before it, needed where `text` is one run with it.
    """
    m = _TAIL.match(text)
    if m is None:
        return ""
    return (previous_tail + m.group())[-RUN_CHARS_MAX:] if m.start() == 0 else m.group()


def join_across_boundary(tail: str, text: str) -> tuple[str, int]:
    """The run that the tail before it and the beginning of `text` make, and where they meet; ("", 0): none.

    A soft line break after a digit reads as a space does: before three more, or before `million`.
    """
    if not tail or text.startswith(" "):
        return "", 0  # so most sentences begin
    tail, text, gap = render_text(tail), render_text(text[:HEAD_CHARS_MAX]), ""
    if tail[-1:].isdigit() and (m := _SOFT_BREAK.match(text)):
        gap, text = " ", text[m.end() :]
    head = _HEAD.match(text)
    if not tail or head is None or not _can_join(tail[-1]):
        return "", 0
    return tail + gap + head.group(), len(tail)


def _can_join(char: str) -> bool:
    return char.isascii() or char.isdigit() or char in _ADDRESS_POINTS


def read_crossing_values(run: str, at: int, language: str, rules: GateRules) -> TextValues:
    """The values of `run` that reach over `at`, and its markup."""
    values = read_values(run, language, rules.values, spelled=False, is_line_start=False)
    over = tuple(v for v in values.items if v.start < at < v.end)
    return TextValues(over, "", values.markup)


def find_unsupported_value(values: TextValues, sources: Sequence[SourceText]) -> str:
    """The first value over the boundary that no cited source holds; "" if all are held."""
    missing_value = find_missing_value(values, [source.values for source in sources])
    return missing_value.text if missing_value else ""
