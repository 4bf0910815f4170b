"""Text in, sentences out: a linear scanner whose look-ahead is explicit and bounded.

Each candidate (a stop or a line break) is decided on the text before it and on at most `LOOK_AHEAD`
characters after it, never on how much of them has come: so sentences do not depend on the pieces. White space
belongs to the sentence after it; markers after a stop, on the same line or alone on the next, to the one
before.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from proxy.gate.endings import Ends
from proxy.gate.lines import Kind, Lines
from proxy.gate.lookahead import BREAK, LOOK_AHEAD, STOPS, WAIT, Wait, look, next_line

BREAKS = "\n\r\u2028\u2029\x85\v\f"
CANDIDATE = re.compile(f"[{STOPS}{BREAKS}]")


@dataclass(slots=True)  # not frozen: made at every sentence, for a fourth of the price
class Unit:
    """A sentence, a line of code or a row of a table, with the white space before it."""

    text: str
    kind: Kind
    opens: bool
    """Whether a line begins with it."""


@dataclass(slots=True)  # not frozen: made at every stop, for a fourth of the price
class Cut:
    """A sentence ends before `end`."""

    end: int


@dataclass(slots=True)  # not frozen: made at every stop, for a fourth of the price
class Skip:
    """No end here; the next candidate is sought from `pos` on."""

    pos: int


Step = Cut | Skip | Wait


class Scanner:
    """Cuts a stream into units. `''.join(u.text for u in units)` is the text, whatever the pieces."""

    def __init__(self, ends: Ends, chars_max: int, count: Callable[[int], None] | None = None) -> None:
        self.held = ""
        """Text that belongs to no finished unit yet."""
        self._ends = ends
        self._held_max = chars_max + 2 * LOOK_AHEAD
        self._lines = Lines()
        self._kind: Kind | None = None
        """Of the line under way; None until something stands in it."""
        self._closed = False
        """Whether that line's kind is final and told to `_lines`."""
        self._start = ""
        """Its beginning, kept for when the rest of it has gone."""
        self._line = 0
        """Where it begins in `held`; negative once that has gone."""
        self._pos = 0
        self._open = True
        self._count = count

    @property
    def overlong(self) -> bool:
        """Whether the unit under way is certainly longer than allowed."""
        return len(self.held) > self._held_max

    def feed(self, text: str) -> list[Unit]:
        """The units that `text` completes."""
        waiting = self._pos < len(self.held)
        self.held += text
        if waiting or CANDIDATE.search(text):
            units = self._units()
        else:  # most deltas: nothing in them can end a sentence
            units, self._pos = [], len(self.held)
        return units

    def finish(self) -> list[Unit]:
        """The text is over: what is left, cut as far as it can be."""
        self._open = False
        units = self._units()
        if self.held:
            if self.held.strip():
                self._close(self.held[max(0, self._line) :])
            units.append(self._take(len(self.held)))
        return units

    def _units(self) -> list[Unit]:
        units: list[Unit] = []
        while m := CANDIDATE.search(self.held, self._pos):
            self._pos = m.start()
            step = self._break() if m.group() in BREAKS else self._stop()
            if self._count:
                self._count(len(self.held[self._pos : self._pos + LOOK_AHEAD]))
            if isinstance(step, Wait):
                return units
            if isinstance(step, Cut):
                units.append(self._take(step.end))
            else:
                self._pos = step.pos
        self._pos = len(self.held)
        return units

    def _take(self, end: int) -> Unit:
        unit = Unit(self.held[:end], self._kind or "text", opens=self._line >= 0)
        self.held = self.held[end:]
        self._line -= end
        self._pos = 0
        return unit

    def _stop(self) -> Step:
        at = self._pos
        if self._kind is None:
            self._start = self.held[self._line : at + 1]
            self._kind = self._lines.kind(self._start)
        if self._kind != "text":
            return Skip(at + 1)
        ahead = look(self.held, at, self._open)
        if isinstance(ahead, Wait):
            return WAIT
        ends = self._ends.at(self.held, self._line, ahead)
        if isinstance(ends, Wait):
            return WAIT
        return self._cut(ahead.end) if ends else Skip(ahead.closed)

    def _cut(self, end: int) -> Step:
        extended = next_line(self.held, end, self._open)
        return WAIT if extended is None else Cut(extended)

    def _break(self) -> Step:
        at = self._pos
        m = BREAK.match(self.held, at)
        if m is None or (self._open and m.end() == len(self.held) and m.group() == "\r"):
            return WAIT
        content = self.held[:at].rstrip()
        if content:
            step = self._cut(len(content))
            if isinstance(step, Cut):
                self._close(self.held[self._line : at])
            return step
        if self._kind is None:
            self._lines.blank()
        elif not self._closed:
            self._close(self._start)
        self._kind, self._closed, self._line = None, False, m.end()
        return Skip(m.end())

    def _close(self, line: str) -> None:
        """The line under way is over, and so its kind is final."""
        if self._line < 0:
            line = self._start
        kind = self._kind or self._lines.kind(line)
        self._kind, self._closed = self._lines.close(kind, line), True
