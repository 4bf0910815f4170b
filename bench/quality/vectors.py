"""An embedder that remembers on disk: a corpus is embedded once, however often it is measured."""

import hashlib
import sqlite3
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Self

from indexes.embedding.embedder import OnnxEmbedder
from indexes.embedding.model import locate_default_model, verify_model
from indexes.embedding.vector_matrix import pack_vector, unpack_vector
from indexes.progress import Progress, ignore_progress

TEXTS_A_BATCH = 32

_SCHEMA = "CREATE TABLE IF NOT EXISTS vector (key BLOB PRIMARY KEY, half_floats BLOB NOT NULL) WITHOUT ROWID"


class CachedEmbedder:
    """Implements `Embedder` over a model folder, loaded for the first text not met before. To be closed."""

    def __init__(self, folder: Path, cache_folder: Path):
        verified = verify_model(folder)
        self.name = verified.identity
        self.dim = verified.card.dim
        self.choose_band = verified.card.choose_band
        self._folder = folder
        cache_folder.mkdir(parents=True, exist_ok=True)
        # A search embeds its questions in a thread of its own.
        self._connection = sqlite3.connect(cache_folder / "vectors.db", check_same_thread=False, timeout=60)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute(_SCHEMA)

    @cached_property
    def _model(self) -> OnnxEmbedder:
        return OnnxEmbedder(self._folder)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()

    def embed_query(self, text: str) -> list[float]:
        """As the model's, to half floats."""
        key = self._hash_text("query", text)
        packed = self._read_cached_vectors([key]).get(key)
        if packed is None:
            packed = self._save_vectors({key: self._model.embed_query(text)})[key]
        return list(map(float, unpack_vector(packed)))

    def embed_passages(self, texts: list[str], progress: Progress = ignore_progress) -> list[list[float]]:
        """As the model's, to half floats; what is made is kept at once, so that a run may be broken off."""
        keys = [self._hash_text("passage", text) for text in texts]
        packed = self._read_cached_vectors(keys)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in packed}
        todo = sorted(missing, key=lambda key: len(missing[key]))
        for start in range(0, len(todo), TEXTS_A_BATCH):
            batch = todo[start : start + TEXTS_A_BATCH]
            vectors = self._model.embed_passages([missing[key] for key in batch])
            packed |= self._save_vectors(dict(zip(batch, vectors, strict=True)))
            progress(f"embedding {len(todo)} passages", min(1, (start + TEXTS_A_BATCH) / len(todo)))
        return [list(map(float, unpack_vector(packed[key]))) for key in keys]

    def _hash_text(self, kind: str, text: str) -> bytes:
        """Key of a text as a question or as a passage, which models embed differently."""
        return hashlib.sha256(f"{self.name}\0{kind}\0{text}".encode()).digest()

    def _read_cached_vectors(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        packed = {}
        for key in keys:
            row = self._connection.execute("SELECT half_floats FROM vector WHERE key = ?", (key,)).fetchone()
            if row:
                packed[key] = bytes(row[0])
        return packed

    def _save_vectors(self, vectors: dict[bytes, list[float]]) -> dict[bytes, bytes]:
        packed = {key: pack_vector(vector) for key, vector in vectors.items()}
        with self._connection:
            self._connection.executemany("INSERT OR REPLACE INTO vector VALUES (?, ?)", packed.items())
        return packed


def locate_cache_folder() -> Path:
    """Where vectors are kept: beside the default model, so that `FIADOR_MODEL_DIR` moves both."""
    return locate_default_model().parent / "bench"
