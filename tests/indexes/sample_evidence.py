"""Small documents, viewers and embedders that the tests of evidence share."""

import hashlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from indexes.chunks import cut_document
from indexes.grants import ALWAYS
from indexes.keywords.keyword_index import KeywordIndex
from indexes.search import Search
from indexes.store import Store
from indexes.text.language import WordPack
from indexes.text.words import tokenize_for_index
from indexes.types import Access, Band, Document, EmbedError, Viewer

NOW = datetime(2026, 6, 1, tzinfo=UTC)
STOPS = frozenset(
    (
        "a",
        "an",
        "and",
        "are",
        "do",
        "does",
        "for",
        "from",
        "have",
        "how",
        "i",
        "in",
        "is",
        "it",
        "of",
        "on",
        "the",
        "to",
        "what",
        "when",
        "where",
        "who",
        "with",
    )
)
PACKS: Mapping[str, WordPack] = {"en": WordPack("Latin", STOPS)}


def make_access(*groups: str, begins: datetime = ALWAYS, ends: datetime | None = None) -> Access:
    return Access(frozenset(groups), begins, ends)


def make_document(id: str, text: str, access: Access | None = None, **more: str | None) -> Document:
    """A document of the source that its id begins with, for `public` unless said otherwise."""
    title = more.pop("title", None) or id.rpartition("/")[2]
    return Document(id, id.partition("/")[0], title, text, access or make_access("public"), **more)


def make_viewer(*groups: str, now: datetime = NOW, sources: str = "docs", languages: str = "") -> Viewer:
    return Viewer(frozenset(groups), now, frozenset(sources.split()), frozenset(languages.split()))


async def put_documents(store: Store, *documents: Document) -> None:
    for document in documents:
        await store.put_document(document, cut_document(document.text))


@dataclass(frozen=True, slots=True)
class IndexedStore:
    """A truth with its keyword index and a search over both."""

    store: Store
    keyword_index: KeywordIndex
    search: Search


@asynccontextmanager
async def open_indexed_store(
    folder: Path, embedder: "HashEmbedder | None" = None, degraded: str = ""
) -> AsyncIterator[IndexedStore]:
    async with (
        Store(folder / "truth.db", durable=False) as store,
        KeywordIndex(folder / "lexical", store) as keyword_index,
    ):
        search = Search(store, keyword_index, packs=PACKS, embedder=embedder, degraded=degraded)
        async with search:
            yield IndexedStore(store, keyword_index, search)


class HashEmbedder:
    """A bag of tokens as a unit vector: texts that share words are near. `broken`: what it raises instead."""

    def __init__(self, name: str = "bag-1", dim: int = 64):
        self.name = name
        self.dim = dim
        self.calls: list[str] = []
        self.fault: str = ""

    def choose_band(self, question_language: str | None, passage_language: str | None) -> Band:
        return Band(0, 1)

    def embed_query(self, text: str) -> list[float]:
        return self.embed_passages([text])[0]

    def embed_passages(self, texts: list[str]) -> list[list[float]]:
        if self.fault:
            raise EmbedError(self.fault)
        self.calls += texts
        return [self._embed_tokens(text) for text in texts]

    def _embed_tokens(self, text: str) -> list[float]:
        vector = np.full(self.dim, 1e-3)
        for token in tokenize_for_index(text):
            vector[hashlib.sha256(token.encode()).digest()[0] % self.dim] += 1
        return [float(x) for x in vector / np.linalg.norm(vector)]
