"""The words that patterns look for, and how a run of letters is parted into them."""

from collections.abc import Iterable, Iterator

LETTERS_MIN = 3
"""Shorter words stand inside too many others."""


class Vocabulary:
    """Words and beginnings of words.

    `literals` as patterns need them: ` whole ` between spaces, ` beginning` behind one; others say nothing.
    """

    def __init__(self, literals: Iterable[str]):
        words = [text for text in literals if text.startswith(" ") and len(text.split()) == 1]
        self._whole = frozenset(text.strip() for text in words if text.endswith(" "))
        self._beginnings = frozenset(text.strip() for text in words if not text.endswith(" "))
        self._longest = max(map(len, self._whole | self._beginnings), default=0)

    def has_word(self, word: str) -> bool:
        """Whether a word of more than three letters is looked for."""
        ends = range(LETTERS_MIN + 1, min(len(word), self._longest) + 1)
        return bool(ends) and (word in self._whole or any(word[:end] in self._beginnings for end in ends))

    def split_run(self, run: str) -> list[str]:
        """The words of `run`, such that as few letters as can be belong to none; those are apart.

        Linear in the run, since words have a greatest length.
        """
        best = [(0, 0)]  # for each end, what `_iterate_splits` gives for the best last piece
        for end in range(1, len(run) + 1):
            best.append(min(self._iterate_splits(run, end, best)))
        pieces: list[str] = []
        end = len(run)
        while end:
            start = end + best[end][1]
            pieces.append(run[start:end])
            end = start
        return self._join_letters(reversed(pieces))

    def _iterate_splits(self, run: str, end: int, best: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
        """Letters of no word up to `end`, and minus the length of the last piece, for each last piece."""
        yield best[end - 1][0] + 1, -1
        for length in range(LETTERS_MIN, min(end, self._longest) + 1):
            piece = run[end - length : end]
            if piece in self._whole or piece in self._beginnings:
                yield best[end - length][0], -length

    def _join_letters(self, pieces: Iterable[str]) -> list[str]:
        """Single letters joined to one another, or to the beginning that they complete."""
        words: list[str] = []
        is_open = False
        for piece in pieces:
            is_letter = len(piece) == 1
            if is_letter and is_open:
                words[-1] += piece
            else:
                words.append(piece)
            is_open = is_letter or piece in self._beginnings
        return words
