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
from tests.proxy.ledger.books import ALICE, BOUND, PRICES, denied, held, opened, say, used
from tests.waiting import until

Fault = Callable[[SqliteLedger, Path], None]


def delete(ledger: SqliteLedger, folder: Path) -> None:
    ledger.path.unlink()


def move(ledger: SqliteLedger, folder: Path) -> None:
    ledger.path.rename(folder / "elsewhere.db")


def swap(ledger: SqliteLedger, folder: Path) -> None:
    (folder / "other.db").write_bytes(ledger.path.read_bytes())
    (folder / "other.db").rename(ledger.path)


def kept(folder: Path) -> list[Path]:
    """The files of settlements that wait."""
    return list((folder / "ledger.db.spool").glob("*.jsonl"))


def damage(path: Path) -> None:
    """Everything but the first page becomes noise."""
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(size - 4096))


@pytest.mark.parametrize("fault", [delete, move, swap])
async def test_a_store_that_is_taken_away_denies(tmp_path: Path, fault: Fault) -> None:
    async with opened(tmp_path) as ledger:
        await held(ledger)
        fault(ledger, tmp_path)
        denial = await denied(ledger)
        assert denial.decision is Decision.LEDGER_DOWN
        assert ledger.fault == denial.detail
        assert not await ledger.probe_write()


async def test_a_store_that_comes_back_serves_again_and_has_lost_nothing(tmp_path: Path) -> None:
    async with opened(tmp_path, retry_s=0.02) as ledger:
        hold = await held(ledger)
        move(ledger, tmp_path)
        assert (await ledger.settle(hold, used(10, 20))).nanousd == 13_500
        assert ledger.pending_count == 1
        (tmp_path / "elsewhere.db").rename(ledger.path)
        await until(lambda: ledger.pending_count == 0)
        assert await ledger.probe_write()
        proof = await ledger.verify_balances()
        assert (proof.settled_nanousd, proof.held_nanousd, proof.faults) == (13_500, 0, ())


async def test_a_store_taken_away_between_the_write_and_its_answer_denies(tmp_path: Path) -> None:
    gone: list[str] = []

    def failpoint(point: str) -> None:
        if gone == ["now"] and point == "before":
            (tmp_path / "ledger.db").unlink()
            gone.append("done")

    async with opened(tmp_path, failpoint=failpoint) as ledger:
        await held(ledger)
        gone.append("now")
        assert (await denied(ledger)).decision is Decision.LEDGER_DOWN


@pytest.mark.parametrize("fault", [RuntimeError("odd"), MemoryError(), KeyError("odd"), OSError("odd")])
@pytest.mark.parametrize("where", ["before", "after"])
async def test_whatever_goes_wrong_on_the_way_to_a_hold_denies_it(
    tmp_path: Path, fault: Exception, where: str
) -> None:
    armed: list[str] = []

    def failpoint(point: str) -> None:
        if point in armed:
            raise fault

    async with opened(tmp_path, failpoint=failpoint) as ledger:
        armed.append(where)
        assert (await denied(ledger)).decision is Decision.LEDGER_DOWN
        armed.clear()
        await held(ledger)


@pytest.mark.parametrize("state", ["max_page_count = 1", "query_only = ON"], ids=["full", "read-only"])
async def test_a_store_that_cannot_grow_or_be_written_denies_and_keeps_what_is_settled(
    tmp_path: Path, state: str
) -> None:
    async with opened(tmp_path, retry_s=0.02) as ledger:
        holds = [await held(ledger) for _ in range(3)]
        await say(ledger, state)
        answers = [await ledger.reserve(ALICE, "m" * 5_000, BOUND, PRICES) for _ in range(3)]
        assert not any(isinstance(answer, Hold) for answer in answers)
        if state.startswith("query"):
            await ledger.settle(holds[0], used(10, 20))
            assert ledger.pending_count == 1
            await until(lambda: bool(kept(tmp_path)))
            [line] = kept(tmp_path)[0].read_text().splitlines()
            assert json.loads(line)[0] == holds[0].id
        await say(ledger, "query_only = OFF")
        await say(ledger, "max_page_count = 1000000")
        await until(lambda: ledger.pending_count == 0 and not kept(tmp_path))
        await held(ledger)
        assert (await ledger.verify_balances()).faults == ()


class Stuck:
    """A failpoint at which the store stands still, once, until it is let."""

    def __init__(self) -> None:
        self.next = False
        self.let = threading.Event()

    def __call__(self, point: str) -> None:
        if point == "before" and self.next:
            self.next = False
            assert self.let.wait(60)


async def test_a_store_that_does_not_answer_denies_and_the_late_hold_is_given_back(tmp_path: Path) -> None:
    stuck = Stuck()
    async with opened(tmp_path, busy_s=0.1, failpoint=stuck) as ledger:
        stuck.next = True
        assert (await denied(ledger)).decision is Decision.LEDGER_DOWN
        stuck.let.set()
        await until(lambda: none_open(ledger))
        proof = await ledger.verify_balances()
        assert (proof.settled_nanousd, proof.faults) == (0, ())
        assert [row.requests for row in await ledger.list_spend_totals("key")] == [1]


async def test_a_settlement_does_not_wait_for_a_store_that_does_not_answer_and_is_booked_once(
    tmp_path: Path,
) -> None:
    stuck = Stuck()
    async with opened(tmp_path, busy_s=0.1, retry_s=0.05, failpoint=stuck) as ledger:
        hold = await held(ledger)
        stuck.next = True
        assert (await ledger.settle(hold, used(10, 20))).nanousd == 13_500
        stuck.let.set()
        await until(lambda: ledger.pending_count == 0)
        proof = await ledger.verify_balances()
        assert (proof.holds, proof.settled_nanousd, proof.faults) == ((), 13_500, ())


async def none_open(ledger: SqliteLedger) -> bool:
    return not (await ledger.verify_balances()).holds


async def test_a_file_that_is_no_ledger_does_not_open(tmp_path: Path) -> None:
    (tmp_path / "ledger.db").write_bytes(b"not a database, " * 1_000)
    with pytest.raises(StoreError, match="cannot be opened") as caught:
        async with opened(tmp_path):
            pass
    assert "ledger.db" in caught.value.detail


async def test_a_ledger_of_another_version_does_not_open_and_says_why(tmp_path: Path) -> None:
    async with opened(tmp_path) as ledger:
        await say(ledger, "user_version = 99")
    with pytest.raises(StoreError) as caught:
        async with opened(tmp_path):
            pass
    assert "layout 99" in caught.value.detail


async def test_a_ledger_whose_pages_are_damaged_denies_or_does_not_open(tmp_path: Path) -> None:
    async with opened(tmp_path) as ledger:
        for _ in range(200):
            await held(ledger)
    damage(ledger.path)
    with pytest.raises(StoreError) as caught:
        async with opened(tmp_path) as ledger:
            raise StoreError("", detail=(await denied(ledger)).detail)
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
