"""A searchable collection in a temporary folder: the product's own store, keyword index and search."""

import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bench.quality.sets import LabelledText
from bench.quality.vectors import CachedEmbedder
from indexes import document_writes
from indexes.chunks import cut_document
from indexes.embedding import vectors
from indexes.embedding.vector_matrix import pack_vector
from indexes.grants import ALWAYS, SearchFilter, encode_instant
from indexes.keywords.keyword_index import KeywordIndex
from indexes.progress import Progress, ignore_progress
from indexes.read_snapshot import ReadSnapshot
from indexes.search import Search
from indexes.store import Store
from indexes.text.language import WordPack
from indexes.types import Access, Document, Evidence, Query, Viewer
from indexes.vector_index import VectorIndex
from indexes.vector_query import SearchTuning
from proxy.settings.languages import load_packs

NOW = datetime(2026, 1, 1, tzinfo=UTC)
PASSAGES_A_BATCH = 10_000
"""Passages embedded between two writes of their vectors."""
PASSAGE_LIMIT = 30
"""Passages asked for: enough for ten different texts, however they are cut."""


@dataclass(frozen=True, slots=True)
class CollectionEntry:
    """A text with the groups that may see it."""

    text: LabelledText
    groups: frozenset[str]


class TextCollection:
    """Texts that can be searched in three ways, on behalf of a viewer."""

    def __init__(
        self, store: Store, hybrid_search: Search, keyword_search: Search, vector_index: VectorIndex
    ):
        self._store = store
        self._hybrid_search = hybrid_search
        self._keyword_search = keyword_search
        self._vector_index = vector_index

    async def search_hybrid(self, question: str, viewer: Viewer, limit: int = PASSAGE_LIMIT) -> Evidence:
        """As the product does it."""
        return await self._hybrid_search.find_evidence(Query((question,), limit=limit), viewer)

    async def search_keywords(self, question: str, viewer: Viewer, limit: int = PASSAGE_LIMIT) -> Evidence:
        """As the product does it without vectors."""
        return await self._keyword_search.find_evidence(Query((question,), limit=limit), viewer)

    async def search_vectors(self, vector: list[float], viewer: Viewer) -> list[str]:
        """Ids of texts by vectors alone, best first: for comparison, as the product never does this."""

        def find_nearest(snapshot: ReadSnapshot) -> list[str]:
            allowed = SearchFilter(
                snapshot.find_acls(viewer.groups),
                viewer.sources,
                encode_instant(viewer.now),
                viewer.languages,
            )
            ids = self._vector_index.find_nearest(vector, allowed, PASSAGE_LIMIT)
            passages = snapshot.recheck_passages(ids, viewer)
            return [passages[id].document_id for id in ids if id in passages]

        return remove_repeats(await self._store.run_on_snapshot(find_nearest))


def build_viewer(
    groups: frozenset[str], sources: frozenset[str], languages: frozenset[str] = frozenset()
) -> Viewer:
    """Someone who searches at a fixed instant."""
    return Viewer(groups, NOW, sources, languages)


def list_text_ids(evidence: Evidence) -> list[str]:
    """Ids of the texts whose passages were found, best first."""
    return remove_repeats([hit.passage.document_id for hit in evidence.hits])


def remove_repeats(ids: Sequence[str]) -> list[str]:
    """Without repeats, in order."""
    return list(dict.fromkeys(ids))


@asynccontextmanager
async def open_collection(
    entries: Sequence[CollectionEntry], embedder: CachedEmbedder, progress: Progress = ignore_progress
) -> AsyncIterator[TextCollection]:
    """A collection of `entries`, gone afterwards. Each text's data set is its source."""
    packs = load_packs("words", WordPack)
    with tempfile.TemporaryDirectory(prefix="fiador-bench-") as folder:
        async with (
            Store(Path(folder) / "truth.db") as store,
            KeywordIndex(Path(folder) / "words", store) as keyword_index,
        ):
            await _fill_store(store, entries)
            await keyword_index.drain()
            await _embed_missing(store, embedder, progress)
            hybrid = Search(
                store, keyword_index, packs=packs, embedder=embedder, tuning=SearchTuning(timeout_s=600)
            )
            keywords = Search(store, keyword_index, packs=packs)
            vector_index = VectorIndex(embedder.name, embedder.dim)
            await store.run_on_snapshot(vector_index.follow_outbox)
            async with hybrid, keywords:
                yield TextCollection(store, hybrid, keywords, vector_index)


async def _fill_store(store: Store, entries: Sequence[CollectionEntry]) -> None:
    documents = [_build_document(entry) for entry in entries]
    cut_documents = [(document, cut_document(document.text)) for document in documents]
    await store.run_write(
        lambda connection: [
            document_writes.put_document(connection, document, chunks) for document, chunks in cut_documents
        ]
    )


def _build_document(entry: CollectionEntry) -> Document:
    text = entry.text
    return Document(
        id=text.id,
        source=text.dataset,
        title=text.title,
        text=text.text,
        access=Access(entry.groups, ALWAYS),
        language=text.language,
    )


async def _embed_missing(store: Store, embedder: CachedEmbedder, progress: Progress) -> None:
    while passages := await store.run_read(
        lambda connection: vectors.list_unembedded(connection, embedder.name, 0, PASSAGES_A_BATCH)
    ):
        embedded = embedder.embed_passages([passage.text for passage in passages], progress)
        blobs = {
            passage.hash: pack_vector(vector) for passage, vector in zip(passages, embedded, strict=True)
        }
        await store.save_vectors(embedder.name, blobs)
