"""A client's `stop` sequences, applied to released text: they never go upstream."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cut:
    """Text that may go out, and whether a stop sequence ended the answer behind it."""

    text: str
    stopped: bool = False


class Stops:
    """Holds back only what may be the beginning of a stop sequence.

    `feed(text)` and `finish()` give what may go out; after a hit nothing more ever does. Where sequences
    overlap, the one that is complete first ends the answer, so that the pieces do not matter.
    """

    def __init__(self, sequences: tuple[str, ...]):
        self._sequences = tuple(s for s in sequences if s)
        self._held = ""
        self._over = False

    def feed(self, text: str) -> Cut:
        """The part of all text so far that no stop sequence can reach any more."""
        if self._over:
            return Cut("", True)
        if not self._sequences:
            return Cut(text)
        self._held += text
        hits = [(at + len(s), at) for s in self._sequences if (at := self._held.find(s)) >= 0]
        if hits:
            return self._end(self._held[: min(hits)[1]], stopped=True)
        keep = max(_overlap(self._held, s) for s in self._sequences)
        out, self._held = self._held[: len(self._held) - keep], self._held[len(self._held) - keep :]
        return Cut(out)

    def finish(self) -> Cut:
        """What was held back, once no more text comes."""
        return Cut("", True) if self._over else self._end(self._held, stopped=False)

    def _end(self, text: str, *, stopped: bool) -> Cut:
        self._held, self._over = "", True
        return Cut(text, stopped)


def _overlap(text: str, sequence: str) -> int:
    """Length of the longest end of `text` that begins `sequence`."""
    for size in range(min(len(text), len(sequence) - 1), 0, -1):
        if text.endswith(sequence[:size]):
            return size
    return 0
