"""The operator's side of the books: spend, proof, open holds, a report to lay beside the provider's invoice.

Each function is the inside of one transaction, so that its figures belong to one moment.
"""

import json
import sqlite3
from collections import Counter
from dataclasses import dataclass
from typing import Literal

from proxy.ledger.periods import Period, list_accounts
from proxy.ledger.transactions import Adjustment, ReserveTerms, apply_adjustment

SpendGrouping = Literal["key", "model", "day"]
GROUPING_COLUMNS: dict[SpendGrouping, str] = {"key": "key_id", "model": "model", "day": "day"}


@dataclass(frozen=True, slots=True)
class SpendTotal:
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
class BalanceProof:
    """`faults`: one line each where a balance is not what its entries and holds add up to; none: it holds."""

    balances: int
    settled_nanousd: int
    held_nanousd: int
    holds: tuple[OpenHold, ...]
    faults: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class InvoiceLine:
    """One model on one day, split by what the figures rest on: `basis` as in the table `entries`."""

    day: str
    model: str
    basis: str
    entries: int
    input_tokens: int
    output_tokens: int
    nanousd: int


@dataclass(frozen=True, slots=True)
class OperatorAct:
    """What an operator did by hand, and why."""

    at: float
    by: str
    act: str
    subject: str
    reason: str


def list_spend_totals(
    connection: sqlite3.Connection, grouping: SpendGrouping, since: str = ""
) -> list[SpendTotal]:
    """Totals from the day `since` (inclusive), dearest first. A retried attempt counts on its own."""
    column = GROUPING_COLUMNS[grouping]
    rows = connection.execute(
        f"SELECT {column}, sum(hit), sum(input), sum(output), sum(settled), sum(held) FROM ("
        f"SELECT {column}, basis NOT IN ('late', 'adjusted') AS hit, input_tokens AS input, "
        "output_tokens AS output, nanousd AS settled, 0 AS held FROM entries WHERE day >= ?1 UNION ALL "
        f"SELECT {column}, 1, 0, 0, 0, nanousd FROM holds WHERE day >= ?1) GROUP BY 1 ORDER BY 5 DESC, 1",
        (since,),
    )
    return [SpendTotal(*row) for row in rows]


def list_open_holds(connection: sqlite3.Connection) -> list[OpenHold]:
    """Every open hold, oldest first."""
    rows = connection.execute(
        "SELECT id, key_id, model, nanousd, made, expires, owner FROM holds ORDER BY made"
    )
    return [OpenHold(*row) for row in rows]


def verify_balances(connection: sqlite3.Connection) -> BalanceProof:
    """Proves that every balance is the sum of its entries (settled) and of its open holds (held)."""
    settled = _sum_by_account(connection, "entries")
    held = _sum_by_account(connection, "holds")
    balances = {(row[0], row[1]): (row[2], row[3]) for row in connection.execute("SELECT * FROM balances")}
    faults = [
        f"{account} {day}: the books say {balances.get((account, day), (0, 0))}, "
        f"entries and holds add up to {(settled[account, day], held[account, day])}"
        for account, day in sorted(balances.keys() | settled.keys() | held.keys())
        if balances.get((account, day), (0, 0)) != (settled[account, day], held[account, day])
    ]
    total = connection.execute(
        "SELECT (SELECT sum(nanousd) FROM entries), (SELECT sum(nanousd) FROM holds)"
    ).fetchone()
    return BalanceProof(
        len(balances), total[0] or 0, total[1] or 0, tuple(list_open_holds(connection)), tuple(faults)
    )


def list_invoice_lines(connection: sqlite3.Connection, month: str) -> list[InvoiceLine]:
    """The month `2026-11` by day and model, to lay beside the provider's invoice."""
    rows = connection.execute(
        "SELECT day, model, basis, count(*), sum(input_tokens), sum(output_tokens), sum(nanousd) "
        "FROM entries WHERE month = ? GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
        (month,),
    )
    return [InvoiceLine(*row) for row in rows]


def book_adjustment(
    connection: sqlite3.Connection, terms: ReserveTerms, change: Adjustment, *, operator: str, now: float
) -> Period:
    """Books a change by hand, and who did it and why."""
    period = apply_adjustment(connection, terms, change, now)
    subject = f"{change.nanousd} nano-dollars, key {change.key_id or '-'}, model {change.model or '-'}"
    _insert_act(connection, OperatorAct(now, operator, "adjust", subject, change.reason))
    return period


def reopen_model(connection: sqlite3.Connection, model: str, act: OperatorAct) -> bool:
    """Opens a model that `bound_exceeded` had closed. False: it was not closed."""
    was_closed = connection.execute("DELETE FROM closed WHERE model = ?", (model,)).rowcount > 0
    if was_closed:
        _insert_act(connection, act)
    return was_closed


def rewind_latest_day(connection: sqlite3.Connection, today: Period, act: OperatorAct) -> None:
    """Makes today the latest day again, after a clock that had run ahead: what was spent stays put."""
    connection.execute("INSERT OR REPLACE INTO latest VALUES (1, ?)", (today.day,))
    _insert_act(connection, act)


def list_closed_models(connection: sqlite3.Connection) -> dict[str, str]:
    """Models that `bound_exceeded` has closed, and why."""
    return dict(connection.execute("SELECT model, detail FROM closed ORDER BY model"))


def list_operator_acts(connection: sqlite3.Connection) -> list[OperatorAct]:
    """Everything that was done by hand, oldest first."""
    return [OperatorAct(*row) for row in connection.execute("SELECT at, by, act, subject, reason FROM audit")]


def _insert_act(connection: sqlite3.Connection, act: OperatorAct) -> None:
    connection.execute(
        "INSERT INTO audit (at, by, act, subject, reason) VALUES (?, ?, ?, ?, ?)",
        (act.at, act.by, act.act, act.subject, act.reason),
    )


def _sum_by_account(connection: sqlite3.Connection, table: str) -> Counter[tuple[str, str]]:
    """What each account should have on each day, counted from the rows themselves."""
    sums: Counter[tuple[str, str]] = Counter()
    rows = connection.execute(f"SELECT key_id, groups, day, sum(nanousd) FROM {table} GROUP BY 1, 2, 3")
    for key_id, groups, day, nanousd in rows:
        for account in list_accounts(key_id, json.loads(groups)):
            sums[account, day] += nanousd
    return sums
