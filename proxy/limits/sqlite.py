"""The counts of several workers, in one SQLite file that may be lost at any time."""

import asyncio
import logging
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from indexes.storage.database import Database
from indexes.storage.group_commit import GroupCommit
from proxy.domain.errors import StoreError
from proxy.ledger.owner import Owner
from proxy.limits.rules import AT_ONCE_RETRY_S, Full, Rule, taken, wait

log = logging.getLogger("fiador.limits")
PRUNE_EVERY = 500
"""Requests between two looks at the size of the table."""
SCHEMA = """
CREATE TABLE IF NOT EXISTS buckets (
  name    TEXT NOT NULL,
  subject TEXT NOT NULL,
  full_at REAL NOT NULL,          -- Unix seconds
  PRIMARY KEY (name, subject)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS buckets_full ON buckets (full_at);
CREATE TABLE IF NOT EXISTS running (
  name    TEXT NOT NULL,
  subject TEXT NOT NULL,
  owner   TEXT NOT NULL,
  count   INTEGER NOT NULL,
  PRIMARY KEY (name, subject, owner)
) STRICT, WITHOUT ROWID;
"""


class SqliteStore:
    """`async with SqliteStore(path)`, one in each worker over one file; at most `table_max` windows.

    A file that cannot be opened does not stop the start: every `take` then raises, and `Limits` lets through.
    """

    def __init__(self, path: Path, table_max: int = 50_000, *, clock: Callable[[], float] = time.time):
        self._table_max = table_max
        self._clock = clock
        self._owner = Owner.current()
        self._takes = 0
        self._path = path
        self._commits: GroupCommit | None = None
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            try:
                db = Database(self._path, schema=SCHEMA, busy_s=0.2, synchronous="OFF")
                await stack.enter_async_context(db)
                commits = await stack.enter_async_context(GroupCommit(db))
                await commits.submit(self._bury)
            except (sqlite3.Error, OSError) as fault:
                log.error("limits are off, their store cannot be opened: %s: %s", self._path, fault)
                return self
            self._commits, self._stack = commits, stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._commits = None
        await self._stack.aclose()

    async def take(self, rules: Sequence[Rule], now: float) -> Full | None:
        """See `Store`. One transaction: nothing comes between the check and the count."""
        commits = self._open()
        self._takes += 1
        if self._takes % PRUNE_EVERY == 0:
            commits.submit(self._prune)
        # A request that has given up waiting passes uncounted; what it took after all is given back.
        future = commits.submit(
            lambda connection: self._take(connection, rules, now),
            undo=lambda full: None if full else self._undo(rules),
        )
        try:
            return await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled() and not future.exception() and not future.result():
                self._undo(rules)  # it was cancelled between the answer's coming and its being heard
            raise

    async def release(self, rules: Sequence[Rule]) -> None:
        """See `Store`."""
        await self._open().submit(lambda connection: self._free(connection, rules))

    def _open(self) -> GroupCommit:
        if self._commits is None:
            raise StoreError("The store of the limits is not open.")
        return self._commits

    def _undo(self, rules: Sequence[Rule]) -> None:
        self._open().submit(lambda connection: self._free(connection, rules))

    def _take(self, connection: sqlite3.Connection, rules: Sequence[Rule], now: float) -> Full | None:
        for rule in rules:
            wait_s = _wait(connection, rule, now)
            if wait_s > 0:
                return Full(rule, wait_s)
        for rule in rules:
            if rule.seconds:
                _fill(connection, rule, now)
            else:
                self._count(connection, rule, 1)
        return None

    def _free(self, connection: sqlite3.Connection, rules: Sequence[Rule]) -> None:
        for rule in rules:
            if not rule.seconds:
                self._count(connection, rule, -1)

    def _count(self, connection: sqlite3.Connection, rule: Rule, change: int) -> None:
        connection.execute(
            "INSERT INTO running VALUES (?1, ?2, ?3, max(0, ?4)) "
            "ON CONFLICT DO UPDATE SET count = max(0, count + ?4)",
            (rule.limit, rule.subject, str(self._owner), change),
        )

    def _bury(self, connection: sqlite3.Connection) -> None:
        """Requests of dead workers are over."""
        for (owner,) in connection.execute("SELECT DISTINCT owner FROM running").fetchall():
            if Owner.parse(owner).dead(self._owner):
                connection.execute("DELETE FROM running WHERE owner = ?", (owner,))
        connection.execute("DELETE FROM running WHERE count = 0")

    def _prune(self, connection: sqlite3.Connection) -> None:
        """Full buckets say nothing; beyond `table_max` those go that are full soonest."""
        self._bury(connection)
        connection.execute("DELETE FROM buckets WHERE full_at <= ?", (self._clock(),))
        over = connection.execute("SELECT count(*) - ? FROM buckets", (self._table_max,)).fetchone()[0]
        if over > 0:
            connection.execute(
                "DELETE FROM buckets WHERE (name, subject) IN "
                "(SELECT name, subject FROM buckets ORDER BY full_at LIMIT ?)",
                (over,),
            )


def _wait(connection: sqlite3.Connection, rule: Rule, now: float) -> float:
    """Seconds until one more request fits; 0: now."""
    where = (rule.limit, rule.subject)
    if not rule.seconds:
        query = "SELECT total(count) FROM running WHERE name = ? AND subject = ?"
        return AT_ONCE_RETRY_S if connection.execute(query, where).fetchone()[0] >= rule.count else 0
    row = connection.execute("SELECT full_at FROM buckets WHERE name = ? AND subject = ?", where).fetchone()
    return max(0.0, wait(rule, row[0] if row else now, now))


def _fill(connection: sqlite3.Connection, rule: Rule, now: float) -> None:
    where = (rule.limit, rule.subject)
    row = connection.execute("SELECT full_at FROM buckets WHERE name = ? AND subject = ?", where).fetchone()
    full_at = taken(rule, row[0] if row else now, now)
    connection.execute("INSERT OR REPLACE INTO buckets VALUES (?, ?, ?)", (*where, full_at))
