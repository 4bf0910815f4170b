"""Exact vector search in memory, filtered like the keyword query: a matrix derived from the truth.

There is no file to keep consistent: rows come from the truth at start and by its outbox later. The search is
exact because approximate indexes lose most neighbours as soon as a filter leaves few rows allowed.
"""

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from indexes.grants import FOREVER, SearchFilter

Vector = NDArray[np.float32]

GATHER_MAX = 0.25
"""Up to this share of allowed rows copying them out is cheaper than multiplying the whole matrix."""
DEAD_MAX = 0.20
"""Above this share of dead rows the matrix is rewritten without them."""
UNIT_ERROR_MAX = 0.05
"""What rounding to half floats leaves far below, and bytes that are something else hardly ever."""
BLOCK_ROWS = 8192
"""Rows gathered or loaded at once: 12 MB at 384 dimensions, so that it stays near the cache."""


@dataclass(frozen=True, slots=True)
class VectorScope:
    """Who may find a row, when, and where it belongs. Times are integers of the truth's own clock unit."""

    acl: int
    valid_from: int
    valid_to: int | None
    language: str | None
    source: str


@dataclass(frozen=True, slots=True)
class VectorRow:
    """A passage's vector and scope. Any length of the vector but zero is made one."""

    id: int
    vector: Sequence[float] | NDArray[np.floating]
    scope: VectorScope


@dataclass(frozen=True, slots=True)
class _MatrixView:
    """One state of the index. Rows below `count` never change in place: readers need no lock.

    `matrix` and the columns may be longer than `count`; the writer appends there, then publishes a new view.
    """

    count: int
    matrix: Vector
    ids: NDArray[np.int64]
    acl: NDArray[np.int64]
    valid_from: NDArray[np.int64]
    valid_to: NDArray[np.int64]
    language: NDArray[np.int64]
    source: NDArray[np.int64]
    alive: NDArray[np.bool_]


_COLUMNS = ("ids", "acl", "valid_from", "valid_to", "language", "source", "alive")


