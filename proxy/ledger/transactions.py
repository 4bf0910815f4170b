"""The books: each function is the inside of one transaction. Integers only; checks come before writes."""

import json
import secrets
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from zoneinfo import ZoneInfo

from proxy.domain.ports import CostBound, Denial, Hold, Prices, Settled
from proxy.domain.types import Caller, Decision
from proxy.ledger.periods import Cap, Caps, Period, accounts, capped, period
from proxy.ledger.schema import VERSION

CHARGED = ("expired", "recovered")
"""Bases of an entry booked without hearing from the hold's owner: a late word may still correct it."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What admission is decided by, in one process: caps, time zone, and the mark and life of its holds."""

    caps: Caps
    zone: ZoneInfo
    owner: str
    hold_s: float


@dataclass(frozen=True, slots=True)
class Wish:
    """One attempt that asks for money, at the moment `now`."""

    caller: Caller
    model: str
    bound: CostBound
    prices: Prices
    now: float


@dataclass(frozen=True, slots=True)
class Booking:
    """One hold to be replaced by its real cost; written twice it counts once."""

    hold: str
    basis: str
    settled: Settled
    now: float
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Adjustment:
    """A change by hand: nano-dollars (negative: back), whose, and why. No key: the deployment's only."""

    nanousd: int
    reason: str
    key_id: str = ""
    model: str = ""


@dataclass(frozen=True, slots=True)
class _Row:
    """A hold as it stands in the books."""

    id: str
    made: float
    key_id: str
    groups: str
    model: str
    day: str
    month: str
    input_tokens: int
    output_tokens: int
    nanousd: int

    def accounts(self) -> list[str]:
        return accounts(self.key_id, json.loads(self.groups))


@dataclass(frozen=True, slots=True)
class _Limit:
    """A cap in nano-dollars on a month `2026-11` or a day `2026-11-30`."""

    span: str
    cap: int


def _limits(cap: Cap, when: Period) -> list[_Limit]:
    return [
        _Limit(span, most)
        for span, most in ((when.month, cap.month), (when.day, cap.day))
        if most is not None
    ]


_COLUMNS = "id, made, key_id, groups, model, day, month, input_tokens, output_tokens, nanousd"


def stamp(connection: sqlite3.Connection) -> None:
    """Marks a new file with the layout of its tables. Raises sqlite3.DatabaseError for another layout."""
    found = connection.execute("PRAGMA user_version").fetchone()[0]
    if found not in (0, VERSION):
        raise sqlite3.DatabaseError(
            f"it has layout {found}, this version of fiador uses {VERSION}: use the version that wrote it"
        )
    connection.execute(f"PRAGMA user_version = {VERSION}")


def reserve(connection: sqlite3.Connection, terms: Terms, wish: Wish) -> Hold | Denial:
    """Sets the bound aside if every cap allows it: deployment, key and groups, by month and by day."""
    closed = connection.execute("SELECT detail FROM closed WHERE model = ?", (wish.model,)).fetchone()
    if closed:
        return Denial(Decision.OVER_BUDGET, f"bound_exceeded: model {wish.model} is closed: {closed[0]}")
    when = _period(connection, period(wish.now, terms.zone))
    for account, cap in capped(wish.caller, terms.caps):
        for limit in _limits(cap, when):
            denial = _check(connection, account, wish, limit)
            if denial:
                return denial
    return _hold(connection, terms, wish, when)


def settle(connection: sqlite3.Connection, booking: Booking) -> None:
    """Replaces a hold by its cost. One that was charged meanwhile is corrected, one settled before stays."""
    row = _find(connection, booking.hold)
    if row is None:
        _correct(connection, booking)
        return
    connection.execute("DELETE FROM holds WHERE id = ?", (row.id,))
    _move(connection, row, -row.nanousd, booking.settled.nanousd)
    _enter(connection, row, booking)
    _close(connection, row, booking)


def recover(connection: sqlite3.Connection, owner: str, now: float) -> list[int]:
    """Charges every hold of a dead owner at its bound. Returns what was charged."""
    rows = connection.execute(f"SELECT {_COLUMNS} FROM holds WHERE owner = ?", (owner,)).fetchall()
    return _charge(connection, rows, "recovered", now)


def expire(connection: sqlite3.Connection, now: float) -> list[int]:
    """Charges every hold that nobody renewed in time at its bound: an expired hold is never given back."""
    rows = connection.execute(f"SELECT {_COLUMNS} FROM holds WHERE expires < ?", (now,)).fetchall()
    return _charge(connection, rows, "expired", now)


def renew(connection: sqlite3.Connection, holds: Iterable[str], expires: float) -> None:
    """Puts the expiry of live holds off to `expires`."""
    connection.executemany("UPDATE holds SET expires = ? WHERE id = ?", [(expires, hold) for hold in holds])


def adjust(connection: sqlite3.Connection, terms: Terms, change: Adjustment, now: float) -> Period:
    """Books a change by hand into the present period, on the deployment and, if named, the key."""
    when = _period(connection, period(now, terms.zone))
    mark = f"adjust-{secrets.token_hex(8)}"
    row = _Row(mark, now, change.key_id, "[]", change.model, when.day, when.month, 0, 0, 0)
    _move(connection, row, 0, change.nanousd)
    _enter(connection, row, Booking(mark, "adjusted", Settled(0, 0, change.nanousd), now, change.reason))
    return when


