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
class Item:
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
class Batch:
    """What changed up to `seq`: forget `ids`, then take `items` (those that are still there)."""

    seq: int
    ids: tuple[int, ...]
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """Where the outbox stands. What has read less than `horizon`, or another `epoch`, must start anew."""

    seq: int
    horizon: int
    epoch: str


def place(connection: sqlite3.Connection) -> Place:
    return Place(*connection.execute(_LAST).fetchone())


def batch(connection: sqlite3.Connection, after: int, limit: int) -> Batch:
    """The next `limit` changes after `after`; no ids: nothing is left."""
    rows = connection.execute(_CHANGED, (after, limit)).fetchall()
    ids = tuple(dict.fromkeys(passage for _, passage in rows))
    wanted = f"{_ITEMS} WHERE passage.id IN (SELECT value FROM json_each(?)) ORDER BY passage.id"
    items = _items(connection.execute(wanted, (json.dumps(ids),)))
    return Batch(rows[-1][0] if rows else after, ids, items)


def everything(connection: sqlite3.Connection, after: int, limit: int) -> tuple[Item, ...]:
    """The next `limit` passages with ids after `after`; none: that was all."""
    return _items(
        connection.execute(f"{_ITEMS} WHERE passage.id > ? ORDER BY passage.id LIMIT ?", (after, limit))
    )


def drained(connection: sqlite3.Connection, seq: int) -> None:
    """Tells other processes that the keyword index has taken everything up to `seq`."""
    connection.execute("UPDATE state SET drained = drained + 1")
    connection.execute("UPDATE state SET horizon = ? WHERE horizon < ?", (seq - KEEP, seq - KEEP))
    connection.execute("DELETE FROM outbox WHERE seq <= ?", (seq - KEEP,))


def _items(rows: Iterable[sqlite3.Row]) -> tuple[Item, ...]:
    return tuple(Item(*[*row[:-1], tuple(json.loads(row[-1]))]) for row in rows)
