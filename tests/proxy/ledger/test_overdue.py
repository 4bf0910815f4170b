"""Holds whose owner is gone, and those whose month is over; a clock that was wrong."""

from pathlib import Path

import pytest

from proxy.ledger.owner import Owner
from proxy.ledger.sqlite import SqliteLedger
from tests.proxy.ledger.ledger_builders import BOUND, make_spent, open_ledger, require_denial, require_hold
from tests.waiting import wait_until

MIDNIGHT = 1_796_083_200.0
"""2026-12-01 00:00 UTC."""


async def test_the_holds_of_a_dead_process_are_charged_at_the_start_and_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_ledger(tmp_path) as ledger:
        await require_hold(ledger)
        gone = Owner(ledger.owner.boot, ledger.owner.space, ledger.owner.pid, "1")
        await ledger._submit_work(lambda c: c.execute("UPDATE holds SET owner = ?", (str(gone),)).rowcount)
    async with open_ledger(tmp_path) as ledger:
        assert (ledger.recovery_counts.dead_count, ledger.recovery_counts.charged_nanousd) == (
            1,
            BOUND.nanousd,
        )
        assert "1 holds of dead processes" in caplog.text
        assert (await ledger.verify_balances()).settled_nanousd == BOUND.nanousd


async def test_a_live_hold_is_renewed_and_an_abandoned_one_charged(tmp_path: Path) -> None:
    async with open_ledger(tmp_path, hold_s=1) as ledger:
        hold = await require_hold(ledger)
        lost = await require_hold(ledger)
        del ledger._open_holds[lost.id]
        await wait_until(
            lambda: has_charges(ledger)
        )  # not before the younger one's first expiry, the other's too
        proof = await ledger.verify_balances()
        assert [row.id for row in proof.holds] == [hold.id]
        assert proof.settled_nanousd == BOUND.nanousd


async def has_charges(ledger: SqliteLedger) -> bool:
    return (await ledger.verify_balances()).settled_nanousd > 0


async def test_the_month_turns_while_money_is_held(tmp_path: Path) -> None:
    now = [MIDNIGHT - 1]
    async with open_ledger(tmp_path, covers=1, clock=lambda: now[0]) as ledger:
        old = await require_hold(ledger)
        await require_denial(ledger)
        now[0] = MIDNIGHT
        new = await require_hold(ledger)
        await require_denial(ledger)
        now[0] = MIDNIGHT - 3_600
        assert "2026-12" in (await require_denial(ledger)).detail
        await ledger.settle(old, make_spent(10, 20))
        assert "2026-12" in (await require_denial(ledger)).detail
        await ledger.settle(new, make_spent(0, 0))
        await require_hold(ledger)
        assert [(row.name, row.settled_nanousd) for row in await ledger.list_spend_totals("day")] == [
            ("2026-11-30", 13_500),
            ("2026-12-01", 0),
        ]
        assert (await ledger.verify_balances()).faults == ()


async def test_a_clock_that_had_run_ahead_is_put_right_by_hand_and_noted(tmp_path: Path) -> None:
    now = [MIDNIGHT + 400 * 86_400]
    async with open_ledger(tmp_path, covers=1, clock=lambda: now[0]) as ledger:
        await require_hold(ledger)
        now[0] = MIDNIGHT
        assert "2028-01" in (await require_denial(ledger)).detail
        assert (await ledger.rewind_period("a dead battery", operator="op")).day == "2026-12-01"
        await require_hold(ledger)
        assert "2026-12" in (await require_denial(ledger)).detail
        assert [(act.act, act.reason) for act in await ledger.list_operator_acts()] == [
            ("rewind", "a dead battery")
        ]
        assert (await ledger.verify_balances()).faults == ()
