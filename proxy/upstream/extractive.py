"""Answers without a model: quotes the best sentences of the sources, each with its marker.

The embedded default, for users who want no model at all: no network, no key, no cost. It quotes only what the
gate of the request would release; where nothing fits it says the fixed token.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import regex

from indexes.text.roots import find_roots
from indexes.text.words import tokenize_for_index
from proxy.domain.ports import UpstreamSink
from proxy.domain.types import Source, UpstreamCall, UpstreamEnd, Usage

SHARED_WORDS_MIN = 2
"""Content words that a sentence must share with a question of as many: one alone is chance."""
SentenceSplitter = Callable[[str, str], Sequence[str]]
"""(text, language) → its sentences: the gate's own scanner, so that both see the same ones."""

_LIST_MARK = regex.compile(r"^\s*(?:[-*+•]|\d{1,2}[.)])\s+")
_HEADING = regex.compile(r"^\s*#{1,6}\s|^\s*(?:[-*_]\s*){3,}$|^\s*(?:=+|-+)\s*$")
_TABLE_ROW = regex.compile(r"^\s*\|.*\|\s*$")
_TABLE_RULE = regex.compile(r"^\s*\|[\s:|-]+\|\s*$")
_SENTENCE_END = regex.compile(r"([.!?…。！？।؟۔]+[\"'”’»」』)\]]*)$")


@dataclass(frozen=True, slots=True)
class QuoteUnit:
    """One sentence or table row that may be quoted: `head` is what must stand above a row."""

    source: Source
    order: int
    text: str
    head: str = ""

    @property
    def table_key(self) -> tuple[int, str] | None:
        """What rows of one table have in common."""
        return (self.source.number, self.head) if self.head else None

    def format_quote(self) -> str:
        """The text with its marker before the final stop, as the prompt asks of a model."""
        mark = f"[{self.source.number}]"
        if self.head:
            return f"{self.head}\n{self.text.rstrip().removesuffix('|').rstrip()} {mark} |"
        if _SENTENCE_END.search(self.text):
            return _SENTENCE_END.sub(rf" {mark}\1", self.text)
        return f"{self.text} {mark}"


class ExtractiveUpstream:
    """An upstream that only quotes."""

    name = "extractive"

    def __init__(self, split_sentences: SentenceSplitter, sentences_max: int = 3):
        self._split_sentences = split_sentences
        self._sentences_max = sentences_max

    def encode_body(self, call: UpstreamCall) -> bytes:
        """Nothing is sent anywhere."""
        return b""

    async def run(self, call: UpstreamCall, sink: UpstreamSink) -> UpstreamEnd:
        """Pushes the chosen quotations one by one; the token of the prompt where there are none."""
        sink.push_usage(Usage(0, 0))
        chosen = self.choose_units(call)
        if not chosen:
            sink.push_text(call.token)
            return UpstreamEnd("stop")
        for piece in _join_quotes(chosen, is_overview=call.is_overview):
            more = sink.push_text(piece)
            await sink.flush()
            if not more:
                return UpstreamEnd("sink_stopped")
        return UpstreamEnd("stop")

    def choose_units(self, call: UpstreamCall) -> list[QuoteUnit]:
        """The units to quote: for an overview every line of each record, else those nearest the question.

        What the reader's language says is not said again in another; only where it says nothing, others do.
        """
        units = [unit for source in call.sources for unit in iterate_units(source, self._split_sentences)]
        if call.is_overview:
            return [unit for unit in units if call.would_release(unit.format_quote())]
        ranked = self._rank_units(call, units)
        best = ranked[0][0] if ranked else 0
        near = [unit for score, unit in ranked if score >= best / 2]
        own = [unit for unit in near if unit.source.language in (None, call.language)]
        chosen = self._filter_releasable(call, own) or self._filter_releasable(call, near)
        return sorted(chosen, key=lambda unit: (unit.source.number, unit.order))

    def _filter_releasable(self, call: UpstreamCall, units: Iterable[QuoteUnit]) -> list[QuoteUnit]:
        """The first that the gate would release, as many as may be quoted."""
        passing = (unit for unit in units if call.would_release(unit.format_quote()))
        return list(islice(passing, self._sentences_max))

    def _rank_units(self, call: UpstreamCall, units: list[QuoteUnit]) -> list[tuple[float, QuoteUnit]]:
        """Units that share enough content words with the question, rarer words weighing more, best first."""
        wanted = _find_roots(" ".join(call.content_words))
        shared = [wanted & _find_roots(f"{unit.head} {unit.text}") for unit in units]
        unit_counts = Counter(word for words in shared for word in words)
        weights = {word: math.log(1 + len(units) / (1 + unit_counts[word])) for word in wanted}
        shared_min = min(SHARED_WORDS_MIN, len(wanted))
        scored = [
            (sum(weights[word] for word in words), unit)
            for unit, words in zip(units, shared, strict=True)
            if words and len(words) >= shared_min
        ]
        return sorted(scored, key=lambda pair: -pair[0])


def iterate_units(source: Source, split_sentences: SentenceSplitter) -> Iterator[QuoteUnit]:
    """Every sentence, list item and table row of a source; headings, rules and code are not quoted."""
    head: list[str] = []
    order, fenced = 0, False
    for line in source.text.splitlines():
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        elif _TABLE_ROW.match(line) and not fenced:
            if len(head) < 2 or _TABLE_RULE.match(line):
                head.append(line.strip())
            else:
                order += 1
                yield QuoteUnit(source, order, line.strip(), "\n".join(head))
            continue
        elif not fenced and line.strip() and not _HEADING.match(line):
            for sentence in split_sentences(_LIST_MARK.sub("", line), source.language or ""):
                order += 1
                yield QuoteUnit(source, order, sentence.strip())
        head = []


def _join_quotes(chosen: Sequence[QuoteUnit], *, is_overview: bool) -> Iterator[str]:
    """The quotations with what stands between them: rows of one table follow under one head."""
    for before, unit, after in zip((None, *chosen), chosen, (*chosen[1:], None), strict=False):
        text = unit.format_quote()
        if before and before.table_key and before.table_key == unit.table_key:
            text = text.removeprefix(f"{unit.head}\n")
        yield text + _choose_gap(unit, after, is_overview=is_overview)


def _choose_gap(unit: QuoteUnit, after: QuoteUnit | None, *, is_overview: bool) -> str:
    """A table ends with an empty line, as does a record."""
    if unit.table_key:
        return "\n" if after and after.table_key == unit.table_key else "\n\n"
    if is_overview:
        return "\n\n" if after and after.source is not unit.source else "\n"
    return " "


def _find_roots(text: str) -> frozenset[str]:
    """What inflected forms of its words have in common: "lasts" answers a question about "last"."""
    return frozenset(find_roots(tokenize_for_index(text)))
