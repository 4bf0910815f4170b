"""Text in, sentences out: a linear scanner whose look-ahead is explicit and bounded.

Each candidate (a stop or a line break) is decided on the text before it and on a bounded number of
characters after it, never on how much of them has come: so sentences do not depend on the pieces. White space
belongs to the sentence after it; markers after a stop, on the same line or alone on the next, to the one
before.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from proxy.gate.endings import SentenceEndDetector
from proxy.gate.lines import LineClassifier, LineKind
from proxy.gate.lookahead import (
    LINE_BREAK,
    LOOKAHEAD_CHARS,
    STOPS,
    WAIT,
    Wait,
    extend_to_next_line,
    read_lookahead,
)

LINE_BREAK_CHARS = "\n\r\u2028\u2029\x85\v\f"
CANDIDATE = re.compile(f"[{STOPS}{LINE_BREAK_CHARS}]")


@dataclass(slots=True)  # not frozen: made at every sentence, for a fourth of the price
class SentenceSpan:
    """A unit of an answer: a sentence, a line of code or a row of a table, with the white space before it."""

    text: str
    kind: LineKind
    is_line_start: bool
    """Whether a line begins with it."""


@dataclass(slots=True)  # not frozen: made at every stop, for a fourth of the price
class SentenceCut:
    """A sentence ends before `end`."""

    end: int


@dataclass(slots=True)  # not frozen: made at every stop, for a fourth of the price
class CandidateSkip:
    """No end here; the next candidate is sought from `position` on."""

    position: int


ScanStep = SentenceCut | CandidateSkip | Wait


class SentenceScanner:
    """Cuts a stream into units. `''.join(u.text for u in units)` is the text, whatever the pieces.

    `chars_max` is the longest unit allowed; `count_chars` is called with the characters that each
    decision may look at.
    """

    def __init__(
        self,
        end_detector: SentenceEndDetector,
        chars_max: int,
        count_chars: Callable[[int], None] | None = None,
    ) -> None:
        self.pending_text = ""
        """Text that belongs to no finished unit yet."""
        self._end_detector = end_detector
        self._pending_chars_max = chars_max + 2 * LOOKAHEAD_CHARS
        self._line_classifier = LineClassifier()
        self._kind: LineKind | None = None
        """Of the line under way; None until something stands in it."""
        self._is_line_closed = False
        """Whether that line's kind is final and told to `_line_classifier`."""
        self._line_beginning = ""
        """Its beginning, kept for when the rest of it has gone."""
        self._line_start = 0
        """Where it begins in `pending_text`; negative once that has gone."""
        self._position = 0
        """How far `pending_text` is decided."""
        self._is_open = True
        self._count_chars = count_chars

    @property
    def is_overlong(self) -> bool:
        """Whether the unit under way is certainly longer than allowed."""
        return len(self.pending_text) > self._pending_chars_max

    def feed(self, text: str) -> list[SentenceSpan]:
        """The units that `text` completes."""
        is_waiting = self._position < len(self.pending_text)
        self.pending_text += text
        if is_waiting or CANDIDATE.search(text):
            units = self._cut_units()
        else:  # most deltas: nothing in them can end a sentence
            units, self._position = [], len(self.pending_text)
        return units

    def finish(self) -> list[SentenceSpan]:
        """The text is over: what is left, cut as far as it can be."""
        self._is_open = False
        units = self._cut_units()
        if self.pending_text:
            if self.pending_text.strip():
                self._close_line(self.pending_text[max(0, self._line_start) :])
            units.append(self._take_unit(len(self.pending_text)))
        return units

    def _cut_units(self) -> list[SentenceSpan]:
        units: list[SentenceSpan] = []
        while m := CANDIDATE.search(self.pending_text, self._position):
            self._position = m.start()
            step = self._decide_line_break() if m.group() in LINE_BREAK_CHARS else self._decide_stop()
            if self._count_chars:
                self._count_chars(len(self.pending_text[self._position : self._position + LOOKAHEAD_CHARS]))
            if isinstance(step, Wait):
                return units
            if isinstance(step, SentenceCut):
                units.append(self._take_unit(step.end))
            else:
                self._position = step.position
        self._position = len(self.pending_text)
        return units

    def _take_unit(self, end: int) -> SentenceSpan:
        unit = SentenceSpan(
            self.pending_text[:end], self._kind or "text", is_line_start=self._line_start >= 0
        )
        self.pending_text = self.pending_text[end:]
        self._line_start -= end
        self._position = 0
        return unit

    def _decide_stop(self) -> ScanStep:
        at = self._position
        if self._kind is None:
            self._line_beginning = self.pending_text[self._line_start : at + 1]
            self._kind = self._line_classifier.classify_start(self._line_beginning)
        if self._kind != "text":
            return CandidateSkip(at + 1)
        ahead = read_lookahead(self.pending_text, at, self._is_open)
        if isinstance(ahead, Wait):
            return WAIT
        is_end = self._end_detector.decide_end(self.pending_text, self._line_start, ahead)
        if isinstance(is_end, Wait):
            return WAIT
        return self._decide_cut(ahead.end) if is_end else CandidateSkip(ahead.closers_end)

    def _decide_cut(self, end: int) -> ScanStep:
        extended = extend_to_next_line(self.pending_text, end, self._is_open)
        return WAIT if extended is None else SentenceCut(extended)

    def _decide_line_break(self) -> ScanStep:
        at = self._position
        m = LINE_BREAK.match(self.pending_text, at)
        if m is None or (self._is_open and m.end() == len(self.pending_text) and m.group() == "\r"):
            return WAIT
        content = self.pending_text[:at].rstrip()
        if content:
            step = self._decide_cut(len(content))
            if isinstance(step, SentenceCut):
                self._close_line(self.pending_text[self._line_start : at])
            return step
        if self._kind is None:
            self._line_classifier.mark_blank_line()
        elif not self._is_line_closed:
            self._close_line(self._line_beginning)
        self._kind, self._is_line_closed, self._line_start = None, False, m.end()
        return CandidateSkip(m.end())

    def _close_line(self, line: str) -> None:
        """The line under way is over, and so its kind is final."""
        if self._line_start < 0:
            line = self._line_beginning
        kind = self._kind or self._line_classifier.classify_start(line)
        self._kind, self._is_line_closed = self._line_classifier.close_line(kind, line), True
