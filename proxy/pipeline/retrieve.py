"""Steps 3 and 4: what is handed to the model, or nothing. Records by rule, passages above the threshold."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from indexes.records import chosen, render
from indexes.types import Evidence, Hit, Query, Record, Viewer
from proxy.domain.errors import StoreError
from proxy.domain.types import ChatRequest, Source, Trace
from proxy.guards import threshold
from proxy.guards.followup import Followup
from proxy.guards.refusal.pack import KINDS
from proxy.pipeline.context import AnswerContext, Assistant

RECENT = frozenset({"now", "career", "projects", "research", "writing"})
"""What "recently" means: no record is of that kind, but those that have dates tell it, newest first."""


@dataclass(frozen=True, slots=True)
class Grounding:
    """The numbered sources; none of them: refuse. `searched`: names of what was looked into."""

    sources: tuple[Source, ...] = ()
    overview: bool = False
    """The sources are records that were asked for as a whole."""
    item: str = ""
    """The item of an earlier list that the question points at."""
    asked: str = ""
    """The question as it was read: with what a bare follow-up ("yes", "the second") points back to."""
    searched: tuple[str, ...] = ()


@contextmanager
def translate_store_faults() -> Iterator[None]:
    """What goes wrong in the file of the truth is said to be that: a 503, and its reason in the log."""
    try:
        yield
    except sqlite3.Error as fault:
        raise StoreError("The index does not answer.", detail=str(fault)) from fault


async def retrieve_sources(
    request: ChatRequest, persona: Assistant, desk: AnswerContext, trace: Trace
) -> Grounding:
    """What the caller may see that bears on the question."""
    look = _Look(persona, desk, trace)
    kinds = persona.router.overview(request.question) if persona.records else frozenset()
    if kinds and (records := await look.records(_kinds(kinds), persona.evidence_settings.overview_records)):
        return Grounding(records, overview=True)
    read = persona.followup_reader.read(request, await look.titles(request), persona.find_content_words)
    evidence = await desk.finder.find(_query(read, persona, request, trace.language), look.viewer)
    limit = persona.threshold_for(trace.language)
    _note(evidence, limit, trace)
    if threshold.enough(evidence, limit):
        return Grounding(_passages(evidence.hits), item=read.item, asked=_asked(request, read))
    if persona.records and persona.router.about(request.question, _history(request), trace.language):
        return Grounding(
            await look.records(frozenset(), persona.evidence_settings.digest_records),
            asked=_asked(request, read),
            searched=evidence.searched,
        )
    return Grounding(searched=evidence.searched)


class _Look:
    """One caller's eyes on this persona's sources, at one instant."""

    def __init__(self, persona: Assistant, desk: AnswerContext, trace: Trace):
        only = frozenset({trace.language}) if persona.evidence_settings.languages == "reader" else frozenset()
        self.viewer = Viewer(trace.caller.groups, desk.now(), persona.sources, only)
        self._persona = persona
        self._desk = desk
        self._trace = trace

    @property
    def _books(self) -> Viewer:
        return replace(self.viewer, sources=self._persona.records, languages=frozenset())

    async def records(self, kinds: frozenset[str], limit: int) -> tuple[Source, ...]:
        """Records as numbered sources, noted in the trace."""
        language = self._trace.language
        found = await self._desk.book.choose(kinds, self._books, language, limit)
        sources = tuple(_record(number, record, language) for number, record in enumerate(found, 1))
        self._trace.sources = [_shown(source) for source in sources]
        self._trace.mode = "records"
        return sources

    async def titles(self, request: ChatRequest) -> tuple[str, ...]:
        """Titles that a position in a list may mean; only a follow-up needs them."""
        return await self._desk.finder.titles(self.viewer) if request.turns else ()


def _query(read: Followup, persona: Assistant, request: ChatRequest, language: str) -> Query:
    """The subject's name added helps the order and never counts for the threshold."""
    named = bool(persona.names) and persona.router.about(request.question, _history(request), language)
    order = f"{persona.names[0]} {read.texts[0]}" if named else ""
    return Query(read.texts, order, persona.name_words, persona.evidence_settings.limit)


def _kinds(asked: frozenset[str]) -> frozenset[str]:
    """The kinds to choose by; none is every kind, those too that no question has a word for."""
    if asked.issuperset(KINDS):
        return frozenset()
    return asked | RECENT if "recently" in asked else asked


def _asked(request: ChatRequest, read: Followup) -> str:
    if read.bare:
        return read.item or read.previous or request.question
    return f"{request.question}\n{read.item}" if read.item else request.question


def _history(request: ChatRequest) -> str:
    return "\n".join(turn.text for turn in request.turns)


def _passages(hits: tuple[Hit, ...]) -> tuple[Source, ...]:
    return tuple(_passage(number, hit) for number, hit in enumerate(hits, 1))


def _passage(number: int, hit: Hit) -> Source:
    """A passage under the headings it stood below: they say what its sentences are about."""
    passage = hit.passage
    above = " › ".join(heading for heading in passage.headings if heading != passage.title)
    text = f"{above}\n{passage.text}" if above else passage.text
    return Source(number, str(passage.id), passage.title, text, passage.url, passage.language)


def _record(number: int, record: Record, language: str) -> Source:
    tag = chosen(record.text, language)
    title = record.title[chosen(record.title, language)]
    text = render(record, language)
    return Source(number, record.id, title, text, record.url, tag, "record", record.current)


def _note(evidence: Evidence, limit: float, trace: Trace) -> None:
    """The scores of what was found, for the decision log."""
    trace.best, trace.threshold, trace.mode = round(evidence.best, 4), limit, evidence.mode
    trace.embedded = evidence.mode == "hybrid"
    trace.degraded = evidence.degraded
    if evidence.best < limit:
        return
    trace.sources = [
        _shown(source)
        | {
            "document": hit.passage.document_id,
            "similarity": round(hit.similarity, 4),
            "coverage": round(hit.coverage, 4),
            "cosine": None if hit.cosine is None else round(hit.cosine, 4),
        }
        for source, hit in zip(_passages(evidence.hits), evidence.hits, strict=True)
    ]


def _shown(source: Source) -> dict[str, object]:
    return {"number": source.number, "id": source.id, "title": source.title, "url": source.url}
