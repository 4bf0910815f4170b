"""The ledger in one SQLite file, shared by any number of processes. Any doubt is a denial."""

import asyncio
import contextlib
import logging
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from indexes.storage.database import Database
from indexes.storage.group_commit import GroupCommit
from proxy.domain.errors import StoreError
from proxy.domain.ports import CostBound, Denial, Hold, Prices, Settled, Spent
from proxy.domain.types import Caller, Decision
from proxy.ledger import audit, prices, recovery, transactions
from proxy.ledger.owner import Owner
from proxy.ledger.periods import Caps, Period, period, zone
from proxy.ledger.schema import LEDGER
from proxy.ledger.settlement_retrier import Keeper
from proxy.ledger.spool import Spool, beside
from proxy.ledger.transactions import Adjustment, Booking, Terms, Wish

T = TypeVar("T")
log = logging.getLogger("fiador.ledger")
LIFE_S = 3_600
"""Longest that a hold is renewed: past it something has leaked, and it is charged."""


def _nothing(point: str) -> None:
    """The failpoint of ordinary runs."""


class SqliteLedger:
    """`async with SqliteLedger(path, caps)`: two-phase spending (`services.Ledger`).

    `hold_s`: life of a hold that nobody renews. `busy_s`: longest that `reserve` waits for the store before
    it denies. `time_zone`: where days and months begin. Opening recovers what dead processes left behind and
    raises StoreError if the file cannot be used.
    """

    def __init__(
        self,
        path: Path,
        caps: Caps,
        *,
        time_zone: str = "UTC",
        hold_s: float = 300,
        busy_s: float = 2,
        retry_s: float = 1,
        clock: Callable[[], float] = time.time,
        failpoint: Callable[[str], None] = _nothing,
    ):
        self.path = path
        self.owner = Owner.current()
        self.recovered = recovery.Recovered()
        self.fault = ""
        self._terms = Terms(caps, zone(time_zone), str(self.owner), hold_s)
        self._busy_s = busy_s
        self._clock = clock
        self._open: dict[str, float] = {}
        self._db = Database(path, schema=LEDGER, busy_s=busy_s)
        self._commits = GroupCommit(self._db, guard=self._same, failpoint=failpoint)
        self._spool = Spool(beside(path), self.owner)
        self._keeper = Keeper(self._spool, self._book, retry_s=retry_s)
        self._stack = AsyncExitStack()
        self._identity: tuple[int, int] = (0, 0)

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            try:
                await stack.enter_async_context(self._db)
                self._identity = _identity(self.path)
                await stack.enter_async_context(self._commits)
                self.recovered = await recovery.start(self._commits, self._spool, self._clock)
            except (sqlite3.Error, OSError) as fault:
                raise StoreError(
                    "The spending ledger cannot be opened.", detail=f"{self.path}: {fault}"
                ) from fault
            await stack.enter_async_context(self._keeper)
            await stack.enter_async_context(recovery.every(self._terms.hold_s / 3, self._sweep))
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.aclose()

    async def reserve(self, caller: Caller, model: str, bound: CostBound, prices: Prices) -> Hold | Denial:
        """Sets the bound aside in one transaction over every cap that applies, or says why not."""
        wish = Wish(caller, model, bound, prices, self._clock())
        future = self._submit(lambda connection: transactions.reserve(connection, self._terms, wish))
        answer: Hold | Denial | None = None
        try:
            async with asyncio.timeout(self._busy_s):
                answer = await future
        except TimeoutError:
            return self._down(f"no answer within {self._busy_s} s")
        except Exception as fault:
            return self._down(f"{type(fault).__name__}: {fault}")
        finally:
            if answer is None:
                self._abandon(future)
        self.fault = ""
        if isinstance(answer, Hold):
            self._open[answer.id] = time.monotonic()
        return answer

    async def settle(self, hold: Hold, spent: Spent) -> Settled:
        """Replaces the hold by the real cost: booked, or kept and retried. Never raises."""
        settled = prices.fill(spent, hold)
        booking = Booking(hold.id, prices.basis(spent), settled, self._clock())
        future = self._book(booking)
        future.add_done_callback(partial(self._failed, booking))
        if settled.nanousd > hold.nanousd:
            log.error("bound_exceeded: hold %s of %d settles at %d", hold.id, hold.nanousd, settled.nanousd)
        await asyncio.wait([future], timeout=self._busy_s)
        if not future.done():
            self._keeper.keep(booking)
        return settled

    async def ready(self) -> bool:
        """True if the ledger can be written now: it writes, so that a full disk shows."""
        future = self._submit(transactions.touch)
        try:
            async with asyncio.timeout(self._busy_s):
                await future
        except Exception as fault:
            self._down(f"{type(fault).__name__}: {fault}")
            return False
        self.fault = ""
        return True

    async def spend(self, by: audit.By, since: str = "") -> list[audit.Spend]:
        """Totals by key, model or day, from the day `since`. As all of the operator's: raises StoreError."""
        return await self._look(lambda connection: audit.spend(connection, by, since))

    async def verify(self) -> audit.Proof:
        """Proves every balance, and lists the open holds."""
        return await self._look(audit.verify)

    async def report(self, month: str) -> list[audit.Invoice]:
        """A month such as `2026-11` by day, model and basis."""
        return await self._look(lambda connection: audit.report(connection, month))

    async def adjust(self, change: Adjustment, *, by: str) -> Period:
        """Books a change by hand into the present period. `by`: who does it."""
        terms, now = self._terms, self._clock()
        return await self._change(lambda c: audit.correct(c, terms, change, by=by, now=now))

    async def acknowledge(self, model: str, reason: str, *, by: str) -> bool:
        """Opens a model that `bound_exceeded` had closed. False: it was not closed."""
        act = audit.Act(self._clock(), by, "acknowledge", model, reason)
        return await self._change(lambda connection: audit.acknowledge(connection, model, act))

    async def rewind(self, reason: str, *, by: str) -> Period:
        """Returns to today's period after a clock that had run ahead; periods never go back by themselves."""
        now = self._clock()
        today = period(now, self._terms.zone)
        act = audit.Act(now, by, "rewind", today.day, reason)
        await self._change(lambda connection: audit.rewind(connection, today, act))
        return today

    async def closed(self) -> dict[str, str]:
        """Models that `bound_exceeded` has closed, and why."""
        return await self._look(audit.closed)

    async def acts(self) -> list[audit.Act]:
        """Everything that was done by hand, oldest first."""
        return await self._look(audit.acts)

    @property
    def waiting(self) -> int:
        """Settlements that are kept because they could not be written yet."""
        return len(self._keeper)

    async def _look(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Reads one snapshot, which keeps nobody from spending, after what waits here has been written."""
        if not self._commits.is_idle:
            await self._change(lambda connection: None)
        with self._answering():
            return await self._db.run_read(work)

    async def _change(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with self._answering():
            return await self._submit(work)

    @contextlib.contextmanager
    def _answering(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as fault:
            raise StoreError(
                "The spending ledger does not answer.", detail=f"{self.path}: {fault}"
            ) from fault

    def _submit(self, work: Callable[[sqlite3.Connection], T]) -> asyncio.Future[T]:
        return self._commits.submit(work, undo=self._give_back)

    def _same(self) -> None:
        """The file at the path is the one that was opened: SQLite would go on writing to a deleted one."""
        if _identity(self.path) != self._identity:
            raise sqlite3.OperationalError("the ledger's file was replaced; restart to use the new one")

    def _book(self, booking: Booking) -> asyncio.Future[None]:
        future = self._submit(lambda connection: transactions.settle(connection, booking))
        future.add_done_callback(partial(self._booked, booking))
        return future

    def _booked(self, booking: Booking, future: asyncio.Future[None]) -> None:
        if not future.cancelled() and future.exception() is None:
            self._open.pop(booking.hold, None)

    def _failed(self, booking: Booking, future: asyncio.Future[None]) -> None:
        fault = None if future.cancelled() else future.exception()
        if fault is not None:
            self._down(f"{type(fault).__name__}: {fault}")
            self._keeper.keep(booking)

    def _abandon(self, future: asyncio.Future[Hold | Denial]) -> None:
        """Nobody will use the answer: it may be there already, be under way, or not have begun."""
        if future.cancel() or future.cancelled() or future.exception() is not None:
            return
        self._give_back(future.result())

    def _give_back(self, answer: object) -> None:
        if isinstance(answer, Hold):
            booking = Booking(answer.id, "unsent", Settled(0, 0, 0), self._clock())
            self._book(booking).add_done_callback(partial(self._failed, booking))

    def _down(self, detail: str) -> Denial:
        self.fault = detail
        log.error("ledger_down: %s", detail)
        return Denial(Decision.LEDGER_DOWN, detail)

    async def _sweep(self) -> None:
        """Renews what lives here, charges what nobody renewed and what the dead left."""
        oldest = time.monotonic() - LIFE_S
        alive = [hold for hold, since in self._open.items() if since > oldest]
        sweep = partial(recovery.sweep, alive=alive, terms=self._terms, now=self._clock())
        recovery.tell(await self._submit(sweep))


def _identity(path: Path) -> tuple[int, int]:
    """Device and inode. Raises OSError if there is no file."""
    found = os.stat(path)
    return found.st_dev, found.st_ino