class VectorMatrix:
    """Rows of unit vectors of `dim` numbers. One writer at a time (others wait), any number of readers.

    Keeps numpy's products to one thread in the whole process: requests share the cores, and a product that
    waits for a busy second core takes ten times as long as on one.
    """

    def __init__(self, dim: int):
        threadpool_limits(1, "blas")
        self.dim = dim
        self._view = _allocate_view(dim, 0)
        self._slots: dict[int, int] = {}
        self._codes: dict[str, int] = {}
        self._publish_lock = threading.Lock()
        self._write_lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._slots)

    @property
    def memory_bytes(self) -> int:
        """Bytes of RAM of the matrix and its columns, room to grow included."""
        view = self._view
        return view.matrix.nbytes + sum(int(getattr(view, name).nbytes) for name in _COLUMNS)

    def replace_rows(self, rows: Iterable[VectorRow]) -> None:
        """Replaces everything by `rows`; readers see the old rows until all are in."""
        with self._write_lock:
            view, slots = _allocate_view(self.dim, 0), dict[int, int]()
            for block in _split_row_blocks(rows):
                view = self._append_block(view, slots, block)
            self._publish_view(_compact_view(view, slots), slots)

    def add_rows(self, rows: Iterable[VectorRow]) -> None:
        """Adds `rows` in one step; a row whose id is present takes its place."""
        with self._write_lock:
            view, slots = self._view, dict(self._slots)
            for block in _split_row_blocks(rows):
                view = self._append_block(view, slots, block)
            self._publish_view(_compact_view(view, slots), slots)

    def remove_rows(self, ids: Iterable[int]) -> None:
        """Forgets the rows of `ids`; unknown ids are passed over."""
        with self._write_lock:
            slots = dict(self._slots)
            gone = [slot for id in ids if (slot := slots.pop(id, None)) is not None]
            self._publish_view(_compact_view(_mark_dead(self._view, gone), slots), slots)

    def update_scopes(self, scopes: Mapping[int, VectorScope]) -> None:
        """Gives rows another scope, all at once and without their vectors; unknown ids are passed over."""
        with self._write_lock:
            by_slot = {self._slots[id]: scope for id, scope in scopes.items() if id in self._slots}
            rows = np.fromiter(by_slot, np.int64, len(by_slot))
            view = replace(self._view, **{name: getattr(self._view, name).copy() for name in _COLUMNS})
            _write_scopes(view, rows, self._encode_scopes(list(by_slot.values())))
            self._publish_view(view, self._slots)

    def find_nearest(
        self, vector: Sequence[float] | Vector, allowed: SearchFilter, limit: int
    ) -> list[tuple[int, float]]:
        """At most `limit` pairs of passage id and cosine among the allowed rows, best first, ties by id."""
        view = self._view
        slots = np.flatnonzero(self._build_mask(view, allowed))
        if not len(slots) or limit < 1:
            return []
        cosines = _compute_cosines(view, slots, self._normalize_query(vector))
        if len(slots) > limit:
            best = np.argpartition(cosines, -limit)[-limit:]
            slots, cosines = slots[best], cosines[best]
        ids = view.ids[slots]
        order = np.lexsort((ids, -cosines))
        return [(int(ids[i]), float(cosines[i])) for i in order]

    def compute_cosines(self, vector: Sequence[float] | Vector, ids: Iterable[int]) -> dict[int, float]:
        """Cosine by passage id, for those of `ids` that have a row. Unfiltered: ask for checked ids only."""
        with self._publish_lock:
            view = self._view
            slots = {id: slot for id in ids if (slot := self._slots.get(id)) is not None}
        values = view.matrix[list(slots.values())] @ self._normalize_query(vector)
        return dict(zip(slots, map(float, values), strict=True))

    def _publish_view(self, view: _MatrixView, slots: dict[int, int]) -> None:
        with self._publish_lock:
            self._view, self._slots = view, slots

    def _append_block(self, view: _MatrixView, slots: dict[int, int], block: list[VectorRow]) -> _MatrixView:
        block = list({row.id: row for row in block}.values())
        vectors = self._normalize_block(block)
        view = _mark_dead(view, [slots[row.id] for row in block if row.id in slots])
        view = _grow_view(view, view.count + len(block))
        added = np.arange(view.count, view.count + len(block))
        view.matrix[added] = vectors
        view.ids[added] = [row.id for row in block]
        view.alive[added] = True
        _write_scopes(view, added, self._encode_scopes([row.scope for row in block]))
        slots.update(zip(view.ids[added].tolist(), added.tolist(), strict=True))
        return replace(view, count=view.count + len(block))

    def _normalize_block(self, block: list[VectorRow]) -> Vector:
        strange = [row for row in block if len(row.vector) != self.dim]
        if strange:
            raise ValueError(
                f"a vector of {len(strange[0].vector)} numbers; this index holds {self.dim} a row"
            )
        vectors = np.array([row.vector for row in block], np.float32)
        if not np.isfinite(vectors).all():
            raise ValueError("a vector holds a number that is not finite")
        return _normalize_rows(vectors)

    def _normalize_query(self, vector: Sequence[float] | Vector) -> Vector:
        unit = np.asarray(vector, np.float32)
        if unit.shape != (self.dim,):
            raise ValueError(f"a query of shape {unit.shape}; this index holds {self.dim} numbers a row")
        return _normalize_rows(unit[np.newaxis]).reshape(self.dim)

    def _encode_scopes(self, scopes: list[VectorScope]) -> NDArray[np.int64]:
        """Columns acl, valid_from, valid_to, language, source: one line a scope."""
        lines = [
            (
                scope.acl,
                scope.valid_from,
                FOREVER if scope.valid_to is None else scope.valid_to,
                -1 if scope.language is None else self._encode_name(scope.language),
                self._encode_name(scope.source),
            )
            for scope in scopes
        ]
        return np.array(lines, np.int64).reshape(len(scopes), 5)

    def _encode_name(self, name: str) -> int:
        return self._codes.setdefault(name, len(self._codes))

    def _build_mask(self, view: _MatrixView, allowed: SearchFilter) -> NDArray[np.bool_]:
        rows = slice(view.count)
        mask = view.alive[rows] & _match_codes(view.acl[rows], allowed.acls)
        mask &= (view.valid_from[rows] <= allowed.now) & (view.valid_to[rows] > allowed.now)
        mask &= _match_codes(view.source[rows], self._find_codes(allowed.sources))
        if allowed.languages:
            mask &= _match_codes(view.language[rows], self._find_codes(allowed.languages))
        return mask

    def _find_codes(self, names: frozenset[str]) -> list[int]:
        return [code for name in names if (code := self._codes.get(name)) is not None]


