"""Reads questions and passages for their words: stop words by language, tokens, content words. Pure."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from indexes.text.language import WordPack, detect_language
from indexes.text.words import find_content_words, split_words
from indexes.types import Passage

PASSAGES_KEPT = 2_000
"""Passages whose words are remembered: the same ones are found again and again."""

NO_STOPS: frozenset[str] = frozenset()


class QueryWordReader:
    """`packs`: stop words by language tag. `default_language`: whose serve where none is recognised."""

    def __init__(
        self, packs: Mapping[str, WordPack], tokenize: Callable[[str], Sequence[str]], default_language: str
    ):
        self._packs = packs
        self._tokenize = tokenize
        self._default_language = default_language
        self._stop_tokens = {
            tag: frozenset(token for word in pack.stop for token in tokenize(word))
            for tag, pack in packs.items()
        }
        self.split_passage_words = lru_cache(PASSAGES_KEPT)(_split_passage_words)

    def choose_language(self, text: str) -> str:
        """The language whose stop words serve `text`."""
        return detect_language(text, self._packs, self._default_language) or self._default_language

    def recognize_language(self, text: str) -> str | None:
        """The language of `text`, if it can be told."""
        return detect_language(text, self._packs)

    def tokenize_query(self, text: str) -> list[str]:
        """What to look for in the index: no stop words, which cost time and say nothing, unless all are."""
        tokens = self._tokenize(text)
        stop = self._stop_tokens.get(self.choose_language(text), NO_STOPS)
        return [token for token in tokens if token not in stop] or list(tokens)

    def find_question_words(self, text: str, subject_names: frozenset[str]) -> tuple[str, ...]:
        """The content words of a question: what coverage is the share of."""
        pack = self._packs.get(self.choose_language(text))
        return find_content_words(text, pack.stop if pack else NO_STOPS, subject_names)


def _split_passage_words(passage: Passage) -> frozenset[str]:
    """Words of a passage with its title and headings: they say what its text is about."""
    return frozenset(split_words(" \n ".join((passage.title, *passage.headings, passage.text))))
