"""The decision log: one row a request, written beside the request's path, pruned after `keep_days`."""

import asyncio
import contextlib
import json
import logging
import re
import sqlite3
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import fields, replace
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from indexes.storage.database import Database
from indexes.storage.group_commit import GroupCommit
from proxy.domain.errors import StoreError
from proxy.domain.trace import Trace
from proxy.domain.types import Caller, Decision, Layer

T = TypeVar("T")
log = logging.getLogger("fiador.decisions")
PENDING_ROWS_MAX = 10_000
"""Rows that may wait for a slow disk; beyond them rows are counted as lost, memory is not."""
PRUNE_EVERY_ROWS = 1_000
"""Rows written between two looks for old ones."""
DAY_S = 86_400
UPSTREAM_FAULT_PATTERN = re.compile(r"HTTP \d+|\w*")
"""How an upstream failed, without its own words for it: they may repeat what it was asked."""
JSON_TRACE_FIELDS = tuple(item.name for item in fields(Trace) if item.name not in ("caller", "decision"))
SCHEMA = """
CREATE TABLE IF NOT EXISTS decisions (
  id       TEXT PRIMARY KEY,
  started  REAL NOT NULL,
  key_id   TEXT NOT NULL,
  decision TEXT NOT NULL,
  trace    TEXT NOT NULL       -- JSON: every other field
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS decisions_started ON decisions (started);
CREATE INDEX IF NOT EXISTS decisions_key ON decisions (key_id, started);
"""


class SqliteDecisionLog:
    """`async with SqliteDecisionLog(path)` (implements `ports.DecisionLog`).

    `keep_questions`: keep what was asked and what was stopped. `lost_count` counts rows that could not be
    written.
    """

    def __init__(
        self,
        path: Path,
        *,
        keep_questions: bool = True,
        keep_days: int = 90,
        clock: Callable[[], float] = time.time,
    ):
        self.path = path
        self.lost_count = 0
        self._keep_questions = keep_questions
        self._keep_s = keep_days * DAY_S
        self._clock = clock
        self._pending_count = self._write_count = 0
        self._prune_task: asyncio.Future[None] | None = None
        self._database = Database(path, schema=SCHEMA, synchronous="NORMAL")
        self._commits = GroupCommit(self._database)
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            try:
                await stack.enter_async_context(self._database)
                await stack.enter_async_context(self._commits)
                self.path.chmod(0o600)
                await self.prune_rows()
            except (sqlite3.Error, OSError) as fault:
                raise StoreError(
                    "The decision log cannot be opened.", detail=f"{self.path}: {fault}"
                ) from fault
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.aclose()

    async def write(self, trace: Trace) -> None:
        """Queues the row and returns. Never raises: what cannot be written is counted in `lost_count`."""
        try:
            if self._pending_count >= PENDING_ROWS_MAX:
                raise StoreError("too many rows wait")
            row = _build_decision_row(trace if self._keep_questions else redact_trace(trace))
            future = self._commits.submit(lambda connection: _insert_decision(connection, row))
        except Exception as fault:
            self._count_lost_row(fault)
            return
        self._pending_count += 1
        future.add_done_callback(self._finish_write)
        self._write_count += 1
        if self._write_count % PRUNE_EVERY_ROWS == 0:
            self._prune_task = asyncio.ensure_future(self._try_prune_rows())

    async def read_trace(self, request_id: str) -> Trace | None:
        """The trace of one request, as far as it was kept."""
        rows = await self._select_traces("WHERE id = ?", (request_id,))
        return rows[0] if rows else None

    async def list_recent_traces(
        self, count: int, *, key_id: str | None = None, decision: Decision | None = None
    ) -> list[Trace]:
        """The last `count` traces, newest first, of one key or one decision if named."""
        return await self._select_traces(
            "WHERE (?1 IS NULL OR key_id = ?1) AND (?2 IS NULL OR decision = ?2) "
            "ORDER BY started DESC, id LIMIT ?3",
            (key_id, decision, count),
        )

    async def prune_rows(self) -> int:
        """Deletes rows older than `keep_days`; returns how many."""
        oldest = self._clock() - self._keep_s
        return await self._commits.submit(
            lambda c: c.execute("DELETE FROM decisions WHERE started < ?", (oldest,)).rowcount
        )

    async def _try_prune_rows(self) -> None:
        with contextlib.suppress(sqlite3.Error):
            await self.prune_rows()

    async def _select_traces(self, condition: str, values: tuple[object, ...]) -> list[Trace]:
        """Rows after everything that waits has been written. Raises StoreError."""
        statement = f"SELECT key_id, decision, trace FROM decisions {condition}"
        try:
            rows = await self._commits.submit(lambda c: c.execute(statement, values).fetchall())
        except sqlite3.Error as fault:
            raise StoreError("The decision log does not answer.", detail=f"{self.path}: {fault}") from fault
        return [_parse_decision_row(*row) for row in rows]

    def _finish_write(self, future: asyncio.Future[None]) -> None:
        self._pending_count -= 1
        fault = None if future.cancelled() else future.exception()
        if fault is not None:
            self._count_lost_row(fault)

    def _count_lost_row(self, fault: BaseException) -> None:
        self.lost_count += 1
        with contextlib.suppress(Exception):
            log.error("a decision was not kept: %s: %s", type(fault).__name__, fault)


def redact_trace(trace: Trace) -> Trace:
    """The trace without anything that the caller or a model said: for where `log.questions` is off."""
    fault_kind = (
        UPSTREAM_FAULT_PATTERN.match(trace.detail) if trace.decision is Decision.UPSTREAM_FAILED else None
    )
    return replace(trace, question="", offending="", detail=fault_kind[0] if fault_kind else trace.detail)


def _build_decision_row(trace: Trace) -> tuple[str, float, str, str, str]:
    trace_data = {name: getattr(trace, name) for name in JSON_TRACE_FIELDS}
    caller = trace.caller
    trace_data["caller"] = [caller.name, sorted(caller.groups), caller.address]
    body = json.dumps(trace_data, ensure_ascii=False, default=str)
    body = body.encode("utf-8", "replace").decode()  # SQLite takes no lone surrogates
    return trace.id, trace.started, caller.key_id, trace.decision or "", body


def _insert_decision(connection: sqlite3.Connection, row: tuple[str, float, str, str, str]) -> None:
    connection.execute("INSERT OR REPLACE INTO decisions VALUES (?, ?, ?, ?, ?)", row)


def _parse_decision_row(key_id: str, decision: str, body: str) -> Trace:
    trace_data = json.loads(body)
    name, groups, address = trace_data.pop("caller")
    caller = Caller(key_id, name, frozenset(groups), address=address)
    trace_fields = {name: trace_data[name] for name in JSON_TRACE_FIELDS if name in trace_data}
    trace_fields |= {  # JSON knows lists only
        name: tuple(trace_fields[name]) for name in ("sources", "looked") if name in trace_fields
    }
    trace_fields["layer"] = Layer(trace_fields.get("layer", ""))
    return Trace(caller=caller, decision=Decision(decision) if decision else None, **trace_fields)
