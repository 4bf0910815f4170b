"""Retrieval at 10k and 100k synthetic passages with 1, 10 and 100 % allowed: vectors, keywords, the whole."""

import asyncio
import os
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import numpy as np
from numpy.typing import NDArray

from bench.resources import read_own_cpu_s, read_peak_mb
from indexes import document_writes
from indexes.chunks import Chunk
from indexes.embedding import vectors
from indexes.embedding.embedder import OnnxEmbedder
from indexes.embedding.model import locate_model
from indexes.embedding.vector_matrix import VectorMatrix, VectorRow, VectorScope, pack_vector
from indexes.grants import ALWAYS, SearchFilter, encode_instant
from indexes.keywords.keyword_index import KeywordIndex
from indexes.progress import Progress, show_progress
from indexes.search import Search
from indexes.store import Store
from indexes.text.language import WordPack
from indexes.types import Access, Band, Document, Query, Viewer

DIM = 384
CLUSTER_COUNT = 200
WORD_COUNT = 30_000
GROUP_COUNT = 100
"""Of one percent of the documents each."""
SHARES_PERCENT = (1, 10, 100)
PASSAGES_A_DOCUMENT = 10
WORDS_A_PASSAGE = 80
CANDIDATES = 30
NOW = datetime(2026, 1, 1, tzinfo=UTC)
SOURCE = "synthetic"
DOCUMENTS_A_BATCH = 500
"""Documents written in one transaction."""
WARM_UP_QUERIES = 5
"""They fill caches and do not count."""


@dataclass(frozen=True, slots=True)
class QueryKind:
    """What is asked: among `passages`, of which `share` percent are allowed, in the way `name` says."""

    passages: int
    share: int
    name: str


@dataclass(frozen=True, slots=True)
class SearchTimes:
    """How long queries of one kind took."""

    query_kind: QueryKind
    p50_ms: float
    p95_ms: float


class ClusterEmbedder:
    """Vectors around random centres, as texts of some subjects would have. Implements `Embedder`."""

    name = "synthetic"
    dim = DIM

    def __init__(self, seed: int):
        self._random = np.random.default_rng(seed)
        self._centres = self._random.normal(size=(CLUSTER_COUNT, DIM)).astype(np.float32)

    def choose_band(self, question_language: str | None, passage_language: str | None) -> Band:
        """From 0 to 1, whatever the languages."""
        return Band(0, 1)

    def embed_query(self, text: str) -> list[float]:
        """A vector of some subject, whatever the text; costs next to nothing."""
        return [float(x) for x in self.draw_vectors(1)[0]]

    def embed_passages(self, texts: list[str]) -> list[list[float]]:
        """As `embed_query`, for each."""
        return [self.embed_query(text) for text in texts]

    def draw_vectors(self, count: int) -> NDArray[np.float32]:
        """`count` vectors, not of length one."""
        near = self._centres[self._random.integers(0, CLUSTER_COUNT, count)]
        return near + self._random.normal(0, 0.7, (count, DIM)).astype(np.float32)


class WordGenerator:
    """Texts of made-up words; few are common and most are rare, as in a language (Zipf)."""

    def __init__(self, seed: int):
        self._random = Random(seed)
        syllables = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]
        self._words = ["".join(self._random.choices(syllables, k=3)) for _ in range(WORD_COUNT)]
        self._weights = list(np.cumsum(1 / np.arange(2, WORD_COUNT + 2)))

    def draw_words(self, count: int) -> str:
        """`count` words."""
        return " ".join(self._random.choices(self._words, cum_weights=self._weights, k=count))

    def draw_passages(self) -> list[Chunk]:
        """Passages made directly: cutting Markdown would take longer than all the rest."""
        return [
            Chunk((self.draw_words(2),), self.draw_words(WORDS_A_PASSAGE), str(number))
            for number in range(PASSAGES_A_DOCUMENT)
        ]


