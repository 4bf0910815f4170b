"""The truth: documents, passages, records, who may see them and when. One transaction a change.

Everything else (keyword index, vectors in memory) is derived from it and can be thrown away.
"""

import asyncio
import secrets
import sqlite3
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from indexes import document_writes, schema
from indexes.chunks import Chunk
from indexes.embedding import vectors
from indexes.read_snapshot import Look, State
from indexes.storage.database import Database
from indexes.types import Access, Document, Passage, Viewer

T = TypeVar("T")

READERS = 2
"""Connections that look: more of them than cores would only wait for each other."""


class StoreFault(Exception):
    """The file of the truth cannot be used; the text says why and what to do."""


_ACCESS = """
    SELECT groups, valid_from, ends FROM document JOIN acl ON acl.id = document.acl WHERE document.key = :id
    UNION ALL
    SELECT groups, valid_from, valid_to FROM record JOIN acl ON acl.id = record.acl WHERE record.key = :id
"""


@dataclass(frozen=True, slots=True)
class Listed:
    """What is stored of a document, for comparing it with its source."""

    digest: str
    access: Access


@dataclass(frozen=True, slots=True)
class Counts:
    """What the truth holds, visible or not."""

    documents: int
    passages: int
    hidden: int
    """Documents that nobody may see, because their access is in doubt or states no group."""
    records: int
    vectors: int


class Store:
    """An `async with` over one SQLite file: one connection that writes, a few that look.

    Raises `StoreFault` on a file of another version, `sqlite3.Error` when the disk fails. Without `durable`
    the last commits may be lost with the power, not with the process: for what can be made again.
    """

    def __init__(self, path: Path, *, durable: bool = True):
        self.path = path
        self._writer = Database(path, schema=schema.SCHEMA, synchronous="FULL" if durable else "OFF")
        self._looking: asyncio.Queue[Database] = asyncio.Queue()
        self._open = AsyncExitStack()

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._writer)
            await self._writer.transaction(_begin)
            for _ in range(READERS):
                self._looking.put_nowait(await stack.enter_async_context(Database(self.path)))
            self._open = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._looking = asyncio.Queue()
        await self._open.aclose()

    async def look(self, work: Callable[[Look], T]) -> T:
        """`work` over one snapshot, in a connection's own thread: a whole query is one such hop."""
        return await self.read(lambda connection: work(Look(connection)))

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        async with self._reader() as database:
            return await database.read(work)

    async def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """`work` in one transaction."""
        return await self._writer.transaction(work)

    async def put(self, document: Document, passages: Sequence[Chunk]) -> document_writes.Change:
        """Writes a document whole, effective for the next query. Passages of unchanged text keep their ids.

        Where it supersedes another, that one ends where this one begins.
        """
        return await self.write(lambda connection: document_writes.put(connection, document, passages))

    async def set_access(self, id: str, access: Access) -> bool:
        """Changes who may see a document, and when. False: there is none, or nothing changed."""
        return await self.write(lambda connection: document_writes.set_access(connection, id, access))

    async def hide(self, ids: Collection[str]) -> int:
        """Hides documents from everyone and keeps their text. How many were visible to someone before."""
        return await self.write(lambda connection: document_writes.hide(connection, ids))

    async def remove(self, id: str) -> bool:
        """Deletes a document. False: there was none."""
        return await self.write(lambda connection: document_writes.remove(connection, id))

    async def recheck(self, ids: Collection[int], viewer: Viewer) -> dict[int, Passage]:
        """Those of `ids` that `viewer` may see, with their text."""
        return await self.look(lambda look: look.recheck(ids, viewer))

    async def visible_sources(self, viewer: Viewer) -> frozenset[str]:
        """Sources in which `viewer` may see at least one document."""
        return await self.look(lambda look: look.visible_sources(viewer))

    async def state(self) -> State:
        return await self.look(Look.state)

    async def listing(self, source: str) -> dict[str, Listed]:
        """What is stored of a source, by document id; hidden documents included."""
        return await self.read(lambda connection: _listing(connection, source))

    async def access(self, id: str) -> Access | None:
        """Who may see a document or record, and until when in effect; None: there is none of this id."""
        row = await self.read(lambda connection: connection.execute(_ACCESS, {"id": id}).fetchone())
        return document_writes.access(*row) if row else None

    async def counts(self) -> Counts:
        return await self.read(_counts)

    async def save_vectors(self, model: str, found: Mapping[str, bytes]) -> None:
        """Keeps half floats of `model` by hash of the embedded text."""
        await self.write(lambda connection: vectors.save(connection, model, found))

    async def renew(self) -> None:
        """Begins another line of history, as after a restored backup: derived indexes are built anew."""
        await self.write(_renew)

    @asynccontextmanager
    async def _reader(self) -> AsyncIterator[Database]:
        looking = self._looking
        database = await looking.get()
        try:
            yield database
        finally:
            looking.put_nowait(database)


def _begin(connection: sqlite3.Connection) -> None:
    connection.execute(
        "INSERT OR IGNORE INTO state VALUES (1, ?, ?, 0, 0, 0)", (schema.VERSION, secrets.token_hex(8))
    )
    (version,) = connection.execute("SELECT version FROM state").fetchone()
    if version != schema.VERSION:
        raise StoreFault(
            f"the store is of version {version}, this program reads version {schema.VERSION}: "
            "move the file away and run `fiador sync`"
        )


def _renew(connection: sqlite3.Connection) -> None:
    connection.execute("UPDATE state SET epoch = ?", (secrets.token_hex(8),))
    document_writes.moved(connection)


def _listing(connection: sqlite3.Connection, source: str) -> dict[str, Listed]:
    found = connection.execute(
        "SELECT document.key, digest, groups, valid_from, valid_to FROM document JOIN acl ON acl.id = acl"
        " WHERE source = ?",
        (source,),
    )
    return {
        key: Listed(digest, document_writes.access(groups, begins, ends))
        for key, digest, groups, begins, ends in found
    }


def _counts(connection: sqlite3.Connection) -> Counts:
    tables = (
        "document",
        "passage",
        "document JOIN acl ON acl.id = acl WHERE groups = '[]'",
        "record",
        "vector",
    )
    return Counts(*(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables))
