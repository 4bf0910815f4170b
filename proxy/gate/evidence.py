"""A source as the gate reads it: its values, words and lines, each worked out once, when first asked for."""

from functools import cached_property

import regex

from indexes.text.folding import fold_text
from indexes.text.language import detect_language
from proxy.domain.types import Source
from proxy.gate.echo import pad_words, split_tokens
from proxy.gate.rules import GateRules
from proxy.gate.values import TextValues, read_values, render_text

_EDGE = regex.compile(r"[\s`'\"“”‘’«»()\[\]{}<>|]")


class SourceText:
    """What one source holds. Cheap to make: nothing is read before a sentence cites it."""

    def __init__(self, source: Source, rules: GateRules) -> None:
        self._rules = rules
        self.number = source.number
        self.text = source.text
        self._language = source.language

    @cached_property
    def values(self) -> TextValues:
        """Its values, read in its own language; unknown: every convention's certain readings."""
        language = (
            self._language
            if self._language in self._rules.values
            else detect_language(self.text, self._rules.words)
        )
        return read_values(render_text(self.text), language, self._rules.values, is_source=True)

    @cached_property
    def padded_words(self) -> str:
        """Its folded words, padded, for runs of words."""
        return pad_words(split_tokens(fold_text(self.text)))

    @cached_property
    def _single_spaced_text(self) -> str:
        return " ".join(self.text.split())

    def has_line(self, line: str) -> bool:
        """Whether `line`, white space folded, stands here between spaces, quotes, brackets or ends."""
        wanted, text = " ".join(line.split()), self._single_spaced_text
        at = text.find(wanted) if wanted else -1
        while at >= 0:
            end = at + len(wanted)
            if _is_edge(text, at - 1) and (_is_edge(text, end) or _is_final_stop(text, end)):
                return True
            at = text.find(wanted, at + 1)
        return False


def _is_edge(text: str, at: int) -> bool:
    return not 0 <= at < len(text) or bool(_EDGE.match(text[at]))


def _is_final_stop(text: str, at: int) -> bool:
    """A sentence's own stop or comma after a quoted line."""
    return text[at] in ".,;:!?" and _is_edge(text, at + 1)
