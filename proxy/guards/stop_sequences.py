"""A client's `stop` sequences, applied to released text: they never go upstream."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StopCut:
    """Text that may go out, and whether a stop sequence ended the answer behind it."""

    text: str
    is_stopped: bool = False


class StopSequences:
    """Holds back only what may be the beginning of a stop sequence.

    `feed(text)` and `finish()` give what may go out; after a hit nothing more ever does. Where sequences
    overlap, the one that is complete first ends the answer, so that the pieces do not matter.
    """

    def __init__(self, sequences: tuple[str, ...]):
        self._sequences = tuple(s for s in sequences if s)
        self._held = ""
        self._is_over = False

    def feed(self, text: str) -> StopCut:
        """The part of all text so far that no stop sequence can reach any more."""
        if self._is_over:
            return StopCut("", True)
        if not self._sequences:
            return StopCut(text)
        self._held += text
        hits = [(start + len(s), start) for s in self._sequences if (start := self._held.find(s)) >= 0]
        if hits:
            return self._end_answer(self._held[: min(hits)[1]], is_stopped=True)
        keep = max(_measure_overlap(self._held, s) for s in self._sequences)
        out, self._held = self._held[: len(self._held) - keep], self._held[len(self._held) - keep :]
        return StopCut(out)

    def finish(self) -> StopCut:
        """What was held back, once no more text comes."""
        return StopCut("", True) if self._is_over else self._end_answer(self._held, is_stopped=False)

    def _end_answer(self, text: str, *, is_stopped: bool) -> StopCut:
        self._held, self._is_over = "", True
        return StopCut(text, is_stopped)


def _measure_overlap(text: str, sequence: str) -> int:
    """Length of the longest end of `text` that begins `sequence`."""
    for size in range(min(len(text), len(sequence) - 1), 0, -1):
        if text.endswith(sequence[:size]):
            return size
    return 0
