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
from proxy.ledger.periods import (
    DeploymentCaps,
    Period,
    SpendCap,
    find_period,
    list_accounts,
    list_capped_accounts,
)
from proxy.ledger.schema import VERSION

CORRECTABLE_BASES = ("expired", "recovered")
"""Bases of an entry booked without hearing from the hold's owner: a late word may still correct it."""


@dataclass(frozen=True, slots=True)
class ReserveTerms:
    """What admission is decided by, in one process: caps, time zone, and the mark and life of its holds."""

    caps: DeploymentCaps
    zone: ZoneInfo
    owner: str
    hold_s: float


@dataclass(frozen=True, slots=True)
class HoldRequest:
    """One attempt that asks for money, at the moment `now`."""

    caller: Caller
    model: str
    bound: CostBound
    prices: Prices
    now: float


@dataclass(frozen=True, slots=True)
class Booking:
    """One hold to be replaced by its real cost; written twice it counts once."""

    hold_id: str
    basis: str
    settled: Settled
    now: float
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Adjustment:
    """A change by hand: nano-dollars (negative: given back) and why. No key: on the deployment alone."""

    nanousd: int
    reason: str
    key_id: str = ""
    model: str = ""


@dataclass(frozen=True, slots=True)
class _HoldRow:
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

    def list_accounts(self) -> list[str]:
        return list_accounts(self.key_id, json.loads(self.groups))


@dataclass(frozen=True, slots=True)
class _SpanCap:
    """A cap in nano-dollars on a month `2026-11` or a day `2026-11-30`."""

    span: str
    cap: int


def _list_span_caps(cap: SpendCap, period: Period) -> list[_SpanCap]:
    return [
        _SpanCap(span, nanousd)
        for span, nanousd in ((period.month, cap.month_nanousd), (period.day, cap.day_nanousd))
        if nanousd is not None
    ]


_HOLD_COLUMNS = "id, made, key_id, groups, model, day, month, input_tokens, output_tokens, nanousd"


def stamp_layout(connection: sqlite3.Connection) -> None:
    """Marks a new file with the layout of its tables. Raises sqlite3.DatabaseError for another layout."""
    layout = connection.execute("PRAGMA user_version").fetchone()[0]
    if layout not in (0, VERSION):
        raise sqlite3.DatabaseError(
            f"it has layout {layout}, this version of fiador uses {VERSION}: use the version that wrote it"
        )
    connection.execute(f"PRAGMA user_version = {VERSION}")


def reserve_hold(connection: sqlite3.Connection, terms: ReserveTerms, request: HoldRequest) -> Hold | Denial:
    """Sets the bound aside if every cap allows it: deployment, key and groups, by month and by day."""
    closed = connection.execute("SELECT detail FROM closed WHERE model = ?", (request.model,)).fetchone()
    if closed:
        return Denial(Decision.OVER_BUDGET, f"bound_exceeded: model {request.model} is closed: {closed[0]}")
    period = _advance_period(connection, find_period(request.now, terms.zone))
    for account, cap in list_capped_accounts(request.caller, terms.caps):
        for limit in _list_span_caps(cap, period):
            denial = _check_span_cap(connection, account, request, limit)
            if denial:
                return denial
    return _insert_hold(connection, terms, request, period)


def settle_hold(connection: sqlite3.Connection, booking: Booking) -> None:
    """Replaces a hold by its cost. One that was charged meanwhile is corrected, one settled before stays."""
    row = _find_hold(connection, booking.hold_id)
    if row is None:
        _correct_charged_hold(connection, booking)
        return
    connection.execute("DELETE FROM holds WHERE id = ?", (row.id,))
    _move_balances(connection, row, -row.nanousd, booking.settled.nanousd)
    _insert_entry(connection, row, booking)
    _close_exceeded_model(connection, row, booking)


