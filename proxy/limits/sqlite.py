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
from proxy.limits.rules import CONCURRENT_RETRY_S, LimitRule, WindowFull, compute_full_at, compute_wait_s

log = logging.getLogger("fiador.limits")
PRUNE_EVERY_REQUESTS = 500
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


class SqliteLimitStore:
    """`async with SqliteLimitStore(path)`, one in each worker over one file; at most `table_max` windows.

    A file that cannot be opened does not stop the start: every `count_request` then raises, and `RateLimits`
    lets the request pass.
    """

    def __init__(self, path: Path, table_max: int = 50_000, *, clock: Callable[[], float] = time.time):
        self._table_max = table_max
        self._clock = clock
        self._owner = Owner.read_current()
        self._request_count = 0
        self._path = path
        self._commits: GroupCommit | None = None
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            try:
                db = Database(self._path, schema=SCHEMA, busy_s=0.2, synchronous="OFF")
                await stack.enter_async_context(db)
                commits = await stack.enter_async_context(GroupCommit(db))
                await commits.submit(self._delete_dead_workers)
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

    async def count_request(self, rules: Sequence[LimitRule], now: float) -> WindowFull | None:
        """See `LimitStore`. One transaction: nothing comes between the check and the count."""
        commits = self._require_commits()
        self._request_count += 1
        if self._request_count % PRUNE_EVERY_REQUESTS == 0:
            commits.submit(self._prune_buckets)
        # A request that has given up waiting passes uncounted; what it took after all is given back.
        future = commits.submit(
            lambda connection: self._count_under_rules(connection, rules, now),
            undo=lambda full: None if full else self._submit_undo(rules),
        )
        try:
            return await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled() and not future.exception() and not future.result():
                self._submit_undo(rules)  # it was cancelled between the answer's coming and its being heard
            raise

    async def end_request(self, rules: Sequence[LimitRule]) -> None:
        """See `LimitStore`."""
        await self._require_commits().submit(lambda connection: self._end_under_rules(connection, rules))

    def _require_commits(self) -> GroupCommit:
        if self._commits is None:
            raise StoreError("The store of the limits is not open.")
        return self._commits

    def _submit_undo(self, rules: Sequence[LimitRule]) -> None:
        self._require_commits().submit(lambda connection: self._end_under_rules(connection, rules))

    def _count_under_rules(
        self, connection: sqlite3.Connection, rules: Sequence[LimitRule], now: float
    ) -> WindowFull | None:
        for rule in rules:
            wait_s = _read_wait_s(connection, rule, now)
            if wait_s > 0:
                return WindowFull(rule, wait_s)
        for rule in rules:
            if rule.window_s:
                _fill_bucket(connection, rule, now)
            else:
                self._change_running_count(connection, rule, 1)
        return None

    def _end_under_rules(self, connection: sqlite3.Connection, rules: Sequence[LimitRule]) -> None:
        for rule in rules:
            if not rule.window_s:
                self._change_running_count(connection, rule, -1)

    def _change_running_count(self, connection: sqlite3.Connection, rule: LimitRule, change: int) -> None:
        connection.execute(
            "INSERT INTO running VALUES (?1, ?2, ?3, max(0, ?4)) "
            "ON CONFLICT DO UPDATE SET count = max(0, count + ?4)",
            (rule.name, rule.subject, str(self._owner), change),
        )

    def _delete_dead_workers(self, connection: sqlite3.Connection) -> None:
        """The running requests of dead workers are over."""
        for (owner,) in connection.execute("SELECT DISTINCT owner FROM running").fetchall():
            if Owner.parse(owner).is_dead(self._owner):
                connection.execute("DELETE FROM running WHERE owner = ?", (owner,))
        connection.execute("DELETE FROM running WHERE count = 0")

    def _prune_buckets(self, connection: sqlite3.Connection) -> None:
        """Full buckets say nothing; beyond `table_max` those go that are full soonest."""
        self._delete_dead_workers(connection)
        connection.execute("DELETE FROM buckets WHERE full_at <= ?", (self._clock(),))
        excess = connection.execute("SELECT count(*) - ? FROM buckets", (self._table_max,)).fetchone()[0]
        if excess > 0:
            connection.execute(
                "DELETE FROM buckets WHERE (name, subject) IN "
                "(SELECT name, subject FROM buckets ORDER BY full_at LIMIT ?)",
                (excess,),
            )


def _read_wait_s(connection: sqlite3.Connection, rule: LimitRule, now: float) -> float:
    """Seconds until one more request fits; 0: now."""
    bucket_key = (rule.name, rule.subject)
    if not rule.window_s:
        query = "SELECT total(count) FROM running WHERE name = ? AND subject = ?"
        return CONCURRENT_RETRY_S if connection.execute(query, bucket_key).fetchone()[0] >= rule.count else 0
    row = connection.execute(
        "SELECT full_at FROM buckets WHERE name = ? AND subject = ?", bucket_key
    ).fetchone()
    return max(0.0, compute_wait_s(rule, row[0] if row else now, now))


def _fill_bucket(connection: sqlite3.Connection, rule: LimitRule, now: float) -> None:
    bucket_key = (rule.name, rule.subject)
    row = connection.execute(
        "SELECT full_at FROM buckets WHERE name = ? AND subject = ?", bucket_key
    ).fetchone()
    full_at = compute_full_at(rule, row[0] if row else now, now)
    connection.execute("INSERT OR REPLACE INTO buckets VALUES (?, ?, ?)", (*bucket_key, full_at))
