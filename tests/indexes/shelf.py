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


def access(*groups: str, begins: datetime = ALWAYS, ends: datetime | None = None) -> Access:
    return Access(frozenset(groups), begins, ends)


def document(id: str, text: str, who: Access | None = None, **more: str | None) -> Document:
    """A document of the source that its id begins with, for `public` unless said otherwise."""
    title = more.pop("title", None) or id.rpartition("/")[2]
    return Document(id, id.partition("/")[0], title, text, who or access("public"), **more)


def viewer(*groups: str, now: datetime = NOW, sources: str = "docs", languages: str = "") -> Viewer:
    return Viewer(frozenset(groups), now, frozenset(sources.split()), frozenset(languages.split()))


async def put(store: Store, *documents: Document) -> None:
    for one in documents:
        await store.put_document(one, cut_document(one.text))


@dataclass(frozen=True, slots=True)
class Shelf:
    """A truth with its keyword index and a search over both."""

    store: Store
    lexical: KeywordIndex
    search: Search


@asynccontextmanager
async def shelf(
    folder: Path, embedder: "HashEmbedder | None" = None, degraded: str = ""
) -> AsyncIterator[Shelf]:
    async with (
        Store(folder / "truth.db", durable=False) as store,
        KeywordIndex(folder / "lexical", store) as lexical,
    ):
        search = Search(store, lexical, packs=PACKS, embedder=embedder, degraded=degraded)
        async with search:
            yield Shelf(store, lexical, search)


class HashEmbedder:
    """A bag of tokens as a unit vector: texts that share words are near. `broken`: what it raises instead."""

    def __init__(self, name: str = "bag-1", dim: int = 64):
        self.name = name
        self.dim = dim
        self.calls: list[str] = []
        self.broken: str = ""

    def choose_band(self, question_language: str | None, passage_language: str | None) -> Band:
        return Band(0, 1)

    def embed_query(self, text: str) -> list[float]:
        return self.embed_passages([text])[0]

    def embed_passages(self, texts: list[str]) -> list[list[float]]:
        if self.broken:
            raise EmbedError(self.broken)
        self.calls += texts
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> list[float]:
        vector = np.full(self.dim, 1e-3)
        for token in tokenize_for_index(text):
            vector[hashlib.sha256(token.encode()).digest()[0] % self.dim] += 1
        return [float(x) for x in vector / np.linalg.norm(vector)]
