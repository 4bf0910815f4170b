"""Echo: a run of our own prompt in an answer gives it away, unless a cited source says the same words."""

import re
from collections.abc import Iterable, Sequence

import regex

from indexes.text.folding import fold_text

_TOKEN = regex.compile(r"\p{Han}|[[\p{L}\p{M}\p{N}]--\p{Han}]+", regex.V1)
_ASCII = re.compile("[a-z0-9]+")
_HAN = regex.compile(r"\p{Han}")


def tokens(folded: str) -> list[str]:
    """Words of folded text; a Han character is one of its own."""
    return _ASCII.findall(folded) if folded.isascii() else _TOKEN.findall(folded)


def joined(words: Iterable[str]) -> str:
    """Words as padded text, in which a run of them is found as a substring."""
    return f" {' '.join(words)} "


class Echo:
    """The runs of `words` words of a prompt; in Chinese of half as many characters again (DESIGN's 2/3)."""

    def __init__(self, prompt: str, words: int) -> None:
        known = tokens(fold_text(prompt))
        self._words, self._han = words, -(-words * 3 // 2)
        self._known = frozenset(known)
        self._text = joined(known)
        self.tail = self._han - 1
        """Words of the text before that a run may begin in."""

    def find(self, said: Sequence[str], new: int, cited: Iterable[str]) -> str:
        """The first run of the prompt that ends in `said[new:]` and that no `cited` text (`joined`) holds."""
        if sum(map(self._known.__contains__, said)) < self._words:
            return ""
        texts = list(cited)
        for start, end in self._stretches(said):
            for at in range(start, end):
                length = self._length(said[at:end])
                phrase = joined(said[at : at + length])
                ours = length and at + length > new and phrase in self._text
                if ours and not any(phrase in text for text in texts):
                    return phrase.strip()
        return ""

    def _stretches(self, said: Sequence[str]) -> Iterable[tuple[int, int]]:
        """Half-open stretches of `said` made of the prompt's words alone and long enough to matter."""
        start = 0
        for index in range(len(said) + 1):
            if index == len(said) or said[index] not in self._known:
                if index - start >= self._words:
                    yield start, index
                start = index + 1

    def _length(self, run: Sequence[str]) -> int:
        """How many words of `run`, from its beginning, make a run; 0 if all of it is too short."""
        if len(run) < self._words:
            return 0
        han = sum(bool(_HAN.match(word)) for word in run[: self._words])
        length = self._han if han > self._words // 2 else self._words
        return length if len(run) >= length else 0
