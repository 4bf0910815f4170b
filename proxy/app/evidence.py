"""Evidence: the truth, what is derived from it, and the sources it is filled from."""

import logging
import sqlite3
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass

from indexes.embedding import model
from indexes.embedding.embedder import OnnxEmbedder
from indexes.keywords.index_folder import KeywordIndexError
from indexes.keywords.keyword_index import KeywordIndex
from indexes.records import RecordStore
from indexes.search import Search
from indexes.sources.folder import DocumentFolder
from indexes.sources.record_book import BookFile
from indexes.store import Store, StoreFileError
from indexes.text.language import WordPack
from indexes.types import Embedder, EmbedError
from indexes.vector_query import SearchTuning
from proxy.app.paths import build_data_paths
from proxy.domain.errors import StoreError
from proxy.settings import tree

log = logging.getLogger("fiador.app")

DAMAGE_ADVICE = (
    "The file is damaged: put a backup in its place, or move it away and run `fiador sync` "
    "(what was pushed must be pushed again)"
)
MODEL_ADVICE = "the default embedding model has not been built: `fiador model` builds it"


@dataclass(frozen=True, slots=True)
class EvidenceStores:
    """Everything that answers come from."""

    store: Store
    keyword_index: KeywordIndex
    search: Search
    records: RecordStore
    embedder: Embedder | None
    degraded: str
    """Why there are no vectors; "" where there are, or where none are wanted."""


@dataclass(frozen=True, slots=True)
class ConfiguredEmbedder:
    """The embedder, or why there is none."""

    embedder: Embedder | None
    degraded: str = ""


def load_embedder(settings: tree.EmbeddingSettings) -> ConfiguredEmbedder:
    """Loads the model (1–3 s). A model that is missing or broken costs the vectors, never the start."""
    if settings.model == "off":
        return ConfiguredEmbedder(None)
    folder = model.locate_model(settings.model)
    if folder is None:
        return ConfiguredEmbedder(None, MODEL_ADVICE)
    try:
        return ConfiguredEmbedder(OnnxEmbedder(folder, settings.threads))
    except EmbedError as fault:
        return ConfiguredEmbedder(None, str(fault))


async def open_evidence(
    settings: tree.Settings,
    packs: Mapping[str, WordPack],
    embedding: ConfiguredEmbedder,
    stack: AsyncExitStack,
) -> EvidenceStores:
    """Opens all of it; `stack` closes it. Raises `StoreError`, which says which file, and what to do."""
    try:
        return await _open_stores(settings, packs, embedding, stack)
    except (StoreFileError, KeywordIndexError, sqlite3.Error, OSError) as fault:
        advice = f". {DAMAGE_ADVICE}" if _is_damaged(fault) else ""
        file = build_data_paths(settings).store
        raise StoreError("The index cannot be opened.", detail=f"{file}: {fault}{advice}") from fault


def _is_damaged(error: Exception) -> bool:
    """Whether SQLite says that the file itself is wrong, not that it is locked, full or out of reach."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


async def _open_stores(
    settings: tree.Settings,
    packs: Mapping[str, WordPack],
    embedding: ConfiguredEmbedder,
    stack: AsyncExitStack,
) -> EvidenceStores:
    data_paths = build_data_paths(settings)
    store = await stack.enter_async_context(Store(data_paths.store))
    keyword_index = await stack.enter_async_context(KeywordIndex(data_paths.keyword_index, store))
    titles = {name: source.title or name for name, source in settings.sources.items()}
    tuning = SearchTuning(
        candidates=max(a.evidence.candidates for a in settings.assistants.values()),
        timeout_s=settings.embedding.timeout_s,
        cache_max=settings.embedding.cache_max,
    )
    search = await stack.enter_async_context(
        Search(
            store,
            keyword_index,
            packs=packs,
            source_titles=titles,
            embedder=embedding.embedder,
            degraded=embedding.degraded,
            tuning=tuning,
        )
    )
    if embedding.degraded:
        log.warning("keywords alone serve: %s", embedding.degraded)
    return EvidenceStores(
        store, keyword_index, search, RecordStore(store), embedding.embedder, embedding.degraded
    )


def list_folders(settings: tree.Settings) -> list[DocumentFolder]:
    """The configured folders, as sources."""
    return [
        DocumentFolder(name, source.path, source.url_base, source.front_matter_may_widen)
        for name, source in settings.sources.items()
        if isinstance(source, tree.FolderSourceSettings)
    ]


def list_record_books(settings: tree.Settings) -> tuple[BookFile, ...]:
    """The configured record books that are files."""
    return tuple(BookFile(name, book.path) for name, book in settings.records.items() if book.path)