def charge_dead_owner(connection: sqlite3.Connection, owner: str, now: float) -> list[int]:
    """Charges every hold of a dead owner at its bound. Returns the nano-dollars of each."""
    rows = connection.execute(f"SELECT {_HOLD_COLUMNS} FROM holds WHERE owner = ?", (owner,)).fetchall()
    return _charge_holds(connection, rows, "recovered", now)


def charge_expired_holds(connection: sqlite3.Connection, now: float) -> list[int]:
    """Charges every hold that nobody renewed in time at its bound: an expired hold is never given back."""
    rows = connection.execute(f"SELECT {_HOLD_COLUMNS} FROM holds WHERE expires < ?", (now,)).fetchall()
    return _charge_holds(connection, rows, "expired", now)


def renew_holds(connection: sqlite3.Connection, hold_ids: Iterable[str], expires: float) -> None:
    """Puts the expiry of live holds off to `expires`."""
    connection.executemany(
        "UPDATE holds SET expires = ? WHERE id = ?", [(expires, hold) for hold in hold_ids]
    )


def apply_adjustment(
    connection: sqlite3.Connection, terms: ReserveTerms, change: Adjustment, now: float
) -> Period:
    """Books a change by hand into the present period, on the deployment and, if named, the key."""
    period = _advance_period(connection, find_period(now, terms.zone))
    entry_id = f"adjust-{secrets.token_hex(8)}"
    row = _HoldRow(entry_id, now, change.key_id, "[]", change.model, period.day, period.month, 0, 0, 0)
    _move_balances(connection, row, 0, change.nanousd)
    _insert_entry(
        connection, row, Booking(entry_id, "adjusted", Settled(0, 0, change.nanousd), now, change.reason)
    )
    return period


def probe_write(connection: sqlite3.Connection) -> None:
    """Writes something that changes nothing."""
    day = "SELECT day FROM latest UNION ALL SELECT '' LIMIT 1"
    connection.execute(f"INSERT OR REPLACE INTO latest VALUES (1, ({day}))")


def _advance_period(connection: sqlite3.Connection, today: Period) -> Period:
    """Today, noted as the latest day, or the latest day that the books have seen if that is later."""
    row = connection.execute("SELECT day FROM latest").fetchone()
    if row and row[0] >= today.day:
        return Period(row[0], row[0][:7])
    connection.execute("INSERT OR REPLACE INTO latest VALUES (1, ?)", (today.day,))
    return today


def _check_span_cap(
    connection: sqlite3.Connection, account: str, request: HoldRequest, limit: _SpanCap
) -> Denial | None:
    settled, held = _read_balance(connection, account, limit.span)
    if settled + held + request.bound.nanousd <= limit.cap:
        return None
    detail = (
        f"{account} {limit.span}: cap {limit.cap}, settled {settled}, held by requests in flight {held}, "
        f"this request at most {request.bound.nanousd} nano-dollars"
    )
    return Denial(Decision.OVER_BUDGET, detail)


def _read_balance(connection: sqlite3.Connection, account: str, span: str) -> tuple[int, int]:
    """Settled and held in a span: a month's name begins those of its days, and `~` sorts behind them all."""
    settled, held = connection.execute(
        "SELECT sum(settled), sum(held) FROM balances WHERE account = ?1 AND day >= ?2 AND day < ?2 || '~'",
        (account, span),
    ).fetchone()
    return settled or 0, held or 0


def _insert_hold(
    connection: sqlite3.Connection, terms: ReserveTerms, request: HoldRequest, period: Period
) -> Hold:
    bound, groups = request.bound, json.dumps(sorted(request.caller.groups))
    scope = (request.caller.key_id, groups, request.model, period.day, period.month)
    values = (
        _make_hold_id(request.now),
        request.now,
        *scope,
        bound.input_tokens,
        bound.output_tokens,
        bound.nanousd,
    )
    connection.execute(
        f"INSERT INTO holds ({_HOLD_COLUMNS}, owner, expires) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (*values, terms.owner, request.now + terms.hold_s),
    )
    _move_balances(connection, _HoldRow(*values), bound.nanousd, 0)
    return Hold(values[0], bound.nanousd, request.prices, bound.input_tokens, bound.output_tokens)


