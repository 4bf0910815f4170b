"""One SQLite file: opened strictly, every transaction run whole in the connection's own thread."""

import asyncio
import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

import aiosqlite

T = TypeVar("T")


class Database:
    """An `async with` around one connection in WAL mode.

    `busy_s` bounds the wait for another process's lock; past it `sqlite3.OperationalError` is raised.
    A new file is its owner's alone: it may hold what not every user of the machine may read.
    """

    def __init__(self, path: Path, *, schema: str = "", busy_s: float = 5, synchronous: str = "FULL"):
        self.path = path
        self._schema = schema
        self._busy_s = busy_s
        self._synchronous = synchronous
        self._connection: aiosqlite.Connection | None = None

    async def __aenter__(self) -> Self:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if not self.path.exists():
            with suppress(OSError):  # SQLite says better why it cannot be had
                self.path.touch(0o600)
        await asyncio.to_thread(_try_open, self.path)
        connection = await aiosqlite.connect(self.path, isolation_level=None, timeout=self._busy_s)
        try:
            await self._enable_wal(connection)
            await connection.execute(f"PRAGMA synchronous = {self._synchronous}")
            await connection.execute("PRAGMA foreign_keys = ON")
            if self._schema:
                await connection.executescript(self._schema)
        except BaseException:
            await connection.close()
            raise
        self._connection = connection
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._connection is not None:
            await self._connection.close()
            self._connection = None

    async def _enable_wal(self, connection: aiosqlite.Connection) -> None:
        """WAL mode, waited for like any other lock.

        SQLite does not wait by itself here: of several processes that turn a new file into WAL at the same
        instant, each holds what the next one needs, so all but one are refused at once.
        """
        deadline = time.monotonic() + self._busy_s
        while True:
            try:
                await connection.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as fault:
                if fault.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() >= deadline:
                    raise
            await asyncio.sleep(0.001)

    async def run_transaction(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """`work` inside BEGIN IMMEDIATE … COMMIT, in one hop to the connection's thread.

        Whatever it raises rolls back. A cancelled caller does not tear it: the transaction ends either way.
        """
        return await self._run_in_thread(work, "BEGIN IMMEDIATE")

    async def run_read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """`work` inside one deferred transaction: a single snapshot, no write lock."""
        return await self._run_in_thread(work, "BEGIN")

    async def _run_in_thread(self, work: Callable[[sqlite3.Connection], T], begin: str) -> T:
        if self._connection is None:
            raise sqlite3.ProgrammingError(f"{self.path} is not open")
        # aiosqlite offers statement by statement only; whole transactions need this.
        raw = self._connection._conn
        running = self._connection._execute(_execute_transaction, raw, work, begin)  # type: ignore[no-untyped-call]
        return await asyncio.shield(running)


def _try_open(path: Path) -> None:
    """Opens and closes: where aiosqlite cannot, it leaves a thread that speaks to a loop that may be gone."""
    sqlite3.connect(path).close()


def _execute_transaction(
    connection: sqlite3.Connection, work: Callable[[sqlite3.Connection], T], begin: str
) -> T:
    connection.execute(begin)
    try:
        value = work(connection)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return value