def pack_vector(vector: Sequence[float] | Vector) -> bytes:
    """A vector as the truth keeps it: little-endian half floats, two bytes a number, no recall lost."""
    return np.asarray(vector, "<f2").tobytes()


def unpack_vector(blob: bytes) -> Vector:
    """What `pack_vector` wrote, as single floats."""
    return np.frombuffer(blob, "<f2").astype(np.float32)


def is_intact_vector(blob: bytes, dim: int) -> bool:
    """Whether `unpack_vector` gives a unit vector of `dim` numbers: otherwise the bytes are damaged."""
    return len(blob) == 2 * dim and bool(abs(np.linalg.norm(unpack_vector(blob)) - 1) < UNIT_ERROR_MAX)


def _match_codes(column: NDArray[np.int64], wanted: Iterable[int]) -> NDArray[np.bool_]:
    """Which codes are wanted, by a table of all there are: five times as fast as numpy's own."""
    table = np.zeros(column.max(initial=0) + 2, np.bool_)
    table[[code for code in wanted if 0 <= code < len(table) - 1]] = True
    return table[column]  # the code -1, of no language, falls on the last place, which is never wanted


def _compute_cosines(view: _MatrixView, slots: NDArray[np.int64], unit: Vector) -> Vector:
    if len(slots) > GATHER_MAX * view.count:
        return np.asarray((view.matrix[: view.count] @ unit)[slots])
    starts = range(0, len(slots), BLOCK_ROWS)
    return np.concatenate([view.matrix[slots[start : start + BLOCK_ROWS]] @ unit for start in starts])


def _normalize_rows(vectors: Vector) -> Vector:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1), np.float32)


def _allocate_view(dim: int, room: int) -> _MatrixView:
    columns = {name: np.zeros(room, np.int64) for name in _COLUMNS[:-1]}
    return _MatrixView(0, np.empty((room, dim), np.float32), **columns, alive=np.zeros(room, np.bool_))


def _grow_view(view: _MatrixView, rows: int) -> _MatrixView:
    """The same rows with room for `rows`; by half as much again, so that appending stays cheap on average."""
    if rows <= len(view.ids):
        return view
    grown = _allocate_view(view.matrix.shape[1], max(rows, len(view.ids) * 3 // 2))
    return _copy_rows(view, slice(view.count), grown)


def _compact_view(view: _MatrixView, slots: dict[int, int]) -> _MatrixView:
    """The same rows without the dead, when these are many; `slots` is brought up to date in place."""
    if view.count - len(slots) <= DEAD_MAX * view.count:
        return view
    alive = np.flatnonzero(view.alive[: view.count])
    small = _copy_rows(view, alive, _allocate_view(view.matrix.shape[1], len(alive)))
    slots.update(zip(small.ids[: len(alive)].tolist(), range(len(alive)), strict=True))
    return small


def _copy_rows(view: _MatrixView, rows: slice | NDArray[np.int64], target: _MatrixView) -> _MatrixView:
    count = len(view.ids[rows])
    for name in ("matrix", *_COLUMNS):
        getattr(target, name)[:count] = getattr(view, name)[rows]
    return replace(target, count=count)


def _mark_dead(view: _MatrixView, slots: list[int]) -> _MatrixView:
    if not slots:
        return view
    alive = view.alive.copy()
    alive[slots] = False
    return replace(view, alive=alive)


def _write_scopes(view: _MatrixView, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> None:
    view.acl[rows], view.valid_from[rows], view.valid_to[rows], view.language[rows], view.source[rows] = (
        columns.T
    )


def _split_row_blocks(rows: Iterable[VectorRow]) -> Iterator[list[VectorRow]]:
    remaining = iter(rows)
    while block := list(islice(remaining, BLOCK_ROWS)):
        yield block
