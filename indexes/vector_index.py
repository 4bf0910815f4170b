"""The vectors of one model in memory, following the truth by its outbox."""

import threading
from collections.abc import Iterable, Iterator

from indexes.embedding.vector_matrix import (
    VectorMatrix,
    VectorRow,
    VectorScope,
    is_intact_vector,
    unpack_vector,
)
from indexes.grants import SearchFilter
from indexes.outbox import OutboxItem
from indexes.read_snapshot import ReadSnapshot

PAGE = 2_000
"""Passages read at once."""


class VectorIndex:
    """A `VectorMatrix` over the passages that have a vector of `model`. Any number of threads may use it."""

    def __init__(self, model: str, dim: int):
        self._model = model
        self._matrix = VectorMatrix(dim)
        self._applied_position = ("", 0)
        """Epoch and outbox row up to which the rows are complete."""
        self._follow_lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._matrix)

    def follow_outbox(self, snapshot: ReadSnapshot) -> None:
        """Takes what has changed; everything at first, and where the outbox no longer reaches back."""
        position = snapshot.read_position()
        if self._applied_position == (position.epoch, position.seq):
            return
        with self._follow_lock:
            epoch, seq = self._applied_position
            if epoch != position.epoch or not position.horizon <= seq <= position.seq:
                self._matrix.replace_rows(self._read_all_rows(snapshot))
                seq = position.seq
            while (batch := snapshot.read_batch(seq, PAGE)).ids:
                rows = list(self._read_rows(snapshot, batch.items))
                self._matrix.add_rows(rows)
                self._matrix.remove_rows(set(batch.ids) - {row.id for row in rows})
                seq = batch.seq
            self._applied_position = (position.epoch, seq)

    def find_nearest(self, vector: list[float], allowed: SearchFilter, limit: int) -> list[int]:
        """Ids of at most `limit` allowed passages, nearest first."""
        return [id for id, _ in self._matrix.find_nearest(vector, allowed, limit)]

    def compute_cosines(self, vector: list[float], ids: Iterable[int]) -> dict[int, float]:
        """Cosine by id, for those that have a vector. Unfiltered: only for passages already rechecked."""
        return self._matrix.compute_cosines(vector, ids)

    def _read_all_rows(self, snapshot: ReadSnapshot) -> Iterator[VectorRow]:
        after = 0
        while items := snapshot.read_items(after, PAGE):
            yield from self._read_rows(snapshot, items)
            after = items[-1].id

    def _read_rows(self, snapshot: ReadSnapshot, items: Iterable[OutboxItem]) -> Iterator[VectorRow]:
        items = list(items)
        blobs = snapshot.read_vectors(self._model, (item.hash for item in items))
        for item in items:
            blob = blobs.get(item.hash, b"")
            # A damaged one is as good as none, until the next sync.
            if is_intact_vector(blob, self._matrix.dim):
                scope = VectorScope(item.acl, item.valid_from, item.ends, item.language, item.source)
                yield VectorRow(item.id, unpack_vector(blob), scope)
