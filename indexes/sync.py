"""Brings the truth up to its sources: what is new, changed, in doubt or gone; then the vectors that lack.

Who may see what is written at once and alone where only that has changed. What is visible is decided by each
query at its own instant, never here.
"""

import asyncio
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

from indexes import document_writes
from indexes.chunks import Chunk, cut_document
from indexes.embedding import vectors
from indexes.embedding.vector_matrix import pack_vector
from indexes.keywords.keyword_index import KeywordIndex
from indexes.records import RecordStore
from indexes.sources.record_book import BookFile, read_book
from indexes.sources.types import (
    AccessDoubt,
    DocumentSource,
    EmptySource,
    Finding,
    SourceFault,
    UnreadableFolder,
)
from indexes.store import Store, StoredDocument
from indexes.text.language import WordPack, detect_language
from indexes.types import Document, Embedder

WRITE_BATCH = 100
"""Documents written in one transaction."""
DRAIN_EVERY = 1_000
"""Documents after which the keyword index takes them, so that much of a long run can be found early."""
EMBED_BATCH = 32
"""Passages embedded and kept in one step: what is lost if the run is ended."""

SyncProgress = Callable[["SyncStep"], None]


@dataclass(frozen=True, slots=True)
class SyncStep:
    """Where a run stands, for a progress bar. `total` 0: not known."""

    name: str
    done: int
    total: int = 0


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What a run did, in documents (`embedded` in passages), and what it could not do."""

    added: int = 0
    changed: int = 0
    access: int = 0
    """Only who may see them, or when."""
    hidden: int = 0
    """Access in doubt, or gone with a whole folder: kept, but shown to nobody."""
    removed: int = 0
    unchanged: int = 0
    embedded: int = 0
    records: int = 0
    """Read from the books, changed or not."""
    faults: tuple[SourceFault, ...] = ()


async def sync_sources(
    store: Store,
    sources: Sequence[DocumentSource],
    *,
    books: Sequence[BookFile] = (),
    embedder: Embedder | None = None,
    keyword_index: KeywordIndex | None = None,
    packs: Mapping[str, WordPack] | None = None,
    progress: SyncProgress | None = None,
) -> SyncReport:
    """One pass over all `sources`, then the keyword index, then the vectors.

    `packs` tell the language of documents that state none. Faults of documents are in the report; only a
    store or a model that fails raises (`sqlite3.Error`, `EmbedError`), and what was done until then stays.
    """
    before = await store.read_state()
    run = _SyncRun(store, keyword_index, packs or {}, progress or (lambda step: None))
    for book in books:
        await run.sync_book(book)
    for source in sources:
        await run.sync_source(source)
    if keyword_index:
        await keyword_index.drain(wait_s=60)
    embedded = await _refresh_vectors(store, embedder, progress) if embedder else 0
    if await store.read_state() != before:
        await store.run_write(vectors.prune_vectors)
    if keyword_index and embedded:  # passages stand in the outbox once more when they get their vectors
        await keyword_index.drain(wait_s=60)
    return replace(run.build_report(), embedded=embedded)


async def _refresh_vectors(store: Store, embedder: Embedder, progress: SyncProgress | None) -> int:
    # All are looked at, and only to delete some is everybody else kept from writing.
    list_damaged = partial(vectors.list_damaged, model=embedder.name, dim=embedder.dim)
    if damaged := await store.run_read(list_damaged):
        await store.run_write(partial(vectors.delete_vectors, model=embedder.name, hashes=damaged))
    return await embed_missing_passages(store, embedder, progress)


async def embed_missing_passages(
    store: Store, embedder: Embedder, progress: SyncProgress | None = None
) -> int:
    """Makes the vectors that lack, a few at a time, each kept as soon as made; how many."""
    model = embedder.name
    total = await store.run_read(partial(vectors.count_unembedded, model=model))
    done = after = 0
    list_page = partial(vectors.list_unembedded, model=model, limit=EMBED_BATCH)
    while page := await store.run_read(partial(list_page, after=after)):
        units = await asyncio.to_thread(embedder.embed_passages, [passage.text for passage in page])
        blobs = {passage.hash: pack_vector(unit) for passage, unit in zip(page, units, strict=True)}
        await store.save_vectors(model, blobs)
        done, after = done + len(page), page[-1].id
        if progress:
            progress(SyncStep("embedding", done, total))
    return done


async def write_document(
    store: Store, document: Document, packs: Mapping[str, WordPack]
) -> document_writes.DocumentChange:
    """Cuts and stores one document; its language is told from its text where it is not stated."""
    full_document = await asyncio.to_thread(_fill_language, document, packs)
    return await store.put_document(full_document, await asyncio.to_thread(cut_document, full_document.text))


def _fill_language(document: Document, packs: Mapping[str, WordPack]) -> Document:
    if document.language is not None:
        return document
    return replace(document, language=detect_language(document.text, packs))


@dataclass(frozen=True, slots=True)
class _WriteTask:
    """What is to be written for one finding: a document (`chunks` None: its access alone), or ids to hide."""

    document: Document | None = None
    chunks: tuple[Chunk, ...] | None = None
    hidden_ids: tuple[str, ...] = ()

    def execute(self, connection: sqlite3.Connection) -> Counter[str]:
        if self.document is None:
            return Counter(hidden=document_writes.hide_documents(connection, self.hidden_ids))
        if self.chunks is not None:
            return Counter([document_writes.put_document(connection, self.document, self.chunks)])
        document_writes.set_access(connection, self.document.id, self.document.access)
        return Counter(["access"])


class _SyncRun:
    """One pass, source by source. Writes many findings in one transaction: a disk waits for each."""

    def __init__(
        self,
        store: Store,
        keyword_index: KeywordIndex | None,
        packs: Mapping[str, WordPack],
        progress: SyncProgress,
    ):
        self._store = store
        self._keyword_index = keyword_index
        self._packs = packs
        self._progress = progress
        self._counts: Counter[str] = Counter()
        self._faults: list[SourceFault] = []

    def build_report(self) -> SyncReport:
        return SyncReport(**self._counts, faults=tuple(self._faults))

    async def sync_source(self, source: DocumentSource) -> None:
        """Writes what `source` yields, hides what is in doubt, removes what it no longer names."""
        stored = await self._store.list_documents(source.name)
        remaining = dict(stored)
        scan = source.scan()
        done = 0
        while findings := await asyncio.to_thread(list, islice(scan, WRITE_BATCH)):
            tasks = await asyncio.to_thread(lambda: [*self._plan_writes(findings, stored, remaining)])
            if tasks:
                self._counts += await self._store.run_write(partial(_execute_tasks, tasks=tasks))
            done += len(findings)
            if self._keyword_index and done % DRAIN_EVERY == 0:
                await self._keyword_index.drain()
            self._progress(SyncStep(source.name, done, len(stored)))
        if remaining:
            self._counts["removed"] += await self._store.run_write(
                partial(_remove_documents, ids=list(remaining))
            )

    async def sync_book(self, book: BookFile) -> None:
        """Replaces the records of a book by what its file holds."""
        contents = await asyncio.to_thread(read_book, book)
        self._faults += contents.faults
        if contents.records is not None:
            await RecordStore(self._store).replace_book(book.name, contents.records)
            self._counts["records"] += len(contents.records)

    def _plan_writes(
        self,
        findings: Sequence[Finding],
        stored: Mapping[str, StoredDocument],
        remaining: dict[str, StoredDocument],
    ) -> Iterator[_WriteTask]:
        """What the findings ask to be written; takes from `remaining` what they say is not gone."""
        for finding in findings:
            match finding:
                case Document():
                    remaining.pop(finding.id, None)
                    yield from self._plan_document(
                        _fill_language(finding, self._packs), stored.get(finding.id)
                    )
                case AccessDoubt():
                    remaining.pop(finding.id, None)
                    self._add_fault(finding.fault)
                    yield _WriteTask(hidden_ids=(finding.id,))
                case UnreadableFolder():
                    for id in [id for id in remaining if id.startswith(finding.prefix)]:
                        del remaining[id]
                    self._add_fault(finding.fault)
                case EmptySource():
                    self._add_fault(finding.fault)
                    yield _WriteTask(hidden_ids=tuple(remaining))
                    remaining.clear()
                case SourceFault():
                    self._add_fault(finding)

    def _plan_document(self, document: Document, old: StoredDocument | None) -> Iterator[_WriteTask]:
        if old is None or old.digest != document_writes.compute_digest(document):
            yield _WriteTask(document, cut_document(document.text))
        elif old.access != document.access:
            # No cutting, and no vector is made again.
            yield _WriteTask(document)
        else:
            self._counts["unchanged"] += 1

    def _add_fault(self, fault: SourceFault | None) -> None:
        if fault is not None:
            self._faults.append(fault)


def _execute_tasks(connection: sqlite3.Connection, tasks: Sequence[_WriteTask]) -> Counter[str]:
    return sum((task.execute(connection) for task in tasks), Counter[str]())


def _remove_documents(connection: sqlite3.Connection, ids: Iterable[str]) -> int:
    return sum(document_writes.remove_document(connection, id) for id in ids)
