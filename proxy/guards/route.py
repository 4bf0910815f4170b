"""Routing by rule: overview questions go to records, and whether a question is about the subject at all."""

from collections.abc import Mapping, Sequence

import regex

from proxy.guards.refusal.pack import RECORD_KINDS, RefusePack
from proxy.guards.refusal.padding import fold_and_pad
from proxy.guards.refusal.patterns import PatternSet, prove_rules
from proxy.guards.refusal.subject_names import SubjectNames


class OverviewRouter:
    """Reads what a question is after. Raises `ConfigError` for patterns that cannot be trusted."""

    def __init__(self, packs: Mapping[str, RefusePack], names: Sequence[str]):
        self._names = SubjectNames(names, packs.values())
        self._polite = {tag: _compile_any_word(pack.polite) for tag, pack in packs.items() if pack.polite}
        self._pronouns = {tag: frozenset(pack.about) for tag, pack in packs.items()}
        self._patterns = PatternSet(
            [
                pattern
                for tag, pack in packs.items()
                for pattern in prove_rules(pack.overview, tag, pack, f"{tag}/refuse.toml")
            ]
        )

    def find_overview_kinds(self, question: str) -> frozenset[str]:
        """The kinds of records that a question about the work as a whole asks for; empty: it is none."""
        line = fold_and_pad(question)
        readings = dict.fromkeys(self._names.list_readings(line))
        kinds = {hit.topic for text in readings for hit in self._patterns.find_hits(text)}
        return frozenset(RECORD_KINDS) if "all" in kinds else frozenset(kinds)

    def is_about_subject(self, question: str, history: str = "", language: str = "en") -> bool:
        """Whether it is about the subject: a name of it, or a third-person pronoun after one ("you" never).

        `history`: the earlier turns as one text. The caller asks only where there are records.
        """
        line = fold_and_pad(question)
        if self._names.has_match(line):
            return True
        if polite := self._polite.get(language):
            line = fold_and_pad(polite.sub(" ", question))
        return self._has_pronoun(line, language) and self._names.has_match(fold_and_pad(history))

    def _has_pronoun(self, line: str, language: str) -> bool:
        """Whether a pronoun of `language` stands in padded `line`; in Han text anywhere."""
        return any(
            pronoun in line if _is_han(pronoun) else f" {pronoun} " in line
            for pronoun in self._pronouns.get(language, frozenset())
        )


def _compile_any_word(words: Sequence[str]) -> regex.Pattern[str]:
    """Any of the words, whole and in this very case."""
    return regex.compile(r"(?<![\p{L}\p{M}\p{N}])(?:" + "|".join(words) + r")(?![\p{L}\p{M}\p{N}])")


def _is_han(text: str) -> bool:
    """Told by the first character: Han begins at U+3400, behind the scripts of all other packs."""
    return text >= "\u3400"