@dataclass(frozen=True, slots=True)
class SyntheticCorpus:
    """So many passages, drawn as they are written, with their vectors and words."""

    passages: int
    embedder: ClusterEmbedder
    words: WordGenerator


def run(arguments: list[str]) -> int:
    """Prints a table of medians and 95th percentiles; times are those of a query whose vector is at hand."""
    parser = ArgumentParser(prog="python -m bench search")
    parser.add_argument("--passages", type=int, action="append", help="10000 and 100000 by default")
    parser.add_argument("--queries", type=int, default=100, help="a share and kind")
    options = parser.parse_args(arguments)
    times: list[SearchTimes] = []
    if folder := locate_model("auto"):
        print(f"{_measure_model(folder)}\n")
    with show_progress() as progress:
        for size in options.passages or (10_000, 100_000):
            times += _measure_vectors(size, options.queries)
            times += asyncio.run(_measure_search(size, options.queries, progress))
    print("\n".join(_render_times(times)))
    return 0


def _measure_model(folder: Path) -> str:
    """What the default model costs. Asked first: its memory is what it adds to the process's peak."""
    before_mb, begun_s = read_peak_mb(), read_own_cpu_s()
    model = OnnxEmbedder(folder)
    loaded_s, added_mb = read_own_cpu_s() - begun_s, read_peak_mb() - before_mb
    question_ms = _measure_call_ms(
        20, lambda: model.embed_query("How many days of paid leave do I have this year?")
    )
    passages = ["The counter is open on five days of the week. " * 18] * 8
    passage_ms = _measure_call_ms(2, lambda: model.embed_passages(passages)) / len(passages)
    return (
        f"default model: loads in {loaded_s:.1f} s and {added_mb:.0f} MB; a question {question_ms:.0f} ms, "
        f"a passage of 200 tokens {passage_ms:.0f} ms (processor time)"
    )


def _measure_call_ms(repeats: int, call: Callable[[], object]) -> float:
    """CPU of one call, as the mean of so many."""
    begun_s = read_own_cpu_s()
    for _ in range(repeats):
        call()
    return (read_own_cpu_s() - begun_s) / repeats * 1e3


def _measure_vectors(size: int, queries: int) -> list[SearchTimes]:
    """The vector search alone."""
    clusters, random = ClusterEmbedder(1), Random(1)
    index = VectorMatrix(DIM)
    passage_vectors = clusters.draw_vectors(size)
    begun = time.perf_counter()
    index.replace_rows(
        VectorRow(id, vector, _build_scope(random.randrange(GROUP_COUNT)))
        for id, vector in enumerate(passage_vectors)
    )
    loaded_s = time.perf_counter() - begun
    print(f"{size} vectors: loaded in {loaded_s:.2f} s, {index.memory_bytes / 1e6:.0f} MB", file=sys.stderr)
    question_vectors = clusters.draw_vectors(queries)
    return [
        _time_calls(
            QueryKind(size, share, "vectors"),
            [_bind_search(index, vector, _build_filter(share)) for vector in question_vectors],
        )
        for share in SHARES_PERCENT
    ]


def _build_scope(acl: int) -> VectorScope:
    return VectorScope(acl, 0, None, "en", SOURCE)


def _build_filter(share: int) -> SearchFilter:
    return SearchFilter(frozenset(range(share)), frozenset({SOURCE}), encode_instant(NOW))


def _bind_search(
    index: VectorMatrix, vector: NDArray[np.float32], allowed: SearchFilter
) -> Callable[[], object]:
    return lambda: index.find_nearest(vector, allowed, CANDIDATES)


def _time_calls(query_kind: QueryKind, calls: Sequence[Callable[[], object]]) -> SearchTimes:
    taken_ms = []
    for call in calls:
        begun = time.perf_counter()
        call()
        taken_ms.append((time.perf_counter() - begun) * 1e3)
    return _summarize_times(query_kind, taken_ms)


