"""The operator's side of the books: spend, proof, open holds, a report to lay beside the provider's invoice.

Each function is the inside of one transaction, so that its figures belong to one moment.
"""

import json
import sqlite3
from collections import Counter
from dataclasses import dataclass
from typing import Literal

from proxy.ledger.periods import Period, accounts
from proxy.ledger.transactions import Adjustment, Terms, adjust

By = Literal["key", "model", "day"]
COLUMNS: dict[By, str] = {"key": "key_id", "model": "model", "day": "day"}


@dataclass(frozen=True, slots=True)
class Spend:
    """What one key, model or day has cost. `held` is set aside for requests in flight."""

    name: str
    requests: int
    input_tokens: int
    output_tokens: int
    settled_nanousd: int
    held_nanousd: int


@dataclass(frozen=True, slots=True)
class OpenHold:
    """A hold that is not settled. Moments in Unix seconds."""

    id: str
    key_id: str
    model: str
    nanousd: int
    made: float
    expires: float
    owner: str


@dataclass(frozen=True, slots=True)
class Proof:
    """`faults`: one line each where a balance is not what its entries and holds add up to; none: it holds."""

    balances: int
    settled_nanousd: int
    held_nanousd: int
    holds: tuple[OpenHold, ...]
    faults: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Invoice:
    """One model on one day, split by what the figures rest on (see `prices.basis`)."""

    day: str
    model: str
    basis: str
    entries: int
    input_tokens: int
    output_tokens: int
    nanousd: int


@dataclass(frozen=True, slots=True)
class Act:
    """What an operator did by hand, and why."""

    at: float
    by: str
    act: str
    subject: str
    reason: str


def spend(connection: sqlite3.Connection, by: By, since: str = "") -> list[Spend]:
    """Totals from the day `since` (inclusive), dearest first. A retried attempt counts on its own."""
    column = COLUMNS[by]
    rows = connection.execute(
        f"SELECT {column}, sum(hit), sum(input), sum(output), sum(settled), sum(held) FROM ("
        f"SELECT {column}, basis NOT IN ('late', 'adjusted') AS hit, input_tokens AS input, "
        "output_tokens AS output, nanousd AS settled, 0 AS held FROM entries WHERE day >= ?1 UNION ALL "
        f"SELECT {column}, 1, 0, 0, 0, nanousd FROM holds WHERE day >= ?1) GROUP BY 1 ORDER BY 5 DESC, 1",
        (since,),
    )
    return [Spend(*row) for row in rows]


def holds(connection: sqlite3.Connection) -> list[OpenHold]:
    """Every open hold, oldest first."""
    rows = connection.execute(
        "SELECT id, key_id, model, nanousd, made, expires, owner FROM holds ORDER BY made"
    )
    return [OpenHold(*row) for row in rows]


def verify(connection: sqlite3.Connection) -> Proof:
    """Proves that every balance is the sum of its entries (settled) and of its open holds (held)."""
    settled = _sum(connection, "entries")
    held = _sum(connection, "holds")
    kept = {(row[0], row[1]): (row[2], row[3]) for row in connection.execute("SELECT * FROM balances")}
    faults = [
        f"{account} {day}: the books say {kept.get((account, day), (0, 0))}, "
        f"entries and holds add up to {(settled[account, day], held[account, day])}"
        for account, day in sorted(kept.keys() | settled.keys() | held.keys())
        if kept.get((account, day), (0, 0)) != (settled[account, day], held[account, day])
    ]
    total = connection.execute(
        "SELECT (SELECT sum(nanousd) FROM entries), (SELECT sum(nanousd) FROM holds)"
    ).fetchone()
    return Proof(len(kept), total[0] or 0, total[1] or 0, tuple(holds(connection)), tuple(faults))


def report(connection: sqlite3.Connection, month: str) -> list[Invoice]:
    """The month `2026-11` by day and model, to lay beside the provider's invoice."""
    rows = connection.execute(
        "SELECT day, model, basis, count(*), sum(input_tokens), sum(output_tokens), sum(nanousd) "
        "FROM entries WHERE month = ? GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
        (month,),
    )
    return [Invoice(*row) for row in rows]


def correct(
    connection: sqlite3.Connection, terms: Terms, change: Adjustment, *, by: str, now: float
) -> Period:
    """Books a change by hand, and who did it and why."""
    when = adjust(connection, terms, change, now)
    subject = f"{change.nanousd} nano-dollars, key {change.key_id or '-'}, model {change.model or '-'}"
    _note(connection, Act(now, by, "adjust", subject, change.reason))
    return when


def acknowledge(connection: sqlite3.Connection, model: str, act: Act) -> bool:
    """Opens a model that `bound_exceeded` had closed. False: it was not closed."""
    opened = connection.execute("DELETE FROM closed WHERE model = ?", (model,)).rowcount > 0
    if opened:
        _note(connection, act)
    return opened


def rewind(connection: sqlite3.Connection, today: Period, act: Act) -> None:
    """Makes today the latest day again, after a clock that had run ahead: what was spent stays put."""
    connection.execute("INSERT OR REPLACE INTO latest VALUES (1, ?)", (today.day,))
    _note(connection, act)


def closed(connection: sqlite3.Connection) -> dict[str, str]:
    """Models that `bound_exceeded` has closed, and why."""
    return dict(connection.execute("SELECT model, detail FROM closed ORDER BY model"))


def acts(connection: sqlite3.Connection) -> list[Act]:
    """Everything that was done by hand, oldest first."""
    return [Act(*row) for row in connection.execute("SELECT at, by, act, subject, reason FROM audit")]


def _note(connection: sqlite3.Connection, act: Act) -> None:
    connection.execute(
        "INSERT INTO audit (at, by, act, subject, reason) VALUES (?, ?, ?, ?, ?)",
        (act.at, act.by, act.act, act.subject, act.reason),
    )


def _sum(connection: sqlite3.Connection, table: str) -> Counter[tuple[str, str]]:
    """What each account should have on each day, counted from the rows themselves."""
    sums: Counter[tuple[str, str]] = Counter()
    rows = connection.execute(f"SELECT key_id, groups, day, sum(nanousd) FROM {table} GROUP BY 1, 2, 3")
    for key_id, groups, day, nanousd in rows:
        for account in accounts(key_id, json.loads(groups)):
            sums[account, day] += nanousd
    return sums
