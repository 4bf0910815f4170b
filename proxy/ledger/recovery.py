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
from proxy.ledger.transactions import Booking, Terms

log = logging.getLogger("fiador.ledger")


@dataclass(frozen=True, slots=True)
class Recovered:
    """Counts of one sweep, and the nano-dollars charged in it."""

    dead: int = 0
    expired: int = 0
    nanousd: int = 0
    kept: int = 0


async def start(commits: GroupCommit, kept: Spool, clock: Callable[[], float]) -> Recovered:
    """At start: first the settlements that are known, then the holds of which nothing is known any more.

    A living process's kept settlements are booked too: booked again by their owner they count once.
    """
    files = await asyncio.to_thread(kept.files)
    bookings = [booking for path in files for booking in await asyncio.to_thread(spool.read, path)]
    now = clock()
    done = await commits.submit(lambda connection: _start(connection, bookings, now))
    await asyncio.to_thread(kept.clear, files)
    tell(done)
    return done


def _start(connection: sqlite3.Connection, bookings: list[Booking], now: float) -> Recovered:
    transactions.stamp(connection)
    for booking in bookings:
        transactions.settle(connection, booking)
    dead, expired = _dead(connection, now), transactions.expire(connection, now)
    return Recovered(len(dead), len(expired), sum(dead) + sum(expired), len(bookings))


def sweep(connection: sqlite3.Connection, *, alive: Iterable[str], terms: Terms, now: float) -> Recovered:
    """From time to time: renews the holds `alive` here, then charges the expired ones and the dead's."""
    transactions.renew(connection, alive, now + terms.hold_s)
    dead, expired = _dead(connection, now), transactions.expire(connection, now)
    return Recovered(len(dead), len(expired), sum(dead) + sum(expired))


def tell(done: Recovered) -> None:
    """Says what was recovered, if anything was."""
    if done != Recovered():
        log.warning(
            "recovered: %d holds of dead processes and %d expired ones charged at their bound, "
            "%d nano-dollars; %d kept settlements booked",
            done.dead,
            done.expired,
            done.nanousd,
            done.kept,
        )


@contextlib.asynccontextmanager
async def every(seconds: float, work: Callable[[], Awaitable[None]]) -> AsyncIterator[None]:
    """Runs `work` again and again while the block lasts, whether or not it fails."""

    async def loop() -> None:
        while True:
            await asyncio.sleep(seconds)
            try:
                await work()
            except Exception as fault:
                log.error("holds were not renewed: %s: %s", type(fault).__name__, fault)

    task = asyncio.create_task(loop(), name="ledger sweep")
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


def _dead(connection: sqlite3.Connection, now: float) -> list[int]:
    here = Owner.current()
    owners = [row[0] for row in connection.execute("SELECT DISTINCT owner FROM holds")]
    return [
        cost
        for owner in owners
        if _is_dead(owner, here)
        for cost in transactions.recover(connection, owner, now)
    ]


def _is_dead(text: str, here: Owner) -> bool:
    try:
        return Owner.parse(text).dead(here)
    except ValueError:
        return False
