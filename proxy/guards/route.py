"""Routing by rule: overview questions go to records, and whether a question is about the subject at all."""

from collections.abc import Mapping, Sequence

import regex

from proxy.guards.refusal.pack import KINDS, RefusePack
from proxy.guards.refusal.patterns import Patterns, prove
from proxy.guards.refusal.phrases import prepared
from proxy.guards.refusal.subject_names import Names


class Router:
    """Reads what a question is after. Raises `ConfigError` for patterns that cannot be trusted."""

    def __init__(self, packs: Mapping[str, RefusePack], names: Sequence[str]):
        self._names = Names(names, packs.values())
        self._polite = {tag: _any(pack.polite) for tag, pack in packs.items() if pack.polite}
        self._pronouns = {tag: frozenset(pack.about) for tag, pack in packs.items()}
        self._patterns = Patterns(
            [
                pattern
                for tag, pack in packs.items()
                for pattern in prove(pack.overview, tag, pack, f"{tag}/refuse.toml")
            ]
        )

    def overview(self, question: str) -> frozenset[str]:
        """The kinds of records that a question about the work as a whole asks for; empty: it is none."""
        line = prepared(question)
        readings = dict.fromkeys(self._names.readings(line))
        kinds = {hit.topic for text in readings for hit in self._patterns.find(text)}
        return frozenset(KINDS) if "all" in kinds else frozenset(kinds)

    def about(self, question: str, history: str = "", language: str = "en") -> bool:
        """Whether it is about the subject: a name of it, or a third-person pronoun after one ("you" never).

        `history`: the earlier turns as one text. The caller asks only where there are records.
        """
        line = prepared(question)
        if self._names.among(line):
            return True
        if polite := self._polite.get(language):
            line = prepared(polite.sub(" ", question))
        return self._points(line, language) and self._names.among(prepared(history))

    def _points(self, line: str, language: str) -> bool:
        """Whether a pronoun of `language` stands in padded `line`; in Han text anywhere."""
        return any(
            pronoun in line if _is_han(pronoun) else f" {pronoun} " in line
            for pronoun in self._pronouns.get(language, frozenset())
        )


def _any(words: Sequence[str]) -> regex.Pattern[str]:
    """Any of the words, whole and in this very case."""
    return regex.compile(r"(?<![\p{L}\p{M}\p{N}])(?:" + "|".join(words) + r")(?![\p{L}\p{M}\p{N}])")


def _is_han(text: str) -> bool:
    return text >= "\u3400" and not text.isascii()
