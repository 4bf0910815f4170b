"""Steps 3 and 4: what is handed to the model, or nothing. Records by rule, passages above the threshold."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from indexes.records import choose_language_tag, render_record
from indexes.types import Evidence, Hit, Query, Record, Viewer
from proxy.domain.errors import StoreError
from proxy.domain.trace import RetrievalTrace
from proxy.domain.types import ChatRequest, Source
from proxy.guards import threshold
from proxy.guards.followup import Followup
from proxy.guards.refusal.pack import RECORD_KINDS
from proxy.pipeline.context import AnswerContext, ServedRequest

RECENT_KINDS = frozenset({"now", "career", "projects", "research", "writing"})
"""What "recently" means: no record is of that kind, but those that have dates tell it, newest first."""


@dataclass(frozen=True, slots=True)
class Grounding:
    """The numbered sources; none of them: refuse. `searched`: names of what was looked into."""

    trace: RetrievalTrace
    sources: tuple[Source, ...] = ()
    is_overview: bool = False
    """The sources are records that were asked for as a whole."""
    item: str = ""
    """The item of an earlier list that the question points at."""
    question: str = ""
    """The question as it was read: with what a bare follow-up ("yes", "the second") points back to."""
    searched: tuple[str, ...] = ()


@contextmanager
def translate_store_faults() -> Iterator[None]:
    """What goes wrong in the file of the truth becomes a `StoreError`: a 503, and its reason in the log."""
    try:
        yield
    except sqlite3.Error as fault:
        raise StoreError("The index does not answer.", detail=str(fault)) from fault


async def retrieve_sources(served: ServedRequest, context: AnswerContext) -> Grounding:
    """What the answer may stand on.

    An overview question gets records. Any other gets passages that reach the threshold; where none do, and it
    is about the subject, the first of all records.
    """
    """What the caller may see that bears on the question."""
    query = SourceQuery(served, context)
    request, assistant = served.request, served.assistant
    kinds = assistant.router.find_overview_kinds(request.question) if assistant.records else frozenset()
    if kinds:  # step 3
        records = await query.choose_records(widen_kinds(kinds), assistant.evidence_settings.overview_records)
        if records:
            return Grounding(trace_records(records, RetrievalTrace()), records, is_overview=True)
    titles = await query.list_titles()  # step 4
    followup = assistant.followup_reader.read_followup(request, titles, assistant.find_content_words)
    evidence = await context.evidence_finder.find_evidence(build_query(followup, served), query.viewer)
    similarity_min = assistant.threshold_for(served.language)
    trace, question = trace_evidence(evidence, similarity_min), read_question(request, followup)
    if threshold.has_enough_evidence(evidence, similarity_min):
        return Grounding(trace, number_passages(evidence.hits), item=followup.item, question=question)
    if not (assistant.records and is_about_subject(served)):
        return Grounding(trace, searched=evidence.searched_sources)
    records = await query.choose_records(frozenset(), assistant.evidence_settings.digest_records)
    trace = trace_records(records, trace)
    return Grounding(trace, records, question=question, searched=evidence.searched_sources)


class SourceQuery:
    """What one caller may see of an assistant's sources and records, at one instant."""

    def __init__(self, served: ServedRequest, context: AnswerContext):
        assistant = served.assistant
        is_narrow = assistant.evidence_settings.languages == "reader"
        languages = frozenset({served.language}) if is_narrow else frozenset()
        self.viewer = Viewer(served.caller.groups, context.now(), assistant.sources, languages)
        self._served = served
        self._context = context

    async def choose_records(self, kinds: frozenset[str], limit: int) -> tuple[Source, ...]:
        """Records as numbered sources, in the reader's language where they have it."""
        language = self._served.language
        viewer = replace(self.viewer, sources=self._served.assistant.records, languages=frozenset())
        records = await self._context.record_finder.choose_records(kinds, viewer, language, limit)
        return tuple(number_record(number, record, language) for number, record in enumerate(records, 1))

    async def list_titles(self) -> tuple[str, ...]:
        """Titles that a position in a list may mean; only a follow-up needs them."""
        return (
            await self._context.evidence_finder.list_titles(self.viewer) if self._served.request.turns else ()
        )


