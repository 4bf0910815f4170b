"""Keyword search over the truth: which index folder is in use, and keeping it up to date.

One process at a time writes, under a file lock; the others see its commits at their next query. What it has
not yet taken from the outbox cannot leak: the truth checks every hit again. Files that are not whole are
noticed when a process starts and when a query meets them; whoever drains next builds the index anew.
"""

import asyncio
import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from types import TracebackType
from typing import Self

from indexes import outbox
from indexes.grants import SearchFilter
from indexes.keywords.index_folder import (
    KeywordIndexError,
    TantivyFolder,
    TokenizeFunction,
    compute_index_version,
    verify_deletion,
    write_atomically,
)
from indexes.outbox import OutboxBatch, OutboxPosition
from indexes.read_snapshot import ReadSnapshot, StoreState
from indexes.storage.file_checksums import is_index_intact
from indexes.storage.file_lock import hold_lock
from indexes.store import Store
from indexes.text.words import tokenize_for_index

BATCH = 5_000
"""Changes, or passages of a new index, taken in one commit: each waits for the disk and for merges."""
OPEN_S = 60.0
"""How long opening waits for another process that builds the index."""
POLL_S = 0.2
"""How often `drain_continuously` looks for changes."""
RETRY_S = 5.0
"""How long it rests after a fault, as of a full disk."""


@dataclass(frozen=True, slots=True)
class IndexFolders:
    """The folder that holds indexes, and which of them is current. Switching is one atomic rename."""

    root: Path
    prefix: str
    """Version and epoch that a usable index has in its name."""

    def find_current(self) -> Path | None:
        """The index in use; None: there is none of this version and epoch."""
        try:
            name = (self.root / "CURRENT").read_text("utf-8", "replace").strip()
        except FileNotFoundError:
            return None
        usable = name.startswith(self.prefix + "-") and (self.root / name / "meta.json").exists()
        return self.root / name if usable else None

    def create_folder(self) -> Path:
        """An empty folder for the next index."""
        return Path(mkdtemp(prefix=self.prefix + "-", dir=self.root))

    def switch_current(self, folder: Path) -> None:
        """Makes `folder` the current index, and removes all others, also those of interrupted builds."""
        write_atomically(self.root / "CURRENT", folder.name)
        for path in self.root.iterdir():
            if path.is_dir() and path != folder:
                shutil.rmtree(path, ignore_errors=True)


