"""ledger.sqlite: a cap is a cap, and nothing that was spent is lost."""

import asyncio
from pathlib import Path

import pytest

from proxy.domain.ports import CostBound, Denial, Hold, Settled
from proxy.domain.types import Caller, Decision
from proxy.ledger.periods import DeploymentCaps, SpendCap
from proxy.ledger.transactions import Adjustment
from tests.proxy.ledger.ledger_builders import (
    ALICE,
    BOB,
    BOUND,
    PRICES,
    make_spent,
    open_ledger,
    require_denial,
    require_hold,
)


async def test_fifty_at_once_on_a_cap_for_seven_get_seven_holds(tmp_path: Path) -> None:
    async with open_ledger(tmp_path, covers=7) as ledger:
        answers = await asyncio.gather(*(ledger.reserve(ALICE, "m", BOUND, PRICES) for _ in range(50)))
        assert sum(isinstance(answer, Hold) for answer in answers) == 7
        assert (await ledger.verify_balances()).faults == ()


async def test_fifty_first_requests_of_unknown_callers_meet_the_same_cap(tmp_path: Path) -> None:
    async with open_ledger(tmp_path, covers=7) as ledger:
        callers = [Caller(f"new{n}", "new", frozenset()) for n in range(50)]
        answers = await asyncio.gather(*(ledger.reserve(who, "m", BOUND, PRICES) for who in callers))
        assert sum(isinstance(answer, Hold) for answer in answers) == 7


async def test_a_settlement_gives_back_what_was_not_used(tmp_path: Path) -> None:
    async with open_ledger(tmp_path, covers=1) as ledger:
        hold = await require_hold(ledger)
        assert await ledger.settle(hold, make_spent(10, 20)) == Settled(10, 20, 13_500)
        proof = await ledger.verify_balances()
        assert (proof.settled_nanousd, proof.held_nanousd, proof.faults) == (13_500, 0, ())
        denial = await require_denial(ledger)
        assert denial.decision is Decision.OVER_BUDGET


async def test_a_denial_says_what_is_settled_what_is_in_flight_and_what_was_asked(tmp_path: Path) -> None:
    async with open_ledger(tmp_path, covers=1.5) as ledger:
        await ledger.settle(await require_hold(ledger), make_spent(10, 20))
        await require_hold(ledger)
        detail = (await require_denial(ledger)).detail
        assert detail.startswith("deployment 20")
        assert (
            "cap 675000, settled 13500, held by requests in flight 450000, this request at most 450000"
            in detail
        )


@pytest.mark.parametrize(
    ("caps", "caller"),
    [
        (DeploymentCaps(SpendCap(day_nanousd=BOUND.nanousd)), ALICE),
        (DeploymentCaps(SpendCap(month_nanousd=BOUND.nanousd)), ALICE),
        (DeploymentCaps(groups={"staff": SpendCap(month_nanousd=BOUND.nanousd)}), ALICE),
        (DeploymentCaps(groups={"staff": SpendCap(day_nanousd=BOUND.nanousd)}), ALICE),
        (DeploymentCaps(), Caller("k3", "carol", frozenset(), cap_nanousd_month=BOUND.nanousd)),
        (DeploymentCaps(), Caller("k3", "carol", frozenset(), cap_nanousd_day=BOUND.nanousd)),
    ],
    ids=["day", "month", "group month", "group day", "key month", "key day"],
)
async def test_each_cap_binds_on_its_own(tmp_path: Path, caps: DeploymentCaps, caller: Caller) -> None:
    async with open_ledger(tmp_path, caps=caps) as ledger:
        await require_hold(ledger, caller)
        assert (await require_denial(ledger, caller)).decision is Decision.OVER_BUDGET


async def test_a_cap_of_one_key_or_group_does_not_touch_another(tmp_path: Path) -> None:
    async with open_ledger(
        tmp_path, caps=DeploymentCaps(groups={"staff": SpendCap(month_nanousd=BOUND.nanousd)})
    ) as ledger:
        await require_hold(ledger, ALICE)
        await require_hold(ledger, BOB)


async def test_a_denied_request_leaves_no_trace_in_any_balance(tmp_path: Path) -> None:
    caps = DeploymentCaps(SpendCap(month_nanousd=BOUND.nanousd * 9), {"staff": SpendCap(month_nanousd=0)})
    async with open_ledger(tmp_path, caps=caps) as ledger:
        await require_denial(ledger, ALICE)
        assert await ledger.list_spend_totals("key") == []
        assert (await ledger.verify_balances()).balances == 0


async def test_a_free_request_passes_a_used_up_cap(tmp_path: Path) -> None:
    async with open_ledger(tmp_path, covers=0) as ledger:
        assert isinstance(await ledger.reserve(ALICE, "m", CostBound(9, 9, 0), PRICES), Hold)


