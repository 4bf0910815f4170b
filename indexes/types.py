"""The words of evidence: who looks, what was asked, what was found."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

SearchMode = Literal["hybrid", "keywords"]
"""By words and by vectors; or by words alone, where no vectors are at hand."""


@dataclass(frozen=True, slots=True)
class Access:
    """Who may see a document or record, and when. An empty `groups` shows it to nobody."""

    groups: frozenset[str]
    valid_from: datetime
    """Aware, UTC; visible from this instant on."""
    valid_to: datetime | None = None
    """Aware, UTC; no longer visible at this instant. None: no end."""


@dataclass(frozen=True, slots=True)
class Viewer:
    """Who looks, at what instant, into which sources. Groups come from the credential alone."""

    groups: frozenset[str]
    now: datetime
    """Aware, UTC."""
    sources: frozenset[str]
    """Names of the configured sources (or record books) that may be looked into; empty sees nothing."""
    languages: frozenset[str] = frozenset()
    """Only documents of these languages; empty: any."""


@dataclass(frozen=True, slots=True)
class Document:
    """A file or pushed text, as a source yields it. `id` is unique over all: `<source>/<path or key>`."""

    id: str
    source: str
    title: str
    text: str
    """Markdown."""
    access: Access
    url: str | None = None
    language: str | None = None
    supersedes: str | None = None
    """Id of the document that this one replaces from its own `valid_from` on."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a document that can be found. Ids are never reused: changed text is a new passage."""

    id: int
    document_id: str
    source: str
    title: str
    url: str | None
    language: str | None
    headings: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Query:
    """What to look for.

    `texts` are searched one by one and each counts for the similarity: the question as asked, then (in a
    follow-up) the question joined to what it follows. `ranking_text` is searched too but only helps the
    order.
    """

    texts: tuple[str, ...]
    ranking_text: str = ""
    subject_names: frozenset[str] = frozenset()
    """The subject's names, folded words: never content words."""
    limit: int = 8


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage with the bounded scores that may meet a threshold; the fused rank score is not among them."""

    passage: Passage
    similarity: float
    """0..1: max(clipped cosine, coverage)."""
    coverage: float
    cosine: float | None
    """Raw cosine; None where no vectors are at hand."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a search found: at most `limit` hits in fused order, the most similar always among them."""

    hits: tuple[Hit, ...]
    best_similarity: float
    mode: SearchMode
    searched_sources: tuple[str, ...]
    """Display names of the sources in which the viewer may see at least one document."""
    degraded: str = ""
    """Which of the two searches is missing and why, for the log; empty when vectors are switched off."""


@dataclass(frozen=True, slots=True)
class PartialDate:
    """A date as exact as it is known: 2024, 2024-05 or 2024-05-01."""

    year: int
    month: int | None = None
    day: int | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """A dated, typed entry of the subject's own facts. `title` and `text` by language tag."""

    id: str
    book: str
    """Name of the configured record book it stands in."""
    kind: str
    title: Mapping[str, str]
    text: Mapping[str, str]
    access: Access
    start: PartialDate | None = None
    end: PartialDate | None = None
    current: bool = False
    url: str | None = None


class EvidenceFinder(Protocol):
    """Finds passages. Implemented by `indexes.search.Search`."""

    async def find_evidence(self, query: Query, viewer: Viewer) -> Evidence:
        """Evidence for `query` that `viewer` may see. Never raises for want of vectors."""
        ...

    async def list_titles(self, viewer: Viewer) -> tuple[str, ...]:
        """Titles of the documents that `viewer` may see: what a follow-up may name."""
        ...


class RecordFinder(Protocol):
    """Lists records by rule. Implemented by `indexes.records.RecordStore`."""

    async def choose_records(
        self, kinds: frozenset[str], viewer: Viewer, language: str, limit: int
    ) -> tuple[Record, ...]:
        """Records of `kinds` (empty: every kind), newest first by their own dates, current ones before."""
        ...


@dataclass(frozen=True, slots=True)
class Band:
    """The cosines between which similarity grows from 0 to 1."""

    floor: float
    ceiling: float


class Embedder(Protocol):
    """Text to unit vectors, as `indexes.embedding.embedder` makes them; may raise `EmbedError`."""

    name: str
    """Model name and hash: vectors of another name are never compared with these."""
    dim: int

    def choose_band(self, question_language: str | None, passage_language: str | None) -> Band:
        """For a question and a passage in these languages (tags; None: not known)."""
        ...

    def embed_query(self, text: str) -> list[float]:
        """Unit vector of a question (blocking; call it off the event loop)."""
        ...

    def embed_passages(self, texts: list[str]) -> list[list[float]]:
        """Unit vectors of passages (blocking)."""
        ...


class EmbedError(Exception):
    """The embedding could not be had now; keywords alone serve."""
