"""What dead processes left behind: their holds are charged at the bound, their kept settlements booked."""

import asyncio
import contextlib
import logging
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import dataclass

from indexes.storage.group_commit import GroupCommit
from proxy.ledger import spool, transactions
from proxy.ledger.owner import Owner
from proxy.ledger.spool import Spool
from proxy.ledger.transactions import Booking, ReserveTerms

log = logging.getLogger("fiador.ledger")


@dataclass(frozen=True, slots=True)
class RecoveryCounts:
    """What one sweep did; `spooled_count`: settlements booked out of the spool."""

    dead_count: int = 0
    expired_count: int = 0
    charged_nanousd: int = 0
    spooled_count: int = 0


async def recover_at_startup(
    commits: GroupCommit, booking_spool: Spool, clock: Callable[[], float]
) -> RecoveryCounts:
    """At start: first the settlements that are known, then the holds of which nothing is known any more.

    A living process's kept settlements are booked too: booked again by their owner they count once.
    """
    files = await asyncio.to_thread(booking_spool.list_files)
    bookings = [booking for path in files for booking in await asyncio.to_thread(spool.read_bookings, path)]
    now = clock()
    counts = await commits.submit(lambda connection: _book_and_charge(connection, bookings, now))
    await asyncio.to_thread(booking_spool.remove_files, files)
    log_recovery(counts)
    return counts


def _book_and_charge(connection: sqlite3.Connection, bookings: list[Booking], now: float) -> RecoveryCounts:
    transactions.stamp_layout(connection)
    for booking in bookings:
        transactions.settle_hold(connection, booking)
    dead, expired = _charge_dead_owners(connection, now), transactions.charge_expired_holds(connection, now)
    return RecoveryCounts(len(dead), len(expired), sum(dead) + sum(expired), len(bookings))


def sweep_holds(
    connection: sqlite3.Connection, *, live_hold_ids: Iterable[str], terms: ReserveTerms, now: float
) -> RecoveryCounts:
    """From time to time: renews the holds `live_hold_ids`, then charges the dead's and the expired ones."""
    transactions.renew_holds(connection, live_hold_ids, now + terms.hold_s)
    dead, expired = _charge_dead_owners(connection, now), transactions.charge_expired_holds(connection, now)
    return RecoveryCounts(len(dead), len(expired), sum(dead) + sum(expired))


def log_recovery(counts: RecoveryCounts) -> None:
    """Says what was recovered, if anything was."""
    if counts != RecoveryCounts():
        log.warning(
            "recovered: %d holds of dead processes and %d expired ones charged at their bound, "
            "%d nano-dollars; %d kept settlements booked",
            counts.dead_count,
            counts.expired_count,
            counts.charged_nanousd,
            counts.spooled_count,
        )


@contextlib.asynccontextmanager
async def run_sweeps(seconds: float, sweep: Callable[[], Awaitable[None]]) -> AsyncIterator[None]:
    """A sweep every `seconds` while the block lasts, whether or not the last one failed."""

    async def run_loop() -> None:
        while True:
            await asyncio.sleep(seconds)
            try:
                await sweep()
            except Exception as fault:
                log.error("holds were not renewed: %s: %s", type(fault).__name__, fault)

    task = asyncio.create_task(run_loop(), name="ledger sweep")
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


def _charge_dead_owners(connection: sqlite3.Connection, now: float) -> list[int]:
    observer = Owner.read_current()
    owners = [row[0] for row in connection.execute("SELECT DISTINCT owner FROM holds")]
    return [
        cost
        for owner in owners
        if _is_owner_dead(owner, observer)
        for cost in transactions.charge_dead_owner(connection, owner, now)
    ]


def _is_owner_dead(text: str, observer: Owner) -> bool:
    try:
        return Owner.parse(text).is_dead(observer)
    except ValueError:
        return False
