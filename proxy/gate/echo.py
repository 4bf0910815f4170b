"""Echo: a run of our own prompt in an answer gives it away, unless a cited source says the same words."""

import re
from collections.abc import Iterable, Sequence

import regex

from indexes.text.folding import fold_text

_TOKEN = regex.compile(r"\p{Han}|[[\p{L}\p{M}\p{N}]--\p{Han}]+", regex.V1)
_ASCII = re.compile("[a-z0-9]+")
_HAN = regex.compile(r"\p{Han}")


def split_tokens(folded: str) -> list[str]:
    """Words of folded text; a Han character is one of its own."""
    return _ASCII.findall(folded) if folded.isascii() else _TOKEN.findall(folded)


def pad_words(words: Iterable[str]) -> str:
    """Words as padded text, in which a run of them is found as a substring."""
    return f" {' '.join(words)} "


class PromptEcho:
    """The runs of `words_min` words of a prompt.

    In Chinese of half as many characters again: `count_words` takes a Han character for two thirds of a word.
    """

    def __init__(self, prompt: str, words_min: int) -> None:
        prompt_words = split_tokens(fold_text(prompt))
        self._words_min, self._han_chars_min = words_min, -(-words_min * 3 // 2)
        self._vocabulary = frozenset(prompt_words)
        self._padded_prompt = pad_words(prompt_words)
        self.tail_words_max = self._han_chars_min - 1
        """How many of the last words before a sentence a run that ends in it may begin in."""

    def find_run(self, words: Sequence[str], own_start: int, padded_sources: Iterable[str]) -> str:
        """The first run of the prompt that ends in `words[own_start:]` and that no cited source holds.

        "" if there is none. Of each source its words are given, padded (`pad_words`).
        """
        if sum(map(self._vocabulary.__contains__, words)) < self._words_min:
            return ""
        padded_texts = list(padded_sources)
        for start, end in self._iterate_stretches(words):
            for at in range(start, end):
                length = self._measure_run(words[at:end])
                phrase = pad_words(words[at : at + length])
                is_ours = length and at + length > own_start and phrase in self._padded_prompt
                if is_ours and not any(phrase in text for text in padded_texts):
                    return phrase.strip()
        return ""

    def _iterate_stretches(self, words: Sequence[str]) -> Iterable[tuple[int, int]]:
        """Half-open stretches of `words` made of the prompt's words alone and long enough to matter."""
        start = 0
        for index in range(len(words) + 1):
            if index == len(words) or words[index] not in self._vocabulary:
                if index - start >= self._words_min:
                    yield start, index
                start = index + 1

    def _measure_run(self, run: Sequence[str]) -> int:
        """How many words of `run`, from its beginning, make a run; 0 if all of it is too short."""
        if len(run) < self._words_min:
            return 0
        han = sum(bool(_HAN.match(word)) for word in run[: self._words_min])
        length = self._han_chars_min if han > self._words_min // 2 else self._words_min
        return length if len(run) >= length else 0