def _summarize_times(query_kind: QueryKind, taken_ms: Sequence[float]) -> SearchTimes:
    p50, p95 = np.percentile(taken_ms, (50, 95))
    return SearchTimes(query_kind, float(p50), float(p95))


async def _measure_search(size: int, queries: int, progress: Progress) -> list[SearchTimes]:
    """The product's search over the product's store, with vectors and without."""
    times = []
    with tempfile.TemporaryDirectory(prefix="fiador-bench-") as folder:
        root, corpus = Path(folder), SyntheticCorpus(size, ClusterEmbedder(2), WordGenerator(2))
        async with Store(root / "truth.db") as store, KeywordIndex(root / "words", store) as keyword_index:
            await _write_corpus(store, corpus, progress)
            await keyword_index.drain()
            packs = {"en": WordPack("Latin", frozenset())}
            for kind, embedder in (("keywords", None), ("both, checked", corpus.embedder)):
                async with Search(store, keyword_index, packs=packs, embedder=embedder) as search:
                    for share in SHARES_PERCENT:
                        taken_ms = [
                            await _time_search_ms(search, corpus.words.draw_words(6), share)
                            for _ in range(WARM_UP_QUERIES + queries)
                        ]
                        times.append(
                            _summarize_times(QueryKind(size, share, kind), taken_ms[WARM_UP_QUERIES:])
                        )
                        progress(f"{size}: {kind}, {share} %", 1.0)
    return times


async def _time_search_ms(search: Search, text: str, share: int) -> float:
    groups = frozenset(f"group-{i}" for i in range(share))
    viewer = Viewer(groups, NOW, frozenset({SOURCE}))
    begun = time.perf_counter()
    await search.find_evidence(Query((text,)), viewer)
    return (time.perf_counter() - begun) * 1e3


async def _write_corpus(store: Store, corpus: SyntheticCorpus, progress: Progress) -> None:
    numbers = range(corpus.passages // PASSAGES_A_DOCUMENT)
    for start in range(0, len(numbers), DOCUMENTS_A_BATCH):
        batch = [
            (_build_document(number), corpus.words.draw_passages())
            for number in numbers[start : start + DOCUMENTS_A_BATCH]
        ]
        await _write_documents(store, batch)
        progress(f"writing {corpus.passages} passages", (start + DOCUMENTS_A_BATCH) / len(numbers))
    await _write_vectors(store, corpus.embedder)


async def _write_vectors(store: Store, embedder: ClusterEmbedder) -> None:
    while passages := await store.run_read(
        lambda connection: vectors.list_unembedded(connection, embedder.name, 0, 20_000)
    ):
        drawn = embedder.draw_vectors(len(passages))
        blobs = {passage.hash: pack_vector(vector) for passage, vector in zip(passages, drawn, strict=True)}
        await store.save_vectors(embedder.name, blobs)


async def _write_documents(store: Store, batch: Sequence[tuple[Document, Sequence[Chunk]]]) -> None:
    await store.run_write(
        lambda connection: [
            document_writes.put_document(connection, document, chunks) for document, chunks in batch
        ]
    )


def _build_document(number: int) -> Document:
    return Document(
        id=f"{SOURCE}/{number}",
        source=SOURCE,
        title=f"Document {number}",
        text="",
        access=Access(frozenset({f"group-{number % GROUP_COUNT}"}), ALWAYS),
        language="en",
    )


def _render_times(times: Sequence[SearchTimes]) -> Iterator[str]:
    yield f"load average {os.getloadavg()[0]:.1f}, peak memory of all sizes {read_peak_mb():.0f} MB\n"
    yield "| passages | allowed | what | p50 ms | p95 ms |"
    yield "|---|---|---|---|---|"
    for row in times:
        kind = row.query_kind
        yield f"| {kind.passages} | {kind.share} % | {kind.name} | {row.p50_ms:.2f} | {row.p95_ms:.2f} |"
