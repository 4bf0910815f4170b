"""Finds evidence: keywords and vectors, each filtered inside the query, fused, and checked against the truth.

One query is one hop to a thread, over one snapshot of the truth. The fused rank orders; only cosine and
coverage, taken on the text that the truth yields, may meet a threshold.
"""

from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Self

from indexes.fuse import rrf, similarity
from indexes.grants import Filter, instant
from indexes.keywords.keyword_index import Lexical
from indexes.query_words import Reader
from indexes.read_snapshot import Look, State
from indexes.store import Store
from indexes.text.language import WordPack
from indexes.text.words import coverage
from indexes.types import Band, Embedder, Evidence, Hit, Passage, Query, Viewer
from indexes.vector_query import Asked, Near, Tuning

NO_VECTORS = "no passage has a vector of this model yet: run `fiador sync`"
NO_BAND = Band(0, 1)
VIEWERS_KEPT = 1_000
"""Sets of groups whose allowed documents are remembered until the truth changes."""

Lists = list[list[int]]


class Search:
    """Implements `types.Finder`. An `async with`: it loads the vectors and ends the embedding's threads.

    `packs`: stop words by language tag. `titles`: display names of sources. `embedder` None: keywords alone,
    with `degraded` saying why where vectors were wanted.
    """

    def __init__(
        self,
        store: Store,
        lexical: Lexical,
        *,
        packs: Mapping[str, WordPack],
        titles: Mapping[str, str] | None = None,
        embedder: Embedder | None = None,
        degraded: str = "",
        tuning: Tuning | None = None,
    ):
        self.stale = 0
        """Candidates that an index still believed in and the truth refused; for the metrics."""
        self._store = store
        self._lexical = lexical
        self._titles = titles or {}
        self._tuning = tuning or Tuning()
        self._reader = Reader(packs, lexical.tokens, self._tuning.language)
        self._near = Near(embedder, self._tuning) if embedder else None
        self._degraded = degraded
        self._allowed: dict[tuple[str, int, frozenset[str]], frozenset[int]] = {}

    async def __aenter__(self) -> Self:
        if self._near:
            await self._store.look(self._near.matrix.follow)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._near:
            self._near.questions.close()

    async def find(self, query: Query, viewer: Viewer) -> Evidence:
        """Evidence for `query` that `viewer` may see at `viewer.now`. Never raises for want of vectors."""
        asked = Asked(fault=self._degraded)
        if self._near:
            asked = await self._near.questions.vectors((*query.texts, query.order))
        return await self._store.look(lambda look: self._find(look, query, viewer, asked))

    async def titles(self, viewer: Viewer) -> tuple[str, ...]:
        """Titles of the documents that `viewer` may see: what a follow-up may name."""
        return await self._store.look(lambda look: look.titles(viewer))

    def _find(self, look: Look, query: Query, viewer: Viewer, asked: Asked) -> Evidence:
        state = look.state()
        self._lexical.refresh(state)
        asked = self._comparable(look, asked)
        allowed = self._filter(look, state, viewer)
        passages = self._candidates(look, viewer, lambda depth: self._lists(query, asked, allowed, depth))
        hits = _handed(self._hits(passages, query, asked), query.limit)
        return Evidence(
            hits=hits,
            best=max((hit.similarity for hit in hits), default=0.0),
            mode="hybrid" if asked.vectors else "keywords",
            searched=self._searched(look, viewer),
            degraded="; ".join(filter(None, (asked.fault, self._lexical.fault))),
        )

    def _comparable(self, look: Look, asked: Asked) -> Asked:
        """`asked`, unless there is nothing to compare its vectors with."""
        if self._near is None or asked.fault:
            return asked
        self._near.matrix.follow(look)
        return asked if len(self._near.matrix) else Asked(fault=NO_VECTORS)

    def _filter(self, look: Look, state: State, viewer: Viewer) -> Filter:
        key = (state.epoch, state.generation, viewer.groups)
        acls = self._allowed.get(key)
        if acls is None:
            if len(self._allowed) >= VIEWERS_KEPT:
                self._allowed = {}
            acls = self._allowed[key] = look.allowed(viewer.groups)
        return Filter(acls, viewer.sources, instant(viewer.now), viewer.languages)

    def _candidates(self, look: Look, viewer: Viewer, lists: Callable[[int], Lists]) -> list[Passage]:
        """Passages in fused order; once more and deeper where the truth refuses some, lest few be left."""
        order: list[int] = []
        found: dict[int, Passage] = {}
        for depth in (self._tuning.candidates, 2 * self._tuning.candidates):
            order = rrf(lists(depth))[: 2 * depth]
            found = look.recheck(order, viewer)
            self.stale += len(order) - len(found)
            if len(found) == len(order):
                break
        return [found[id] for id in order if id in found]

    def _lists(self, query: Query, asked: Asked, allowed: Filter, depth: int) -> Lists:
        texts = [text for text in dict.fromkeys((*query.texts, query.order)) if text.strip()]
        lists = [self._lexical.search(self._reader.tokens(text), allowed, depth) for text in texts]
        if self._near:
            vectors = (asked.vectors[text] for text in texts if text in asked.vectors)
            lists += [self._near.matrix.search(vector, allowed, depth) for vector in vectors]
        return lists

    def _hits(self, passages: Sequence[Passage], query: Query, asked: Asked) -> list[Hit]:
        wanted = [self._reader.wanted(text, query.names) for text in query.texts]
        language = self._reader.known(query.texts[0]) if query.texts else None
        cosines = self._near.cosines(passages, query, asked) if self._near else {}
        hits = []
        for passage in passages:
            held = self._reader.words(passage)
            covered = max((coverage(one, held) for one in wanted), default=0.0)
            cosine = cosines.get(passage.id)
            band = self._near.band(language, passage.language) if self._near else NO_BAND
            hits.append(Hit(passage, similarity(cosine, band, covered), covered, cosine))
        return hits

    def _searched(self, look: Look, viewer: Viewer) -> tuple[str, ...]:
        return tuple(self._titles.get(name) or name for name in sorted(look.visible_sources(viewer)))


def _handed(hits: Sequence[Hit], limit: int) -> tuple[Hit, ...]:
    """The first `limit` in fused order; the most similar of all takes the last place if not among them."""
    first = list(hits[:limit])
    best = max(hits, key=lambda hit: hit.similarity, default=None)
    if first and best is not None and all(hit is not best for hit in first):
        first[-1] = best
    return tuple(first)
