"""ledger.sqlite without its store: no call, a decided outcome, and nothing that was spent is lost."""

import json
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from proxy.domain.errors import ConfigError, StoreError
from proxy.domain.ports import Hold
from proxy.domain.types import Decision
from proxy.ledger.periods import DeploymentCaps, SpendCap, build_caps
from proxy.ledger.sqlite import SqliteLedger
from proxy.settings import tree
from tests.proxy.ledger.ledger_builders import (
    ALICE,
    BOUND,
    PRICES,
    make_spent,
    open_ledger,
    require_denial,
    require_hold,
    run_pragma,
)
from tests.waiting import wait_until

Fault = Callable[[SqliteLedger, Path], None]


def delete_ledger(ledger: SqliteLedger, folder: Path) -> None:
    ledger.path.unlink()


def move_ledger(ledger: SqliteLedger, folder: Path) -> None:
    ledger.path.rename(folder / "elsewhere.db")


def swap_ledger(ledger: SqliteLedger, folder: Path) -> None:
    (folder / "other.db").write_bytes(ledger.path.read_bytes())
    (folder / "other.db").rename(ledger.path)


def list_spool_files(folder: Path) -> list[Path]:
    """The files of settlements that wait."""
    return list((folder / "ledger.db.spool").glob("*.jsonl"))


def damage_pages(path: Path) -> None:
    """Everything but the first page becomes noise."""
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(size - 4096))


@pytest.mark.parametrize("fault", [delete_ledger, move_ledger, swap_ledger])
async def test_a_store_that_is_taken_away_denies(tmp_path: Path, fault: Fault) -> None:
    async with open_ledger(tmp_path) as ledger:
        await require_hold(ledger)
        fault(ledger, tmp_path)
        denial = await require_denial(ledger)
        assert denial.decision is Decision.LEDGER_DOWN
        assert ledger.fault == denial.detail
        assert not await ledger.probe_write()


async def test_a_store_that_comes_back_serves_again_and_has_lost_nothing(tmp_path: Path) -> None:
    async with open_ledger(tmp_path, retry_s=0.02) as ledger:
        hold = await require_hold(ledger)
        move_ledger(ledger, tmp_path)
        assert (await ledger.settle(hold, make_spent(10, 20))).nanousd == 13_500
        assert ledger.pending_count == 1
        (tmp_path / "elsewhere.db").rename(ledger.path)
        await wait_until(lambda: ledger.pending_count == 0)
        assert await ledger.probe_write()
        proof = await ledger.verify_balances()
        assert (proof.settled_nanousd, proof.held_nanousd, proof.faults) == (13_500, 0, ())


async def test_a_store_taken_away_between_the_write_and_its_answer_denies(tmp_path: Path) -> None:
    gone: list[str] = []

    def delete_before_commit(point: str) -> None:
        if gone == ["now"] and point == "before":
            (tmp_path / "ledger.db").unlink()
            gone.append("done")

    async with open_ledger(tmp_path, failpoint=delete_before_commit) as ledger:
        await require_hold(ledger)
        gone.append("now")
        assert (await require_denial(ledger)).decision is Decision.LEDGER_DOWN


@pytest.mark.parametrize("fault", [RuntimeError("odd"), MemoryError(), KeyError("odd"), OSError("odd")])
@pytest.mark.parametrize("where", ["before", "after"])
async def test_whatever_goes_wrong_on_the_way_to_a_hold_denies_it(
    tmp_path: Path, fault: Exception, where: str
) -> None:
    armed: list[str] = []

    def raise_fault(point: str) -> None:
        if point in armed:
            raise fault

    async with open_ledger(tmp_path, failpoint=raise_fault) as ledger:
        armed.append(where)
        assert (await require_denial(ledger)).decision is Decision.LEDGER_DOWN
        armed.clear()
        await require_hold(ledger)


