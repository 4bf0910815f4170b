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
from indexes.grants import Filter
from indexes.keywords.index_folder import Keywords, LexicalFault, Tokens, prove, version, write_whole
from indexes.outbox import Batch, Place
from indexes.read_snapshot import Look, State
from indexes.storage.file_checksums import sound
from indexes.storage.file_lock import hold_lock
from indexes.store import Store
from indexes.text.words import index_tokens

BATCH = 5_000
"""Changes, or passages of a new index, taken in one commit: each waits for the disk and for merges."""
OPEN_S = 60.0
"""How long opening waits for another process that builds the index."""
LOOK_S = 0.2
"""How often `keep` looks for changes."""
RETRY_S = 5.0
"""How long it rests after a fault, as of a full disk."""


@dataclass(frozen=True, slots=True)
class Shelf:
    """The folder that holds indexes, and which of them is current. Switching is one atomic rename."""

    root: Path
    prefix: str
    """Version and epoch that a usable index has in its name."""

    def current(self) -> Path | None:
        """The index in use; None: there is none of this version and epoch."""
        try:
            name = (self.root / "CURRENT").read_text("utf-8", "replace").strip()
        except FileNotFoundError:
            return None
        usable = name.startswith(self.prefix + "-") and (self.root / name / "meta.json").exists()
        return self.root / name if usable else None

    def fresh(self) -> Path:
        """An empty folder for the next index."""
        return Path(mkdtemp(prefix=self.prefix + "-", dir=self.root))

    def switch(self, folder: Path) -> None:
        """Makes `folder` the current index, and removes all others, also those of interrupted builds."""
        write_whole(self.root / "CURRENT", folder.name)
        for path in self.root.iterdir():
            if path.is_dir() and path != folder:
                shutil.rmtree(path, ignore_errors=True)


