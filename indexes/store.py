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
from indexes.read_snapshot import ReadSnapshot, StoreState
from indexes.storage.database import Database
from indexes.types import Access, Document, Passage, Viewer

T = TypeVar("T")

READER_CONNECTIONS = 2
"""Connections that look: more of them than cores would only wait for each other."""


class StoreFileError(Exception):
    """The file of the truth cannot be used; the text says why and what to do."""


_ACCESS = """
    SELECT groups, valid_from, ends FROM document JOIN acl ON acl.id = document.acl WHERE document.key = :id
    UNION ALL
    SELECT groups, valid_from, valid_to FROM record JOIN acl ON acl.id = record.acl WHERE record.key = :id
"""


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """What is stored of a document, for comparing it with its source."""

    digest: str
    access: Access


@dataclass(frozen=True, slots=True)
class StoreCounts:
    """What the truth holds, visible or not."""

    documents: int
    passages: int
    hidden: int
    """Documents that nobody may see, because their access is in doubt or states no group."""
    records: int
    vectors: int


class Store:
    """An `async with` over one SQLite file: one connection that writes, a few that look.

    Raises `StoreFileError` on a file of another version, `sqlite3.Error` when the disk fails. Without
    `durable` the last commits may be lost with the power, not with the process: for what can be made again.
    """

    def __init__(self, path: Path, *, durable: bool = True):
        self.path = path
        self._writer = Database(path, schema=schema.SCHEMA, synchronous="FULL" if durable else "OFF")
        self._readers: asyncio.Queue[Database] = asyncio.Queue()
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._writer)
            await self._writer.run_transaction(_initialize_state)
            for _ in range(READER_CONNECTIONS):
                self._readers.put_nowait(await stack.enter_async_context(Database(self.path)))
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._readers = asyncio.Queue()
        await self._stack.aclose()

    async def run_on_snapshot(self, work: Callable[[ReadSnapshot], T]) -> T:
        """`work` over one snapshot, in a connection's own thread: a whole query is one such hop."""
        return await self.run_read(lambda connection: work(ReadSnapshot(connection)))

    async def run_read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """`work` in one read transaction."""
        async with self._borrow_reader() as database:
            return await database.run_read(work)

    async def run_write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """`work` in one transaction."""
        return await self._writer.run_transaction(work)

    async def put_document(
        self, document: Document, chunks: Sequence[Chunk]
    ) -> document_writes.DocumentChange:
        """Writes a document whole, effective for the next query. Passages of unchanged text keep their ids.

        Where it supersedes another, that one ends where this one begins.
        """
        return await self.run_write(
            lambda connection: document_writes.put_document(connection, document, chunks)
        )

    async def set_access(self, id: str, access: Access) -> bool:
        """Changes who may see a document, and when. False: there is none, or nothing changed."""
        return await self.run_write(lambda connection: document_writes.set_access(connection, id, access))

    async def hide_documents(self, ids: Collection[str]) -> int:
        """Hides documents from everyone and keeps their text. How many were visible to someone before."""
        return await self.run_write(lambda connection: document_writes.hide_documents(connection, ids))

    async def remove_document(self, id: str) -> bool:
        """Deletes a document. False: there was none."""
        return await self.run_write(lambda connection: document_writes.remove_document(connection, id))

    async def recheck_passages(self, ids: Collection[int], viewer: Viewer) -> dict[int, Passage]:
        """Those of `ids` that `viewer` may see, with their text."""
        return await self.run_on_snapshot(lambda snapshot: snapshot.recheck_passages(ids, viewer))

    async def list_visible_sources(self, viewer: Viewer) -> frozenset[str]:
        """Sources in which `viewer` may see at least one document."""
        return await self.run_on_snapshot(lambda snapshot: snapshot.list_visible_sources(viewer))

    async def read_state(self) -> StoreState:
        return await self.run_on_snapshot(ReadSnapshot.read_state)

    async def list_documents(self, source: str) -> dict[str, StoredDocument]:
        """What is stored of a source, by document id; hidden documents included."""
        return await self.run_read(lambda connection: _list_documents(connection, source))

    async def read_access(self, id: str) -> Access | None:
        """Who may see a document or record, and until when in effect; None: there is none of this id."""
        row = await self.run_read(lambda connection: connection.execute(_ACCESS, {"id": id}).fetchone())
        return document_writes.decode_access(*row) if row else None

    async def count_contents(self) -> StoreCounts:
        return await self.run_read(_count_contents)

    async def save_vectors(self, model: str, blobs: Mapping[str, bytes]) -> None:
        """Keeps half floats of `model` by hash of the embedded text."""
        await self.run_write(lambda connection: vectors.save_vectors(connection, model, blobs))

    async def renew_epoch(self) -> None:
        """Begins another line of history, as after a restored backup: derived indexes are built anew."""
        await self.run_write(_renew_epoch)

    @asynccontextmanager
    async def _borrow_reader(self) -> AsyncIterator[Database]:
        readers = self._readers
        database = await readers.get()
        try:
            yield database
        finally:
            readers.put_nowait(database)


def _initialize_state(connection: sqlite3.Connection) -> None:
    connection.execute(
        "INSERT OR IGNORE INTO state VALUES (1, ?, ?, 0, 0, 0)", (schema.VERSION, secrets.token_hex(8))
    )
    (version,) = connection.execute("SELECT version FROM state").fetchone()
    if version != schema.VERSION:
        raise StoreFileError(
            f"the store is of version {version}, this program reads version {schema.VERSION}: "
            "move the file away and run `fiador sync`"
        )


def _renew_epoch(connection: sqlite3.Connection) -> None:
    connection.execute("UPDATE state SET epoch = ?", (secrets.token_hex(8),))
    document_writes.advance_generation(connection)


def _list_documents(connection: sqlite3.Connection, source: str) -> dict[str, StoredDocument]:
    rows = connection.execute(
        "SELECT document.key, digest, groups, valid_from, valid_to FROM document JOIN acl ON acl.id = acl"
        " WHERE source = ?",
        (source,),
    )
    return {
        key: StoredDocument(digest, document_writes.decode_access(groups, begins, ends))
        for key, digest, groups, begins, ends in rows
    }


def _count_contents(connection: sqlite3.Connection) -> StoreCounts:
    tables = (
        "document",
        "passage",
        "document JOIN acl ON acl.id = acl WHERE groups = '[]'",
        "record",
        "vector",
    )
    return StoreCounts(
        *(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables)
    )
