"""Finds evidence: keywords and vectors, each filtered inside the query, fused, and checked against the truth.

One query is one hop to a thread, over one snapshot of the truth. The fused rank orders; only cosine and
coverage, taken on the text that the truth yields, may meet a threshold.
"""

from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Self

from indexes.fuse import compute_similarity, fuse_ranks
from indexes.grants import SearchFilter, encode_instant
from indexes.keywords.keyword_index import KeywordIndex
from indexes.query_words import QueryWordReader
from indexes.read_snapshot import ReadSnapshot, StoreState
from indexes.store import Store
from indexes.text.language import WordPack
from indexes.text.words import compute_coverage
from indexes.types import Band, Embedder, Evidence, Hit, Passage, Query, Viewer
from indexes.vector_query import QuestionVectors, SearchTuning, VectorSearch

NO_VECTORS = "no passage has a vector of this model yet: run `fiador sync`"
NO_BAND = Band(0, 1)
"""Where there is no model, and so no cosine to place in its band."""
VIEWERS_KEPT = 1_000
"""Sets of viewers' groups whose allowed acls are remembered until the truth changes."""

RankedLists = list[list[int]]


class Search:
    """Implements `types.EvidenceFinder`. An `async with`: loads the vectors, ends the embedding's threads.

    `packs`: stop words by language tag. `source_titles`: display names of sources. `embedder` None: keywords
    alone, with `degraded` saying why where vectors were wanted.
    """

    def __init__(
        self,
        store: Store,
        keyword_index: KeywordIndex,
        *,
        packs: Mapping[str, WordPack],
        source_titles: Mapping[str, str] | None = None,
        embedder: Embedder | None = None,
        degraded: str = "",
        tuning: SearchTuning | None = None,
    ):
        self.stale_count = 0
        """Candidates that an index still believed in and the truth refused; for the metrics."""
        self._store = store
        self._keyword_index = keyword_index
        self._source_titles = source_titles or {}
        self._tuning = tuning or SearchTuning()
        self._word_reader = QueryWordReader(packs, keyword_index.tokenize, self._tuning.default_language)
        self._vector_search = VectorSearch(embedder, self._tuning) if embedder else None
        self._degraded = degraded
        self._allowed_acls: dict[tuple[str, int, frozenset[str]], frozenset[int]] = {}

    async def __aenter__(self) -> Self:
        if self._vector_search:
            await self._store.run_on_snapshot(self._vector_search.index.follow_outbox)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._vector_search:
            self._vector_search.embedder.close()

    async def find_evidence(self, query: Query, viewer: Viewer) -> Evidence:
        """Evidence for `query` that `viewer` may see at `viewer.now`. Never raises for want of vectors."""
        vectors = QuestionVectors(fault=self._degraded)
        if self._vector_search:
            vectors = await self._vector_search.embedder.embed_texts((*query.texts, query.ranking_text))
        return await self._store.run_on_snapshot(
            lambda snapshot: self._search_snapshot(snapshot, query, viewer, vectors)
        )

    async def list_titles(self, viewer: Viewer) -> tuple[str, ...]:
        """Titles of the documents that `viewer` may see: what a follow-up may name."""
        return await self._store.run_on_snapshot(lambda snapshot: snapshot.list_titles(viewer))

    def _search_snapshot(
        self, snapshot: ReadSnapshot, query: Query, viewer: Viewer, vectors: QuestionVectors
    ) -> Evidence:
        state = snapshot.read_state()
        self._keyword_index.refresh(state)
        self._follow_outbox(snapshot, vectors)
        vectors = self._drop_incomparable(vectors)
        allowed = self._build_filter(snapshot, state, viewer)
        passages = self._find_candidates(
            snapshot, viewer, lambda depth: self._search_lists(query, vectors, allowed, depth)
        )
        hits = _choose_hits(self._score_passages(passages, query, vectors), query.limit)
        return Evidence(
            hits=hits,
            best_similarity=max((hit.similarity for hit in hits), default=0.0),
            mode="hybrid" if vectors.by_text else "keywords",
            searched_sources=self._list_source_titles(snapshot, viewer),
            degraded="; ".join(filter(None, (vectors.fault, self._keyword_index.fault))),
        )

    def _follow_outbox(self, snapshot: ReadSnapshot, vectors: QuestionVectors) -> None:
        """Brings the vectors of passages up to `snapshot`, unless those of the question could not be had."""
        if self._vector_search and not vectors.fault:
            self._vector_search.index.follow_outbox(snapshot)

    def _drop_incomparable(self, vectors: QuestionVectors) -> QuestionVectors:
        """`vectors`; where no passage has one to compare them with, that fault instead."""
        if self._vector_search is None or vectors.fault or len(self._vector_search.index):
            return vectors
        return QuestionVectors(fault=NO_VECTORS)

    def _build_filter(self, snapshot: ReadSnapshot, state: StoreState, viewer: Viewer) -> SearchFilter:
        key = (state.epoch, state.generation, viewer.groups)
        acls = self._allowed_acls.get(key)
        if acls is None:
            if len(self._allowed_acls) >= VIEWERS_KEPT:
                self._allowed_acls = {}
            acls = self._allowed_acls[key] = snapshot.find_acls(viewer.groups)
        return SearchFilter(acls, viewer.sources, encode_instant(viewer.now), viewer.languages)

    def _find_candidates(
        self, snapshot: ReadSnapshot, viewer: Viewer, search_lists: Callable[[int], RankedLists]
    ) -> list[Passage]:
        """Passages in fused order; once more and deeper where the truth refuses some, lest few be left."""
        order: list[int] = []
        passages: dict[int, Passage] = {}
        for depth in (self._tuning.candidates, 2 * self._tuning.candidates):
            order = fuse_ranks(search_lists(depth))[: 2 * depth]
            passages = snapshot.recheck_passages(order, viewer)
            self.stale_count += len(order) - len(passages)
            if len(passages) == len(order):
                break
        return [passages[id] for id in order if id in passages]

    def _search_lists(
        self, query: Query, vectors: QuestionVectors, allowed: SearchFilter, depth: int
    ) -> RankedLists:
        texts = [text for text in dict.fromkeys((*query.texts, query.ranking_text)) if text.strip()]
        lists = [
            self._keyword_index.search(self._word_reader.tokenize_query(text), allowed, depth)
            for text in texts
        ]
        if self._vector_search:
            known_vectors = (vectors.by_text[text] for text in texts if text in vectors.by_text)
            lists += [
                self._vector_search.index.find_nearest(vector, allowed, depth) for vector in known_vectors
            ]
        return lists

    def _score_passages(
        self, passages: Sequence[Passage], query: Query, vectors: QuestionVectors
    ) -> list[Hit]:
        wordings = [self._word_reader.find_question_words(text, query.subject_names) for text in query.texts]
        language = self._word_reader.recognize_language(query.texts[0]) if query.texts else None
        cosines = self._vector_search.compute_cosines(passages, query, vectors) if self._vector_search else {}
        hits = []
        for passage in passages:
            words = self._word_reader.split_passage_words(passage)
            coverage = max((compute_coverage(wording, words) for wording in wordings), default=0.0)
            cosine, band = cosines.get(passage.id), self._choose_band(language, passage)
            hits.append(Hit(passage, compute_similarity(cosine, band, coverage), coverage, cosine))
        return hits

    def _choose_band(self, language: str | None, passage: Passage) -> Band:
        if self._vector_search is None:
            return NO_BAND
        return self._vector_search.choose_band(language, passage.language)

    def _list_source_titles(self, snapshot: ReadSnapshot, viewer: Viewer) -> tuple[str, ...]:
        return tuple(
            self._source_titles.get(name) or name for name in sorted(snapshot.list_visible_sources(viewer))
        )


def _choose_hits(hits: Sequence[Hit], limit: int) -> tuple[Hit, ...]:
    """The first `limit` in fused order; the most similar of all takes the last place if not among them."""
    first = list(hits[:limit])
    best = max(hits, key=lambda hit: hit.similarity, default=None)
    if first and best is not None and all(hit is not best for hit in first):
        first[-1] = best
    return tuple(first)
