"""The truth's list of what changed, for the indexes derived from it. Any of them may read it twice."""

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

KEEP = 100_000
"""Rows kept behind the keyword index for slower readers; who is further behind starts anew."""

_LAST = "SELECT coalesce((SELECT max(seq) FROM outbox), horizon), horizon, epoch FROM state"

_CHANGED = "SELECT seq, passage FROM outbox WHERE seq > ? ORDER BY seq LIMIT ?"

_ITEMS = """
    SELECT passage.id, document.acl, document.source, document.valid_from, document.ends, document.language,
           document.title, passage.text, passage.hash, passage.headings
    FROM passage JOIN document ON document.id = passage.document
"""


@dataclass(frozen=True, slots=True)
class OutboxItem:
    """A passage as an index needs it."""

    id: int
    acl: int
    source: str
    valid_from: int
    ends: int
    language: str | None
    title: str
    text: str
    hash: str
    headings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OutboxBatch:
    """What changed up to `seq`: forget `ids`, then take `items` (those that are still there)."""

    seq: int
    ids: tuple[int, ...]
    items: tuple[OutboxItem, ...]


@dataclass(frozen=True, slots=True)
class OutboxPosition:
    """Where the outbox stands. What has read less than `horizon`, or another `epoch`, must start anew."""

    seq: int
    horizon: int
    epoch: str


def read_position(connection: sqlite3.Connection) -> OutboxPosition:
    return OutboxPosition(*connection.execute(_LAST).fetchone())


def read_batch(connection: sqlite3.Connection, after: int, limit: int) -> OutboxBatch:
    """The next `limit` changes after `after`; no ids: nothing is left."""
    rows = connection.execute(_CHANGED, (after, limit)).fetchall()
    ids = tuple(dict.fromkeys(passage for _, passage in rows))
    wanted = f"{_ITEMS} WHERE passage.id IN (SELECT value FROM json_each(?)) ORDER BY passage.id"
    items = _parse_items(connection.execute(wanted, (json.dumps(ids),)))
    return OutboxBatch(rows[-1][0] if rows else after, ids, items)


def read_items(connection: sqlite3.Connection, after: int, limit: int) -> tuple[OutboxItem, ...]:
    """The next `limit` passages with ids after `after`; none: that was all."""
    return _parse_items(
        connection.execute(f"{_ITEMS} WHERE passage.id > ? ORDER BY passage.id LIMIT ?", (after, limit))
    )


def record_drain(connection: sqlite3.Connection, seq: int) -> None:
    """Tells other processes that the keyword index has taken all up to `seq`; forgets rows far behind it."""
    connection.execute("UPDATE state SET drained = drained + 1")
    connection.execute("UPDATE state SET horizon = ? WHERE horizon < ?", (seq - KEEP, seq - KEEP))
    connection.execute("DELETE FROM outbox WHERE seq <= ?", (seq - KEEP,))


def _parse_items(rows: Iterable[sqlite3.Row]) -> tuple[OutboxItem, ...]:
    return tuple(OutboxItem(*[*row[:-1], tuple(json.loads(row[-1]))]) for row in rows)