def touch(connection: sqlite3.Connection) -> None:
    """Writes something that changes nothing."""
    day = "SELECT day FROM latest UNION ALL SELECT '' LIMIT 1"
    connection.execute(f"INSERT OR REPLACE INTO latest VALUES (1, ({day}))")


def _period(connection: sqlite3.Connection, today: Period) -> Period:
    """Today, or the latest day the books have seen, whichever is later."""
    row = connection.execute("SELECT day FROM latest").fetchone()
    if row and row[0] >= today.day:
        return Period(row[0], row[0][:7])
    connection.execute("INSERT OR REPLACE INTO latest VALUES (1, ?)", (today.day,))
    return today


def _check(connection: sqlite3.Connection, account: str, wish: Wish, limit: _Limit) -> Denial | None:
    settled, held = _balance(connection, account, limit.span)
    if settled + held + wish.bound.nanousd <= limit.cap:
        return None
    detail = (
        f"{account} {limit.span}: cap {limit.cap}, settled {settled}, held by requests in flight {held}, "
        f"this request at most {wish.bound.nanousd} nano-dollars"
    )
    return Denial(Decision.OVER_BUDGET, detail)


def _balance(connection: sqlite3.Connection, account: str, span: str) -> tuple[int, int]:
    """Settled and held in a month, or in a day, which its month's name begins."""
    settled, held = connection.execute(
        "SELECT sum(settled), sum(held) FROM balances WHERE account = ?1 AND day >= ?2 AND day < ?2 || '~'",
        (account, span),
    ).fetchone()
    return settled or 0, held or 0


def _hold(connection: sqlite3.Connection, terms: Terms, wish: Wish, when: Period) -> Hold:
    bound, groups = wish.bound, json.dumps(sorted(wish.caller.groups))
    whose = (wish.caller.key_id, groups, wish.model, when.day, when.month)
    values = (_mark(wish.now), wish.now, *whose, bound.input_tokens, bound.output_tokens, bound.nanousd)
    connection.execute(
        f"INSERT INTO holds ({_COLUMNS}, owner, expires) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (*values, terms.owner, wish.now + terms.hold_s),
    )
    _move(connection, _Row(*values), bound.nanousd, 0)
    return Hold(values[0], bound.nanousd, wish.prices, bound.input_tokens, bound.output_tokens)


def _mark(now: float) -> str:
    """A name for a hold: unique over all processes; sorts as time does, so that indexes grow at their end."""
    return f"{int(now * 1000):012x}{secrets.token_hex(8)}"


def _move(connection: sqlite3.Connection, row: _Row, held: int, settled: int) -> None:
    """Changes every balance that the row touches by `held` and `settled`."""
    connection.executemany(
        "INSERT INTO balances (account, day, settled, held) VALUES (?1, ?2, ?3, max(?4, 0)) "
        "ON CONFLICT DO UPDATE SET settled = settled + ?3, held = held + ?4",
        [(account, row.day, settled, held) for account in row.accounts()],
    )


def _charge(connection: sqlite3.Connection, rows: list[tuple[Any, ...]], basis: str, now: float) -> list[int]:
    for row in (_Row(*row) for row in rows):
        cost = Settled(row.input_tokens, row.output_tokens, row.nanousd)
        settle(connection, Booking(row.id, basis, cost, now))
    return [row[-1] for row in rows]


def _find(connection: sqlite3.Connection, hold: str) -> _Row | None:
    row = connection.execute(f"SELECT {_COLUMNS} FROM holds WHERE id = ?", (hold,)).fetchone()
    return _Row(*row) if row else None


def _enter(connection: sqlite3.Connection, row: _Row, booking: Booking) -> None:
    whose = (row.key_id, row.groups, row.model, row.day, row.month)
    cost = (booking.settled.input_tokens, booking.settled.output_tokens, row.nanousd, booking.settled.nanousd)
    connection.execute(
        "INSERT INTO entries (hold, part, basis, made, booked, key_id, groups, model, day, month, "
        "input_tokens, output_tokens, held, nanousd, reason) VALUES "
        "(?1, (SELECT count(*) FROM entries WHERE hold = ?1), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (row.id, booking.basis, row.made, booking.now, *whose, *cost, booking.reason),
    )


def _close(connection: sqlite3.Connection, row: _Row, booking: Booking) -> None:
    """A report above the hold makes the bound void: no further call of that model until someone looked."""
    if booking.settled.nanousd <= row.nanousd:
        return
    detail = f"hold {row.id}: held {row.nanousd}, reported {booking.settled.nanousd} nano-dollars"
    connection.execute("INSERT OR IGNORE INTO closed VALUES (?, ?, ?)", (row.model, booking.now, detail))


def _correct(connection: sqlite3.Connection, booking: Booking) -> None:
    """The owner of a hold speaks up after it was charged at its bound: the difference is one more entry."""
    found = connection.execute(
        "SELECT hold, made, key_id, groups, model, day, month, input_tokens, output_tokens, nanousd, basis "
        "FROM entries WHERE hold = ? ORDER BY part DESC LIMIT 1",
        (booking.hold,),
    ).fetchone()
    if found is None or found[-1] not in CHARGED:
        return
    row, told = _Row(*found[:-1]), booking.settled
    gap = Settled(
        told.input_tokens - row.input_tokens,
        told.output_tokens - row.output_tokens,
        told.nanousd - row.nanousd,
    )
    _move(connection, row, 0, gap.nanousd)
    _enter(connection, row, Booking(row.id, "late", gap, booking.now))
    _close(connection, row, booking)
