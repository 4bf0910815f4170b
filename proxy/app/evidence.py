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
from proxy.app.paths import paths
from proxy.domain.errors import StoreError
from proxy.settings import tree

log = logging.getLogger("fiador.app")

MOVE_AWAY = (
    "The file is damaged: put a backup in its place, or move it away and run `fiador sync` "
    "(what was pushed must be pushed again)"
)
NOT_BUILT = "the default embedding model has not been built: `fiador model` builds it"


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything that answers come from."""

    store: Store
    lexical: KeywordIndex
    search: Search
    records: RecordStore
    embedder: Embedder | None
    degraded: str
    """Why there are no vectors; "" where there are, or where none are wanted."""


@dataclass(frozen=True, slots=True)
class Embedding:
    """The embedder, or why there is none."""

    embedder: Embedder | None
    degraded: str = ""


def embedding(settings: tree.Embedding) -> Embedding:
    """Loads the model (1–3 s). A model that is missing or broken costs the vectors, never the start."""
    if settings.model == "off":
        return Embedding(None)
    folder = model.locate_model(settings.model)
    if folder is None:
        return Embedding(None, NOT_BUILT)
    try:
        return Embedding(OnnxEmbedder(folder, settings.threads))
    except EmbedError as fault:
        return Embedding(None, str(fault))


async def evidence(
    settings: tree.Settings, packs: Mapping[str, WordPack], made: Embedding, stack: AsyncExitStack
) -> Evidence:
    """Opens all of it; `stack` closes it. Raises `StoreError`, which says which file, and what to do."""
    try:
        return await _opened(settings, packs, made, stack)
    except (StoreFileError, KeywordIndexError, sqlite3.Error, OSError) as fault:
        advice = f". {MOVE_AWAY}" if _damaged(fault) else ""
        file = paths(settings).store
        raise StoreError("The index cannot be opened.", detail=f"{file}: {fault}{advice}") from fault


def _damaged(fault: Exception) -> bool:
    """Whether SQLite says that the file itself is wrong, not that it is locked, full or out of reach."""
    return getattr(fault, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


async def _opened(
    settings: tree.Settings, packs: Mapping[str, WordPack], made: Embedding, stack: AsyncExitStack
) -> Evidence:
    where = paths(settings)
    store = await stack.enter_async_context(Store(where.store))
    lexical = await stack.enter_async_context(KeywordIndex(where.lexical, store))
    titles = {name: source.title or name for name, source in settings.sources.items()}
    tuning = SearchTuning(
        candidates=max(a.evidence.candidates for a in settings.assistants.values()),
        timeout_s=settings.embedding.timeout_s,
        cache_max=settings.embedding.cache_max,
    )
    search = await stack.enter_async_context(
        Search(
            store,
            lexical,
            packs=packs,
            titles=titles,
            embedder=made.embedder,
            degraded=made.degraded,
            tuning=tuning,
        )
    )
    if made.degraded:
        log.warning("keywords alone serve: %s", made.degraded)
    return Evidence(store, lexical, search, RecordStore(store), made.embedder, made.degraded)


def folders(settings: tree.Settings) -> list[DocumentFolder]:
    """The configured folders, as sources."""
    return [
        DocumentFolder(name, one.path, one.url_base, one.front_matter_may_widen)
        for name, one in settings.sources.items()
        if isinstance(one, tree.FolderSource)
    ]


def books(settings: tree.Settings) -> tuple[BookFile, ...]:
    """The configured record books that are files."""
    return tuple(BookFile(name, one.path) for name, one in settings.records.items() if one.path)