@pytest.mark.parametrize("state", ["max_page_count = 1", "query_only = ON"], ids=["full", "read-only"])
async def test_a_store_that_cannot_grow_or_be_written_denies_and_keeps_what_is_settled(
    tmp_path: Path, state: str
) -> None:
    async with open_ledger(tmp_path, retry_s=0.02) as ledger:
        holds = [await require_hold(ledger) for _ in range(3)]
        await run_pragma(ledger, state)
        answers = [await ledger.reserve(ALICE, "m" * 5_000, BOUND, PRICES) for _ in range(3)]
        assert not any(isinstance(answer, Hold) for answer in answers)
        if state.startswith("query"):
            await ledger.settle(holds[0], make_spent(10, 20))
            assert ledger.pending_count == 1
            await wait_until(lambda: bool(list_spool_files(tmp_path)))
            [line] = list_spool_files(tmp_path)[0].read_text().splitlines()
            assert json.loads(line)[0] == holds[0].id
        await run_pragma(ledger, "query_only = OFF")
        await run_pragma(ledger, "max_page_count = 1000000")
        await wait_until(lambda: ledger.pending_count == 0 and not list_spool_files(tmp_path))
        await require_hold(ledger)
        assert (await ledger.verify_balances()).faults == ()


class StallingFailpoint:
    """A failpoint at which the store stands still, once, until it is let."""

    def __init__(self) -> None:
        self.is_armed = False
        self.go_ahead = threading.Event()

    def __call__(self, point: str) -> None:
        if point == "before" and self.is_armed:
            self.is_armed = False
            assert self.go_ahead.wait(60)


async def test_a_store_that_does_not_answer_denies_and_the_late_hold_is_given_back(tmp_path: Path) -> None:
    stuck = StallingFailpoint()
    async with open_ledger(tmp_path, busy_s=0.1, failpoint=stuck) as ledger:
        stuck.is_armed = True
        assert (await require_denial(ledger)).decision is Decision.LEDGER_DOWN
        stuck.go_ahead.set()
        await wait_until(lambda: has_no_holds(ledger))
        proof = await ledger.verify_balances()
        assert (proof.settled_nanousd, proof.faults) == (0, ())
        assert [row.requests for row in await ledger.list_spend_totals("key")] == [1]


async def test_a_settlement_does_not_wait_for_a_store_that_does_not_answer_and_is_booked_once(
    tmp_path: Path,
) -> None:
    stuck = StallingFailpoint()
    async with open_ledger(tmp_path, busy_s=0.1, retry_s=0.05, failpoint=stuck) as ledger:
        hold = await require_hold(ledger)
        stuck.is_armed = True
        assert (await ledger.settle(hold, make_spent(10, 20))).nanousd == 13_500
        stuck.go_ahead.set()
        await wait_until(lambda: ledger.pending_count == 0)
        proof = await ledger.verify_balances()
        assert (proof.holds, proof.settled_nanousd, proof.faults) == ((), 13_500, ())


async def has_no_holds(ledger: SqliteLedger) -> bool:
    return not (await ledger.verify_balances()).holds


async def test_a_file_that_is_no_ledger_does_not_open(tmp_path: Path) -> None:
    (tmp_path / "ledger.db").write_bytes(b"not a database, " * 1_000)
    with pytest.raises(StoreError, match="cannot be opened") as caught:
        async with open_ledger(tmp_path):
            pass
    assert "ledger.db" in caught.value.detail


async def test_a_ledger_of_another_version_does_not_open_and_says_why(tmp_path: Path) -> None:
    async with open_ledger(tmp_path) as ledger:
        await run_pragma(ledger, "user_version = 99")
    with pytest.raises(StoreError) as caught:
        async with open_ledger(tmp_path):
            pass
    assert "layout 99" in caught.value.detail


async def test_a_ledger_whose_pages_are_damaged_denies_or_does_not_open(tmp_path: Path) -> None:
    async with open_ledger(tmp_path) as ledger:
        for _ in range(200):
            await require_hold(ledger)
    damage_pages(ledger.path)
    with pytest.raises(StoreError) as caught:
        async with open_ledger(tmp_path) as ledger:
            raise StoreError("", detail=(await require_denial(ledger)).detail)
    assert "malformed" in caught.value.detail


def test_caps_come_from_the_settings_in_nano_dollars_and_a_wrong_zone_is_named() -> None:
    settings = tree.LedgerSettings(
        usd_month=1.5, usd_day=0.1, groups={"staff": tree.GroupCapSettings(usd_day=0)}
    )
    assert build_caps(settings) == DeploymentCaps(
        SpendCap(1_500_000_000, 100_000_000), {"staff": SpendCap(None, 0)}
    )
    with pytest.raises(ConfigError, match="Europe/Berlim"):
        SqliteLedger(Path("unused"), DeploymentCaps(), time_zone="Europe/Berlim")