class Lexical:
    """An `async with` over the folder of indexes of one truth."""

    def __init__(self, root: Path, store: Store, tokens: Tokens = index_tokens):
        self.fault = ""
        """Why there is no index to search now; empty: there is one."""
        self._root = root
        self._store = store
        self.tokens = tokens
        self._version = version(tokens)
        self._index: Keywords | None = None
        self._whole: Path | None = None
        """The index whose files this process has found whole, until a fault makes it look again."""
        self._seen: State | None = None
        self._opening = threading.Lock()
        self._draining = asyncio.Lock()
        self._running: set[asyncio.Task[bool]] = set()
        self._closing = False
        self._complete: Place | None = None
        """Where the truth stood when a drain of ours last ended: up to there nothing is to be taken."""

    async def __aenter__(self) -> Self:
        await asyncio.to_thread(self._prepare)
        await self.drain(OPEN_S)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing = True
        await asyncio.gather(*self._running, return_exceptions=True)

    def search(self, tokens: Iterable[str], allowed: Filter, limit: int) -> list[int]:
        """Ids of at most `limit` allowed passages, best first; none before `refresh`. Blocks.

        None also from an index that is damaged: `fault` then says so, and the next drain looks into it.
        """
        try:
            return [] if self._index is None else self._index.search(tokens, allowed, limit)
        except LexicalFault as fault:
            self._doubt(fault)
            return []

    def refresh(self, state: State) -> None:
        """Sees what any process has committed up to `state`. Cheap when nothing has."""
        seen = self._seen
        if seen is not None and (seen.epoch, seen.drained) == (state.epoch, state.drained):
            return
        with self._opening:
            try:
                self._index = self._reloaded(self._shelf(state.epoch).current())
            except LexicalFault as fault:
                self._doubt(fault)
            else:
                self.fault, self._seen = "", state

    async def drain(self, wait_s: float = 0) -> bool:
        """Takes everything from the outbox. False: another process is at it for longer than `wait_s`.

        A cancelled caller does not tear it: it ends, or stops between two commits when this is closed.
        """
        task = asyncio.create_task(self._drain(wait_s))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return await asyncio.shield(task)

    async def keep(self, failed: Callable[[Exception], None] = lambda fault: None) -> None:
        """Drains whenever there is something to take, until cancelled; `failed` hears what went wrong."""
        while True:
            try:
                if await self._store.look(Look.place) != self._complete:
                    await self.drain()
            except (OSError, LexicalFault, sqlite3.Error) as fault:
                failed(fault)
                await asyncio.sleep(RETRY_S)
            await asyncio.sleep(LOOK_S)

    async def behind(self) -> int:
        """Rows of the outbox that no index has taken yet."""
        place = await self._store.look(Look.place)
        index = self._opened(self._shelf(place.epoch).current())
        return place.seq - (index.applied() if index else 0)

    def _prepare(self) -> None:
        self._root.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory() as folder:
            prove(Path(folder))

    def _shelf(self, epoch: str) -> Shelf:
        return Shelf(self._root, f"{self._version}-{epoch[:8]}")

    def _reloaded(self, folder: Path | None) -> Keywords:
        if folder is None:
            raise LexicalFault("there is no keyword index yet")
        if self._index is None or self._index.folder != folder:
            return Keywords(folder, self.tokens)
        self._index.reload()
        return self._index

    def _opened(self, folder: Path | None) -> Keywords | None:
        """None where there is no index or it cannot be read: it is built anew by whoever drains next."""
        try:
            return Keywords(folder, self.tokens) if folder else None
        except LexicalFault:
            return None

    def _doubt(self, fault: LexicalFault) -> None:
        """Searches without the index, and has the next drain see whether its files are whole."""
        self.fault = f"the keyword index cannot be read: {fault}"
        self._index = self._seen = self._whole = self._complete = None

    async def _drain(self, wait_s: float) -> bool:
        async with self._draining, hold_lock(self._root / "LOCK", wait_s) as held:
            if not held:
                return False
            place = await self._store.look(Look.place)
            try:
                await self._take(await self._usable())
            except LexicalFault as fault:
                self._doubt(fault)
                await self._take(await self._usable())
            self._complete = None if self._closing else place
            return True

    async def _take(self, index: Keywords) -> None:
        while not self._closing and (batch := await self._batch(index)).ids:
            await asyncio.to_thread(index.apply, [batch])
            await self._took(index, batch.seq)

    async def _batch(self, index: Keywords) -> Batch:
        after = index.applied()
        return await self._store.look(lambda look: look.batch(after, BATCH))

    async def _took(self, index: Keywords, seq: int) -> None:
        index.mark(seq)
        await self._store.write(lambda connection: outbox.drained(connection, seq))

    async def _usable(self) -> Keywords:
        """The current index, or a new one where none could follow the truth from where it is."""
        place = await self._store.look(Look.place)
        folder = self._shelf(place.epoch).current()
        if folder and (folder == self._whole or await asyncio.to_thread(sound, folder)):
            self._whole = folder
            index = self._opened(folder)
            if index is not None and place.horizon <= index.applied() <= place.seq:
                return index
        return await self._build(place)

    async def _build(self, place: Place) -> Keywords:
        shelf = self._shelf(place.epoch)
        index = Keywords(await asyncio.to_thread(shelf.fresh), self.tokens)
        try:
            await self._fill(index)
        except BaseException:  # as on a full disk, which half an index would keep full
            shutil.rmtree(index.folder, ignore_errors=True)
            raise
        if self._closing:
            return index
        index.mark(place.seq)
        shelf.switch(index.folder)
        self._whole = index.folder
        await self._took(index, place.seq)
        return index

    async def _fill(self, index: Keywords) -> None:
        """Takes every passage of the truth into a new index, unless this is closed meanwhile."""
        after = 0
        while items := await self._store.read(partial(outbox.everything, after=after, limit=BATCH)):
            await asyncio.to_thread(index.apply, [Batch(0, (), items)])
            after = items[-1].id
            if self._closing:
                return
