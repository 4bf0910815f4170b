"""The vector side of a query: its texts' vectors, the passages near them, and how near."""

import asyncio
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from indexes.types import Embedder, Passage, Query
from indexes.vector_index import VectorIndex

THREADS = 2
"""Questions embedded at once; a model that hangs takes these and no others."""


@dataclass(frozen=True, slots=True)
class SearchTuning:
    """How a search works; none of it decides what a viewer may see."""

    candidates: int = 30
    """Hits taken of each list."""
    timeout_s: float = 2
    """How long the vectors of a question are waited for."""
    cache_max: int = 2_000
    """Questions whose vectors are remembered."""
    default_language: str = "en"
    """Whose stop words serve a question of no recognised language."""


@dataclass(frozen=True, slots=True)
class QuestionVectors:
    """Vectors by text, or why there are none (empty: none were wanted)."""

    by_text: dict[str, list[float]] = field(default_factory=dict)
    fault: str = ""


class VectorSearch:
    """An embedder for questions and the index of passages that they are compared with."""

    def __init__(self, embedder: Embedder, tuning: SearchTuning):
        self.index = VectorIndex(embedder.name, embedder.dim)
        self.embedder = QuestionEmbedder(embedder, tuning)
        self.choose_band = embedder.choose_band

    def compute_cosines(
        self, passages: Sequence[Passage], query: Query, vectors: QuestionVectors
    ) -> dict[int, float]:
        """The best cosine of each passage with any of the query's texts, whichever list it came from."""
        ids = [passage.id for passage in passages]
        best: dict[int, float] = {}
        for text in query.texts:
            if text in vectors.by_text:
                for id, cosine in self.index.compute_cosines(vectors.by_text[text], ids).items():
                    best[id] = max(cosine, best.get(id, -1.0))
        return best


class QuestionEmbedder:
    """Vectors of questions: off the event loop, remembered, given up after `timeout_s`.

    The embedder's faults are never raised: `QuestionVectors.fault` says them.
    """

    def __init__(self, embedder: Embedder, tuning: SearchTuning):
        self._embedder = embedder
        self._timeout_s = tuning.timeout_s
        self._cache_max = tuning.cache_max
        self._cache: OrderedDict[str, list[float]] = OrderedDict()
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="embed")

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def embed_texts(self, texts: Iterable[str]) -> QuestionVectors:
        """Vectors of all `texts`, within one `timeout_s` for all of them."""
        wanted = list(dict.fromkeys(text for text in texts if text.strip()))
        try:
            async with asyncio.timeout(self._timeout_s):
                vectors = await asyncio.gather(*map(self._embed_text, wanted))
        except TimeoutError:
            return QuestionVectors(fault=f"the embedding took longer than {self._timeout_s:g} s")
        except Exception as fault:  # whatever a model raises, keywords must serve
            return QuestionVectors(fault=str(fault) or type(fault).__name__)
        return QuestionVectors(dict(zip(wanted, vectors, strict=True)))

    async def _embed_text(self, text: str) -> list[float]:
        vector = self._cache.get(text)
        if vector is None:
            loop = asyncio.get_running_loop()
            vector = await loop.run_in_executor(self._threads, self._embedder.embed_query, text)
        self._cache[text] = vector
        self._cache.move_to_end(text)
        while len(self._cache) > self._cache_max:
            self._cache.popitem(last=False)
        return vector
