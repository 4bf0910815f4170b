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
from proxy.ledger.periods import DeploymentCaps, Period, find_period, load_time_zone
from proxy.ledger.schema import LEDGER_SCHEMA
from proxy.ledger.settlement_retrier import SettlementRetrier
from proxy.ledger.spool import Spool, find_spool_folder
from proxy.ledger.transactions import Adjustment, Booking, HoldRequest, ReserveTerms

T = TypeVar("T")
log = logging.getLogger("fiador.ledger")
HOLD_LIFE_MAX_S = 3_600
"""Longest that a hold is renewed: past it something has leaked, and it is charged."""


def _ignore_failpoint(point: str) -> None:
    """The failpoint of ordinary runs."""


class SqliteLedger:
    """`async with SqliteLedger(path, caps)`: two-phase spending (implements `ports.Ledger`).

    `hold_s`: life of a hold that nobody renews. `busy_s`: longest that `reserve` waits for the store before
    it denies. `time_zone`: where days and months begin. Opening recovers what dead processes left behind and
    raises StoreError if the file cannot be used. `fault`: why the store failed last; "" once it answers.
    """

    def __init__(
        self,
        path: Path,
        caps: DeploymentCaps,
        *,
        time_zone: str = "UTC",
        hold_s: float = 300,
        busy_s: float = 2,
        retry_s: float = 1,
        clock: Callable[[], float] = time.time,
        failpoint: Callable[[str], None] = _ignore_failpoint,
    ):
        self.path = path
        self.owner = Owner.read_current()
        self.recovery_counts = recovery.RecoveryCounts()
        self.fault = ""
        self._terms = ReserveTerms(caps, load_time_zone(time_zone), str(self.owner), hold_s)
        self._busy_s = busy_s
        self._clock = clock
        self._open_holds: dict[str, float] = {}  # by id, when it was reserved: `time.monotonic`
        self._database = Database(path, schema=LEDGER_SCHEMA, busy_s=busy_s)
        self._commits = GroupCommit(self._database, guard=self._check_same_file, failpoint=failpoint)
        self._spool = Spool(find_spool_folder(path), self.owner)
        self._retrier = SettlementRetrier(self._spool, self._submit_booking, retry_s=retry_s)
        self._stack = AsyncExitStack()
        self._identity: tuple[int, int] = (0, 0)

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            try:
                await stack.enter_async_context(self._database)
                self._identity = _read_file_identity(self.path)
                await stack.enter_async_context(self._commits)
                self.recovery_counts = await recovery.recover_at_startup(
                    self._commits, self._spool, self._clock
                )
            except (sqlite3.Error, OSError) as fault:
                raise StoreError(
                    "The spending ledger cannot be opened.", detail=f"{self.path}: {fault}"
                ) from fault
            await stack.enter_async_context(self._retrier)
            await stack.enter_async_context(recovery.run_sweeps(self._terms.hold_s / 3, self._sweep_holds))
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.aclose()

    async def reserve(self, caller: Caller, model: str, bound: CostBound, prices: Prices) -> Hold | Denial:
        """Sets the bound aside in one transaction over every cap that applies, or says why not."""
        request = HoldRequest(caller, model, bound, prices, self._clock())
        future = self._submit_work(
            lambda connection: transactions.reserve_hold(connection, self._terms, request)
        )
        answer: Hold | Denial | None = None
        try:
            async with asyncio.timeout(self._busy_s):
                answer = await future
        except TimeoutError:
            return self._deny_reservation(f"no answer within {self._busy_s} s")
        except Exception as fault:
            return self._deny_reservation(f"{type(fault).__name__}: {fault}")
        finally:
            if answer is None:
                self._abandon_reservation(future)
        self.fault = ""
        if isinstance(answer, Hold):
            self._open_holds[answer.id] = time.monotonic()
        return answer

    async def settle(self, hold: Hold, spent: Spent) -> Settled:
        """Replaces the hold by the real cost: booked, or kept and retried. Never raises."""
        settled = prices.compute_settled_cost(spent, hold)
        booking = Booking(hold.id, prices.choose_cost_basis(spent), settled, self._clock())
        future = self._submit_booking(booking)
        future.add_done_callback(partial(self._retry_failed_booking, booking))
        if settled.nanousd > hold.nanousd:
            log.error("bound_exceeded: hold %s of %d settles at %d", hold.id, hold.nanousd, settled.nanousd)
        await asyncio.wait([future], timeout=self._busy_s)
        if not future.done():
            self._retrier.enqueue_booking(booking)
        return settled

    async def probe_write(self) -> bool:
        """True if the ledger can be written now: it writes, so that a full disk shows. Sets `fault`."""
        future = self._submit_work(transactions.probe_write)
        try:
            async with asyncio.timeout(self._busy_s):
                await future
        except Exception as fault:
            self._record_fault(f"{type(fault).__name__}: {fault}")
            return False
        self.fault = ""
        return True

    async def list_spend_totals(
        self, grouping: audit.SpendGrouping, since: str = ""
    ) -> list[audit.SpendTotal]:
        """Totals by key, model or day, from the day `since`. Raises StoreError, as all that follow."""
        return await self._read_snapshot(
            lambda connection: audit.list_spend_totals(connection, grouping, since)
        )

    async def verify_balances(self) -> audit.BalanceProof:
        """Proves every balance, and lists the open holds."""
        return await self._read_snapshot(audit.verify_balances)

    async def list_invoice_lines(self, month: str) -> list[audit.InvoiceLine]:
        """A month such as `2026-11` by day, model and basis."""
        return await self._read_snapshot(lambda connection: audit.list_invoice_lines(connection, month))

    async def adjust(self, change: Adjustment, *, operator: str) -> Period:
        """Books a change by hand into the present period. `operator`: who does it."""
        terms, now = self._terms, self._clock()
        return await self._change_books(
            lambda c: audit.book_adjustment(c, terms, change, operator=operator, now=now)
        )

    async def reopen_model(self, model: str, reason: str, *, operator: str) -> bool:
        """Opens a model that `bound_exceeded` had closed. False: it was not closed."""
        act = audit.OperatorAct(self._clock(), operator, "acknowledge", model, reason)
        return await self._change_books(lambda connection: audit.reopen_model(connection, model, act))

    async def rewind_period(self, reason: str, *, operator: str) -> Period:
        """Returns to today's period after a clock that had run ahead; periods never go back by themselves."""
        now = self._clock()
        today = find_period(now, self._terms.zone)
        act = audit.OperatorAct(now, operator, "rewind", today.day, reason)
        await self._change_books(lambda connection: audit.rewind_latest_day(connection, today, act))
        return today

    async def list_closed_models(self) -> dict[str, str]:
        """Models that `bound_exceeded` has closed, and why."""
        return await self._read_snapshot(audit.list_closed_models)

    async def list_operator_acts(self) -> list[audit.OperatorAct]:
        """Everything that was done by hand, oldest first."""
        return await self._read_snapshot(audit.list_operator_acts)

    @property
    def pending_count(self) -> int:
        """Settlements that are kept because they could not be written yet."""
        return len(self._retrier)

    async def _read_snapshot(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Reads one snapshot, which keeps nobody from spending, after what waits here has been written."""
        if not self._commits.is_idle:
            await self._change_books(lambda connection: None)
        with self._translate_store_errors():
            return await self._database.run_read(work)

    async def _change_books(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with self._translate_store_errors():
            return await self._submit_work(work)

    @contextlib.contextmanager
    def _translate_store_errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as fault:
            raise StoreError(
                "The spending ledger does not answer.", detail=f"{self.path}: {fault}"
            ) from fault

    def _submit_work(self, work: Callable[[sqlite3.Connection], T]) -> asyncio.Future[T]:
        """Queues `work`; a hold that it makes after its caller has gone is given back."""
        return self._commits.submit(work, undo=self._return_hold)

    def _check_same_file(self) -> None:
        """Raises if the file is not the one that was opened: SQLite would go on writing to a deleted one."""
        if _read_file_identity(self.path) != self._identity:
            raise sqlite3.OperationalError("the ledger's file was replaced; restart to use the new one")

    def _submit_booking(self, booking: Booking) -> asyncio.Future[None]:
        future = self._submit_work(lambda connection: transactions.settle_hold(connection, booking))
        future.add_done_callback(partial(self._forget_booked_hold, booking))
        return future

    def _forget_booked_hold(self, booking: Booking, future: asyncio.Future[None]) -> None:
        if not future.cancelled() and future.exception() is None:
            self._open_holds.pop(booking.hold_id, None)

    def _retry_failed_booking(self, booking: Booking, future: asyncio.Future[None]) -> None:
        fault = None if future.cancelled() else future.exception()
        if fault is not None:
            self._record_fault(f"{type(fault).__name__}: {fault}")
            self._retrier.enqueue_booking(booking)

    def _abandon_reservation(self, future: asyncio.Future[Hold | Denial]) -> None:
        """Nobody will use the answer: it may be there already, be under way, or not have begun."""
        if future.cancel() or future.cancelled() or future.exception() is not None:
            return
        self._return_hold(future.result())

    def _return_hold(self, answer: object) -> None:
        """Settles a hold that nobody uses at nothing; what other work gives needs no undoing."""
        if isinstance(answer, Hold):
            booking = Booking(answer.id, "unsent", Settled(0, 0, 0), self._clock())
            self._submit_booking(booking).add_done_callback(partial(self._retry_failed_booking, booking))

    def _deny_reservation(self, fault: str) -> Denial:
        self._record_fault(fault)
        return Denial(Decision.LEDGER_DOWN, fault)

    def _record_fault(self, fault: str) -> None:
        self.fault = fault
        log.error("ledger_down: %s", fault)

    async def _sweep_holds(self) -> None:
        """Renews what lives here, charges what nobody renewed and what the dead left."""
        oldest = time.monotonic() - HOLD_LIFE_MAX_S
        live_hold_ids = [hold_id for hold_id, since in self._open_holds.items() if since > oldest]
        sweep = partial(
            recovery.sweep_holds, live_hold_ids=live_hold_ids, terms=self._terms, now=self._clock()
        )
        recovery.log_recovery(await self._submit_work(sweep))


def _read_file_identity(path: Path) -> tuple[int, int]:
    """Device and inode. Raises OSError if there is no file."""
    stat = os.stat(path)
    return stat.st_dev, stat.st_ino