class KeywordIndex:
    """An `async with` over the folder of indexes of one truth."""

    def __init__(self, root: Path, store: Store, tokenize: TokenizeFunction = tokenize_for_index):
        self.fault = ""
        """Why there is no index to search now; empty: there is one."""
        self._root = root
        self._store = store
        self.tokenize = tokenize
        self._version = compute_index_version(tokenize)
        self._index: TantivyFolder | None = None
        self._intact_folder: Path | None = None
        """The index whose files this process has found whole, until a fault makes it look again."""
        self._seen_state: StoreState | None = None
        self._open_lock = threading.Lock()
        self._drain_lock = asyncio.Lock()
        self._drain_tasks: set[asyncio.Task[bool]] = set()
        self._is_closing = False
        self._drained_position: OutboxPosition | None = None
        """Where the truth stood when a drain of ours last ended: up to there nothing is to be taken."""

    async def __aenter__(self) -> Self:
        await asyncio.to_thread(self._prepare_root)
        await self.drain(OPEN_S)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_closing = True
        await asyncio.gather(*self._drain_tasks, return_exceptions=True)

    def search(self, tokens: Iterable[str], allowed: SearchFilter, limit: int) -> list[int]:
        """Ids of at most `limit` allowed passages, best first; none before `refresh`. Blocks.

        None also from an index that is damaged: `fault` then says so, and the next drain looks into it.
        """
        try:
            return [] if self._index is None else self._index.search(tokens, allowed, limit)
        except KeywordIndexError as fault:
            self._suspect_damage(fault)
            return []

    def refresh(self, state: StoreState) -> None:
        """Sees what any process has committed up to `state`. Cheap when nothing has."""
        seen = self._seen_state
        if seen is not None and (seen.epoch, seen.drained) == (state.epoch, state.drained):
            return
        with self._open_lock:
            try:
                self._index = self._reload_folder(self._find_index_folders(state.epoch).find_current())
            except KeywordIndexError as fault:
                self._suspect_damage(fault)
            else:
                self.fault, self._seen_state = "", state

    async def drain(self, wait_s: float = 0) -> bool:
        """Takes everything from the outbox. False: another process is at it for longer than `wait_s`.

        A cancelled caller does not tear it: it ends, or stops between two commits when this is closed.
        """
        task = asyncio.create_task(self._drain_outbox(wait_s))
        self._drain_tasks.add(task)
        task.add_done_callback(self._drain_tasks.discard)
        return await asyncio.shield(task)

    async def drain_continuously(self, on_failure: Callable[[Exception], None] = lambda fault: None) -> None:
        """Drains whenever there is something to take, until cancelled; `on_failure` hears what went wrong."""
        while True:
            try:
                if await self._store.run_on_snapshot(ReadSnapshot.read_position) != self._drained_position:
                    await self.drain()
            except (OSError, KeywordIndexError, sqlite3.Error) as fault:
                on_failure(fault)
                await asyncio.sleep(RETRY_S)
            await asyncio.sleep(POLL_S)

    async def count_pending_changes(self) -> int:
        """Rows of the outbox that no index has taken yet."""
        position = await self._store.run_on_snapshot(ReadSnapshot.read_position)
        index = self._open_folder(self._find_index_folders(position.epoch).find_current())
        return position.seq - (index.read_applied() if index else 0)

    def _prepare_root(self) -> None:
        self._root.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory() as folder:
            verify_deletion(Path(folder))

    def _find_index_folders(self, epoch: str) -> IndexFolders:
        return IndexFolders(self._root, f"{self._version}-{epoch[:8]}")

    def _reload_folder(self, folder: Path | None) -> TantivyFolder:
        if folder is None:
            raise KeywordIndexError("there is no keyword index yet")
        if self._index is None or self._index.folder != folder:
            return TantivyFolder(folder, self.tokenize)
        self._index.reload()
        return self._index

    def _open_folder(self, folder: Path | None) -> TantivyFolder | None:
        """None where there is no index or it cannot be read: it is built anew by whoever drains next."""
        try:
            return TantivyFolder(folder, self.tokenize) if folder else None
        except KeywordIndexError:
            return None

    def _suspect_damage(self, fault: KeywordIndexError) -> None:
        """Searches without the index, and has the next drain see whether its files are whole."""
        self.fault = f"the keyword index cannot be read: {fault}"
        self._index = self._seen_state = self._intact_folder = self._drained_position = None

    async def _drain_outbox(self, wait_s: float) -> bool:
        async with self._drain_lock, hold_lock(self._root / "LOCK", wait_s) as held:
            if not held:
                return False
            position = await self._store.run_on_snapshot(ReadSnapshot.read_position)
            try:
                await self._apply_changes(await self._find_usable_folder())
            except KeywordIndexError as fault:
                self._suspect_damage(fault)
                await self._apply_changes(await self._find_usable_folder())
            self._drained_position = None if self._is_closing else position
            return True

    async def _apply_changes(self, index: TantivyFolder) -> None:
        while not self._is_closing and (batch := await self._read_batch(index)).ids:
            await asyncio.to_thread(index.apply, [batch])
            await self._record_progress(index, batch.seq)

    async def _read_batch(self, index: TantivyFolder) -> OutboxBatch:
        after = index.read_applied()
        return await self._store.run_on_snapshot(lambda snapshot: snapshot.read_batch(after, BATCH))

    async def _record_progress(self, index: TantivyFolder, seq: int) -> None:
        index.mark_applied(seq)
        await self._store.run_write(lambda connection: outbox.record_drain(connection, seq))

    async def _find_usable_folder(self) -> TantivyFolder:
        """The current index, or a new one where none could follow the truth from where it is."""
        position = await self._store.run_on_snapshot(ReadSnapshot.read_position)
        folder = self._find_index_folders(position.epoch).find_current()
        if folder and (folder == self._intact_folder or await asyncio.to_thread(is_index_intact, folder)):
            self._intact_folder = folder
            index = self._open_folder(folder)
            if index is not None and position.horizon <= index.read_applied() <= position.seq:
                return index
        return await self._build_folder(position)

    async def _build_folder(self, position: OutboxPosition) -> TantivyFolder:
        folders = self._find_index_folders(position.epoch)
        index = TantivyFolder(await asyncio.to_thread(folders.create_folder), self.tokenize)
        try:
            await self._fill_folder(index)
        except BaseException:  # as on a full disk, which half an index would keep full
            shutil.rmtree(index.folder, ignore_errors=True)
            raise
        if self._is_closing:
            return index
        index.mark_applied(position.seq)
        folders.switch_current(index.folder)
        self._intact_folder = index.folder
        await self._record_progress(index, position.seq)
        return index

    async def _fill_folder(self, index: TantivyFolder) -> None:
        """Takes every passage of the truth into a new index, unless this is closed meanwhile."""
        after = 0
        while items := await self._store.run_read(partial(outbox.read_items, after=after, limit=BATCH)):
            await asyncio.to_thread(index.apply, [OutboxBatch(0, (), items)])
            after = items[-1].id
            if self._is_closing:
                return
