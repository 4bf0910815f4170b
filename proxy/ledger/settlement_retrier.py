"""Keeps what could not be booked, on disk and in memory, and tries again until it is."""

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

from proxy.ledger.spool import Spool
from proxy.ledger.transactions import Booking

log = logging.getLogger("fiador.ledger")


class Keeper:
    """`async with` around the retrying task. `book` queues one; its future ends when that is on disk."""

    def __init__(self, spool: Spool, book: Callable[[Booking], asyncio.Future[None]], *, retry_s: float = 1):
        self._spool = spool
        self._book = book
        self._retry_s = retry_s
        self._kept: dict[str, Booking] = {}
        self._wake = asyncio.Event()
        self._writing = threading.Lock()
        self._task: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        return len(self._kept)

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._run(), name="ledger keeper")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
            self._task = None
        self._write()

    def keep(self, booking: Booking) -> None:
        """Takes a booking over; returns at once. Once closed nobody retries: it goes to disk here and now."""
        self._kept.setdefault(booking.hold, booking)
        if self._task is None:
            self._write()
        self._wake.set()

    async def _run(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            await self._save()
            while self._kept:
                await asyncio.sleep(self._retry_s)
                await self._retry()
                await self._save()

    async def _retry(self) -> None:
        tries = {hold: self._book(booking) for hold, booking in self._kept.items()}
        await asyncio.wait(tries.values())
        for hold, done in tries.items():
            if done.exception() is None:
                del self._kept[hold]

    async def _save(self) -> None:
        await asyncio.to_thread(self._write)

    def _write(self) -> None:
        """On a full disk they stay in memory; their holds are still in the books and charged at the bound."""
        try:
            with self._writing:  # a thread that was writing when this closed must not have the last word
                self._spool.write(list(self._kept.values()))
        except OSError as fault:
            log.error("%d settlements wait in memory only: %s", len(self._kept), fault)
