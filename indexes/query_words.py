"""Reads questions and passages for their words: stop words by language, tokens, content words. Pure."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from indexes.text.language import WordPack, detect
from indexes.text.words import content_words, words
from indexes.types import Passage

PASSAGES_KEPT = 2_000
"""Passages whose words are remembered: the same ones are found again and again."""

NO_STOPS: frozenset[str] = frozenset()


class Reader:
    """`packs`: stop words by language tag; those of `default` serve a text of no recognised language."""

    def __init__(self, packs: Mapping[str, WordPack], tokens: Callable[[str], Sequence[str]], default: str):
        self._packs = packs
        self._tokens = tokens
        self._default = default
        self._stop_tokens = {
            tag: frozenset(token for word in pack.stop for token in tokens(word))
            for tag, pack in packs.items()
        }
        self.words = lru_cache(PASSAGES_KEPT)(_words)

    def language(self, text: str) -> str:
        return detect(text, self._packs, self._default) or self._default

    def known(self, text: str) -> str | None:
        """The language of `text`, if it can be told."""
        return detect(text, self._packs)

    def tokens(self, text: str) -> list[str]:
        """What to look for in the index: no stop words, which cost time and say nothing, unless all are."""
        tokens = self._tokens(text)
        stop = self._stop_tokens.get(self.language(text), NO_STOPS)
        return [token for token in tokens if token not in stop] or list(tokens)

    def wanted(self, text: str, names: frozenset[str]) -> tuple[str, ...]:
        """The content words of a question: what coverage is the share of."""
        pack = self._packs.get(self.language(text))
        return content_words(text, pack.stop if pack else NO_STOPS, names)


def _words(passage: Passage) -> frozenset[str]:
    """Words of a passage with its title and headings: they say what its text is about."""
    return frozenset(words(" \n ".join((passage.title, *passage.headings, passage.text))))