async def test_settling_twice_books_once(tmp_path: Path) -> None:
    async with open_ledger(tmp_path) as ledger:
        hold = await require_hold(ledger)
        await asyncio.gather(*(ledger.settle(hold, make_spent(10, 20)) for _ in range(5)))
        proof = await ledger.verify_balances()
        assert (proof.settled_nanousd, proof.faults) == (13_500, ())


async def test_usage_above_the_hold_is_booked_exactly_and_closes_the_model(tmp_path: Path) -> None:
    async with open_ledger(tmp_path) as ledger:
        settled = await ledger.settle(await require_hold(ledger), make_spent(10_000, 0))
        assert settled.nanousd == 1_500_000
        assert (await ledger.verify_balances()).settled_nanousd == 1_500_000
        assert "bound_exceeded" in (await require_denial(ledger)).detail
        await require_hold(ledger, model="another")
        assert not await ledger.reopen_model("another", "none", operator="op")
        assert await ledger.reopen_model("m", "the provider's bug", operator="op")
        await require_hold(ledger)
        assert [act.reason for act in await ledger.list_operator_acts()] == ["the provider's bug"]


async def test_an_adjustment_moves_the_balance_and_is_audited(tmp_path: Path) -> None:
    async with open_ledger(tmp_path, covers=1) as ledger:
        await ledger.settle(await require_hold(ledger), make_spent(1_000, 500))
        await require_denial(ledger)
        await ledger.adjust(Adjustment(-450_000, "a wrong price", key_id="k1"), operator="op")
        await require_hold(ledger)
        assert (await ledger.verify_balances()).faults == ()
        assert [(act.by, act.act, act.reason) for act in await ledger.list_operator_acts()] == [
            ("op", "adjust", "a wrong price")
        ]


async def test_spend_is_summed_by_key_model_and_day(tmp_path: Path) -> None:
    async with open_ledger(tmp_path, clock=lambda: 1_796_000_000.0) as ledger:
        await ledger.settle(await require_hold(ledger, ALICE, "a"), make_spent(10, 20))
        await ledger.settle(await require_hold(ledger, ALICE, "b"), make_spent(1, 2))
        await require_hold(ledger, BOB, "b")
        assert [
            (row.name, row.requests, row.settled_nanousd, row.held_nanousd)
            for row in await ledger.list_spend_totals("key")
        ] == [
            ("k1", 2, 14_850, 0),
            ("k2", 1, 0, 450_000),
        ]
        assert {row.name: row.input_tokens for row in await ledger.list_spend_totals("model")} == {
            "a": 10,
            "b": 1,
        }
        assert [row.name for row in await ledger.list_spend_totals("day")] == ["2026-11-30"]
        assert await ledger.list_spend_totals("day", "2026-12-01") == []
        assert [
            (row.model, row.basis, row.nanousd) for row in await ledger.list_invoice_lines("2026-11")
        ] == [
            ("a", "reported", 13_500),
            ("b", "reported", 1_350),
        ]


async def test_a_caller_who_leaves_while_waiting_leaves_no_hold(tmp_path: Path) -> None:
    async with open_ledger(tmp_path) as ledger:
        tasks = [asyncio.create_task(ledger.reserve(ALICE, "m", BOUND, PRICES)) for _ in range(20)]
        for number, task in enumerate(tasks):
            await asyncio.sleep(0.0005 * (number % 3))
            task.cancel()
        answers = await asyncio.gather(*tasks, return_exceptions=True)
        for answer in answers:
            if isinstance(answer, Hold):
                await ledger.settle(answer, make_spent(0, 0))
        await ledger.probe_write()
        await ledger.probe_write()
        proof = await ledger.verify_balances()
        assert (proof.holds, proof.faults) == ((), ())


async def test_a_settlement_outlives_the_task_that_asked_for_it(tmp_path: Path) -> None:
    async with open_ledger(tmp_path) as ledger:
        hold = await require_hold(ledger)
        task = asyncio.create_task(ledger.settle(hold, make_spent(10, 20)))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        proof = await ledger.verify_balances()
        assert (proof.settled_nanousd, proof.held_nanousd) == (13_500, 0)


async def test_a_ledger_says_whether_it_can_be_written(tmp_path: Path) -> None:
    async with open_ledger(tmp_path, covers=1) as ledger:
        assert await ledger.probe_write()
        await require_hold(ledger)
        assert await ledger.probe_write()
        assert (await require_denial(ledger)).decision is Decision.OVER_BUDGET
    assert not await ledger.probe_write()


async def test_a_request_waits_for_its_turn_but_not_for_ever(tmp_path: Path) -> None:
    async with open_ledger(tmp_path, busy_s=0.2) as ledger, open_ledger(tmp_path) as other:
        await other.probe_write()
        blocker = other._database._connection
        assert blocker is not None
        await blocker.execute("BEGIN IMMEDIATE")
        denial = await require_denial(ledger)
        assert denial.decision is Decision.LEDGER_DOWN
        assert not await ledger.probe_write()
        await blocker.execute("ROLLBACK")
        await require_hold(ledger)
        assert ledger.fault == ""
        assert isinstance(denial, Denial)
