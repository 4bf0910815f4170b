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
class _CommitFault:
    """What one item raised; the others of its batch are not touched by it."""

    error: Exception


@dataclass(frozen=True, slots=True)
class _PendingWork(Generic[T]):
    work: Callable[[sqlite3.Connection], T]
    future: asyncio.Future[T]
    undo: Callable[[T], None] | None


def _ignore_failpoint(point: str) -> None:
    """The failpoint of ordinary runs."""


class GroupCommit:
    """`async with` around the one task that writes.

    `guard` runs at the start of each transaction and again after its COMMIT; if it raises, everything of that
    transaction counts as failed. `failpoint` is called with `before` and `after` each commit.
    """

    def __init__(
        self,
        database: Database,
        *,
        guard: Callable[[], None] = lambda: None,
        failpoint: Callable[[str], None] = _ignore_failpoint,
    ):
        self._database = database
        self._guard = guard
        self._failpoint = failpoint
        self._pending: list[_PendingWork[Any]] = []
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._idle = asyncio.Event()
        self._idle.set()

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._run_writer(), name=f"commits {self._database.path.name}")
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
            future.set_exception(sqlite3.ProgrammingError(f"{self._database.path} is not open"))
            return future
        self._pending.append(_PendingWork(work, future, undo))
        self._idle.clear()
        self._wake.set()
        return future

    @property
    def is_idle(self) -> bool:
        """Whether nothing waits."""
        return self._idle.is_set()

    async def drain(self) -> None:
        """Waits until nothing waits."""
        await self._idle.wait()

    async def _run_writer(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._pending:
                batch, self._pending = self._pending[:BATCH_MAX], self._pending[BATCH_MAX:]
                await self._commit_batch([item for item in batch if not item.future.done()])
            self._idle.set()

    async def _commit_batch(self, batch: list[_PendingWork[Any]]) -> None:
        if not batch:
            return
        try:
            values = await self._database.run_transaction(
                lambda connection: self._execute_batch(connection, batch)
            )
            self._failpoint("after")
            self._guard()
        except Exception as fault:
            values = [_CommitFault(fault)] * len(batch)
        for item, value in zip(batch, values, strict=True):
            _resolve_future(item, value)

    def _execute_batch(self, connection: sqlite3.Connection, batch: list[_PendingWork[Any]]) -> list[object]:
        self._guard()
        values = [_execute_item(connection, item) for item in batch]
        self._failpoint("before")
        return values


def _execute_item(connection: sqlite3.Connection, item: _PendingWork[Any]) -> object:
    """One item in a savepoint of its own: what it raises undoes itself. A broken store breaks the batch."""
    connection.execute("SAVEPOINT item")
    try:
        value = item.work(connection)
    except Exception as fault:
        if isinstance(fault, sqlite3.DatabaseError) and not isinstance(fault, sqlite3.IntegrityError):
            raise
        connection.execute("ROLLBACK TO item")
        value = _CommitFault(fault)
    connection.execute("RELEASE item")
    return value


def _resolve_future(item: _PendingWork[Any], value: object) -> None:
    if item.future.done():
        if item.undo is not None and not isinstance(value, _CommitFault):
            item.undo(value)
    elif isinstance(value, _CommitFault):
        item.future.set_exception(value.error)
    else:
        item.future.set_result(value)