def _make_hold_id(now: float) -> str:
    """A name for a hold: unique over all processes; sorts as time does, so that indexes grow at their end."""
    return f"{int(now * 1000):012x}{secrets.token_hex(8)}"


def _move_balances(connection: sqlite3.Connection, row: _HoldRow, held: int, settled: int) -> None:
    """Changes every balance that the row touches by `held` and `settled`."""
    connection.executemany(
        "INSERT INTO balances (account, day, settled, held) VALUES (?1, ?2, ?3, max(?4, 0)) "
        "ON CONFLICT DO UPDATE SET settled = settled + ?3, held = held + ?4",
        [(account, row.day, settled, held) for account in row.list_accounts()],
    )


def _charge_holds(
    connection: sqlite3.Connection, rows: list[tuple[Any, ...]], basis: str, now: float
) -> list[int]:
    holds = [_HoldRow(*row) for row in rows]
    for hold in holds:
        cost = Settled(hold.input_tokens, hold.output_tokens, hold.nanousd)
        settle_hold(connection, Booking(hold.id, basis, cost, now))
    return [hold.nanousd for hold in holds]


def _find_hold(connection: sqlite3.Connection, hold_id: str) -> _HoldRow | None:
    row = connection.execute(f"SELECT {_HOLD_COLUMNS} FROM holds WHERE id = ?", (hold_id,)).fetchone()
    return _HoldRow(*row) if row else None


def _insert_entry(connection: sqlite3.Connection, row: _HoldRow, booking: Booking) -> None:
    scope = (row.key_id, row.groups, row.model, row.day, row.month)
    cost = (booking.settled.input_tokens, booking.settled.output_tokens, row.nanousd, booking.settled.nanousd)
    connection.execute(
        "INSERT INTO entries (hold, part, basis, made, booked, key_id, groups, model, day, month, "
        "input_tokens, output_tokens, held, nanousd, reason) VALUES "
        "(?1, (SELECT count(*) FROM entries WHERE hold = ?1), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (row.id, booking.basis, row.made, booking.now, *scope, *cost, booking.reason),
    )


def _close_exceeded_model(connection: sqlite3.Connection, row: _HoldRow, booking: Booking) -> None:
    """A report above the hold makes the bound void: no further call of that model until someone looked."""
    if booking.settled.nanousd <= row.nanousd:
        return
    detail = f"hold {row.id}: held {row.nanousd}, reported {booking.settled.nanousd} nano-dollars"
    connection.execute("INSERT OR IGNORE INTO closed VALUES (?, ?, ?)", (row.model, booking.now, detail))


def _correct_charged_hold(connection: sqlite3.Connection, booking: Booking) -> None:
    """The owner of a hold speaks up after it was charged at its bound: the difference is one more entry."""
    entry = connection.execute(
        "SELECT hold, made, key_id, groups, model, day, month, input_tokens, output_tokens, nanousd, basis "
        "FROM entries WHERE hold = ? ORDER BY part DESC LIMIT 1",
        (booking.hold_id,),
    ).fetchone()
    if entry is None or entry[-1] not in CORRECTABLE_BASES:
        return
    row, reported_cost = _HoldRow(*entry[:-1]), booking.settled
    difference = Settled(
        reported_cost.input_tokens - row.input_tokens,
        reported_cost.output_tokens - row.output_tokens,
        reported_cost.nanousd - row.nanousd,
    )
    _move_balances(connection, row, 0, difference.nanousd)
    _insert_entry(connection, row, Booking(row.id, "late", difference, booking.now))
    _close_exceeded_model(connection, row, booking)