def build_query(followup: Followup, served: ServedRequest) -> Query:
    """What evidence is searched by. The subject's name helps the order and never counts for the threshold."""
    assistant = served.assistant
    has_name = bool(assistant.names) and is_about_subject(served)
    order = f"{assistant.names[0]} {followup.texts[0]}" if has_name else ""
    return Query(followup.texts, order, assistant.name_words, assistant.evidence_settings.limit)


def is_about_subject(served: ServedRequest) -> bool:
    """Whether the question is about the assistant's subject."""
    request = served.request
    return served.assistant.router.is_about_subject(request.question, join_turns(request), served.language)


def widen_kinds(kinds: frozenset[str]) -> frozenset[str]:
    """The kinds to choose by; none is every kind, those too that no question has a word for."""
    if kinds.issuperset(RECORD_KINDS):
        return frozenset()
    return kinds | RECENT_KINDS if "recently" in kinds else kinds


def read_question(request: ChatRequest, followup: Followup) -> str:
    """The question with what a follow-up points back to."""
    if followup.is_bare:
        return followup.item or followup.previous or request.question
    return f"{request.question}\n{followup.item}" if followup.item else request.question


def join_turns(request: ChatRequest) -> str:
    """Everything said before the question."""
    return "\n".join(turn.text for turn in request.turns)


def number_passages(hits: tuple[Hit, ...]) -> tuple[Source, ...]:
    """The passages as sources, in their order."""
    return tuple(number_passage(number, hit) for number, hit in enumerate(hits, 1))


def number_passage(number: int, hit: Hit) -> Source:
    """A passage under the headings it stood below: they say what its sentences are about."""
    passage = hit.passage
    above = " › ".join(heading for heading in passage.headings if heading != passage.title)
    text = f"{above}\n{passage.text}" if above else passage.text
    return Source(number, str(passage.id), passage.title, text, passage.url, passage.language)


def number_record(number: int, record: Record, language: str) -> Source:
    """A record as a source, in the reader's language where it has it."""
    tag = choose_language_tag(record.text, language)
    title = record.title[choose_language_tag(record.title, language)]
    text = render_record(record, language)
    return Source(number, record.id, title, text, record.url, tag, "record", record.current)


def trace_evidence(evidence: Evidence, similarity_min: float) -> RetrievalTrace:
    """The scores of what was found, for the decision log; sources only where they are handed over."""
    trace = RetrievalTrace(
        mode=evidence.mode,
        degraded=evidence.degraded,
        best=round(evidence.best_similarity, 4),
        threshold=similarity_min,
        embedded=evidence.mode == "hybrid",
    )
    if evidence.best_similarity < similarity_min:
        return trace
    pairs = zip(number_passages(evidence.hits), evidence.hits, strict=True)
    return replace(trace, sources=tuple(trace_source(source) | trace_scores(hit) for source, hit in pairs))


def trace_records(records: tuple[Source, ...], trace: RetrievalTrace) -> RetrievalTrace:
    """The same where records are handed over."""
    return replace(trace, mode="records", sources=tuple(map(trace_source, records)))


def trace_source(source: Source) -> dict[str, object]:
    """What the decision log keeps of a source."""
    return {"number": source.number, "id": source.id, "title": source.title, "url": source.url}


def trace_scores(hit: Hit) -> dict[str, object]:
    """And of a passage's scores, rounded."""
    return {
        "document": hit.passage.document_id,
        "similarity": round(hit.similarity, 4),
        "coverage": round(hit.coverage, 4),
        "cosine": None if hit.cosine is None else round(hit.cosine, 4),
    }
