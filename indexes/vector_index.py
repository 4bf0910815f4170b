"""The vectors of one model in memory, following the truth by its outbox."""

import threading
from collections.abc import Iterable, Iterator

from indexes.embedding.vector_matrix import Dense, Row, Scope, intact, unpack
from indexes.grants import Filter
from indexes.outbox import Item
from indexes.read_snapshot import Look

PAGE = 2_000
"""Passages read at once."""


class Matrix:
    """`Dense` over the passages that have a vector of `model`. Any number of threads may use it at once."""

    def __init__(self, model: str, dim: int):
        self._model = model
        self._dense = Dense(dim)
        self._seen = ("", 0)
        """Epoch and outbox row up to which the rows are complete."""
        self._following = threading.Lock()

    def __len__(self) -> int:
        return len(self._dense)

    def follow(self, look: Look) -> None:
        """Takes what has changed; everything at first, and where the outbox no longer reaches back."""
        place = look.place()
        if self._seen == (place.epoch, place.seq):
            return
        with self._following:
            epoch, seq = self._seen
            if epoch != place.epoch or not place.horizon <= seq <= place.seq:
                self._dense.load(self._rows_of_all(look))
                seq = place.seq
            while (batch := look.batch(seq, PAGE)).ids:
                rows = list(self._rows(look, batch.items))
                self._dense.add(rows)
                self._dense.remove(set(batch.ids) - {row.id for row in rows})
                seq = batch.seq
            self._seen = (place.epoch, seq)

    def search(self, vector: list[float], allowed: Filter, limit: int) -> list[int]:
        """Ids of at most `limit` allowed passages, nearest first."""
        return [found for found, _ in self._dense.search(vector, allowed, limit)]

    def cosines(self, vector: list[float], ids: Iterable[int]) -> dict[int, float]:
        """Cosine by id, for those that have a vector. Unfiltered: only for passages already rechecked."""
        return self._dense.cosines(vector, ids)

    def _rows_of_all(self, look: Look) -> Iterator[Row]:
        after = 0
        while items := look.everything(after, PAGE):
            yield from self._rows(look, items)
            after = items[-1].id

    def _rows(self, look: Look, items: Iterable[Item]) -> Iterator[Row]:
        items = list(items)
        blobs = look.vectors(self._model, (item.hash for item in items))
        for item in items:
            blob = blobs.get(item.hash, b"")
            if intact(blob, self._dense.dim):  # a damaged one is as good as none, until the next sync
                scope = Scope(item.acl, item.valid_from, item.ends, item.language, item.source)
                yield Row(item.id, unpack(blob), scope)
