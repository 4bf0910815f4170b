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


class SettlementRetrier:
    """`async with` around the task that retries every `retry_s`.

    `submit_booking` queues a booking; its future ends when that is in the books, or has failed.
    """

    def __init__(
        self, spool: Spool, submit_booking: Callable[[Booking], asyncio.Future[None]], *, retry_s: float = 1
    ):
        self._spool = spool
        self._submit_booking = submit_booking
        self._retry_s = retry_s
        self._pending: dict[str, Booking] = {}
        self._wake_event = asyncio.Event()
        self._write_lock = threading.Lock()
        self._task: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        return len(self._pending)

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._run_retries(), name="ledger keeper")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
            self._task = None
        self._write_spool()

    def enqueue_booking(self, booking: Booking) -> None:
        """Takes a booking over; returns at once. Once closed nobody retries: it goes to disk here and now."""
        self._pending.setdefault(booking.hold_id, booking)
        if self._task is None:
            self._write_spool()
        self._wake_event.set()

    async def _run_retries(self) -> None:
        while True:
            await self._wake_event.wait()
            self._wake_event.clear()
            await self._save_pending()
            while self._pending:
                await asyncio.sleep(self._retry_s)
                await self._retry_bookings()
                await self._save_pending()

    async def _retry_bookings(self) -> None:
        futures = {hold_id: self._submit_booking(booking) for hold_id, booking in self._pending.items()}
        await asyncio.wait(futures.values())
        for hold_id, future in futures.items():
            if future.exception() is None:
                del self._pending[hold_id]

    async def _save_pending(self) -> None:
        await asyncio.to_thread(self._write_spool)

    def _write_spool(self) -> None:
        """On a full disk they stay in memory; their holds are still in the books and charged at the bound."""
        try:
            with self._write_lock:  # a thread that was writing when this closed must not have the last word
                self._spool.write(list(self._pending.values()))
        except OSError as fault:
            log.error("%d settlements wait in memory only: %s", len(self._pending), fault)
