"""Group commit: all work that waits goes into one transaction; each caller learns its result after COMMIT.

One durable commit costs a disk flush, whatever it holds: sixty-four at once cost one flush, not sixty-four.
"""

import asyncio
import contextlib
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from indexes.storage.database import Database

T = TypeVar("T")
BATCH_MAX = 256
"""Items a transaction: bounds how long other processes wait for the lock."""


@dataclass(frozen=True, slots=True)
class _Fault:
    """What one item raised; the others of its batch are not touched by it."""

    error: Exception


@dataclass(frozen=True, slots=True)
class _Item(Generic[T]):
    work: Callable[[sqlite3.Connection], T]
    future: asyncio.Future[T]
    undo: Callable[[T], None] | None


def _nothing(point: str) -> None:
    """The failpoint of ordinary runs."""


class Commits:
    """`async with` around the one task that writes.

    `guard` runs at the start of each transaction and again after its COMMIT; if it raises, everything of that
    transaction counts as failed. `failpoint` is called with `before` and `after` each commit.
    """

    def __init__(
        self,
        db: Database,
        *,
        guard: Callable[[], None] = lambda: None,
        failpoint: Callable[[str], None] = _nothing,
    ):
        self._db = db
        self._guard = guard
        self._failpoint = failpoint
        self._waiting: list[_Item[Any]] = []
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._idle = asyncio.Event()
        self._idle.set()

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._run(), name=f"commits {self._db.path.name}")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.drain()
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
            self._task = None

    def submit(
        self, work: Callable[[sqlite3.Connection], T], *, undo: Callable[[T], None] | None = None
    ) -> asyncio.Future[T]:
        """Queues `work`. The future holds its value once that is on disk, or what it raised.

        Cancelling the future before the transaction begins drops the work; if it was committed after all,
        `undo` gets the value.
        """
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        if self._task is None:
            future.set_exception(sqlite3.ProgrammingError(f"{self._db.path} is not open"))
            return future
        self._waiting.append(_Item(work, future, undo))
        self._idle.clear()
        self._wake.set()
        return future

    @property
    def idle(self) -> bool:
        """Whether nothing waits."""
        return self._idle.is_set()

    async def drain(self) -> None:
        """Waits until nothing waits."""
        await self._idle.wait()

    async def _run(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._waiting:
                batch, self._waiting = self._waiting[:BATCH_MAX], self._waiting[BATCH_MAX:]
                await self._commit([item for item in batch if not item.future.done()])
            self._idle.set()

    async def _commit(self, batch: list[_Item[Any]]) -> None:
        if not batch:
            return
        try:
            values = await self._db.transaction(lambda connection: self._each(connection, batch))
            self._failpoint("after")
            self._guard()
        except Exception as fault:
            values = [_Fault(fault)] * len(batch)
        for item, value in zip(batch, values, strict=True):
            _resolve(item, value)

    def _each(self, connection: sqlite3.Connection, batch: list[_Item[Any]]) -> list[object]:
        self._guard()
        values = [_alone(connection, item) for item in batch]
        self._failpoint("before")
        return values


def _alone(connection: sqlite3.Connection, item: _Item[Any]) -> object:
    """One item in a savepoint of its own: what it raises undoes itself. A broken store breaks the batch."""
    connection.execute("SAVEPOINT item")
    try:
        value = item.work(connection)
    except Exception as fault:
        if isinstance(fault, sqlite3.DatabaseError) and not isinstance(fault, sqlite3.IntegrityError):
            raise
        connection.execute("ROLLBACK TO item")
        value = _Fault(fault)
    connection.execute("RELEASE item")
    return value


def _resolve(item: _Item[Any], value: object) -> None:
    if item.future.done():
        if item.undo is not None and not isinstance(value, _Fault):
            item.undo(value)
    elif isinstance(value, _Fault):
        item.future.set_exception(value.error)
    else:
        item.future.set_result(value)
