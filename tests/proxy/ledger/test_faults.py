"""ledger.sqlite without its store: no call, a decided outcome, and nothing that was spent is lost."""

import json
import os
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from proxy.errors import ConfigError, StoreError
from proxy.ledger.owner import Owner
from proxy.ledger.periods import Cap, Caps, caps
from proxy.ledger.spool import OLD_S
from proxy.ledger.sqlite import SqliteLedger
from proxy.services import Hold
from proxy.settings import tree
from proxy.types import Decision
from tests.proxy.ledger.books import ALICE, BOUND, PRICES, denied, held, opened, used
from tests.waiting import until

MIDNIGHT = 1_796_083_200.0
"""2026-12-01 00:00 UTC."""
Fault = Callable[[SqliteLedger, Path], None]


def delete(ledger: SqliteLedger, folder: Path) -> None:
    ledger.path.unlink()


def move(ledger: SqliteLedger, folder: Path) -> None:
    ledger.path.rename(folder / "elsewhere.db")


def swap(ledger: SqliteLedger, folder: Path) -> None:
    (folder / "other.db").write_bytes(ledger.path.read_bytes())
    (folder / "other.db").rename(ledger.path)


def exists(path: Path) -> bool:
    return path.exists()


def kept(folder: Path) -> list[Path]:
    """The files of settlements that wait."""
    return list((folder / "ledger.db.spool").glob("*.jsonl"))


def damage(path: Path) -> None:
    """Everything but the first page becomes noise."""
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(size - 4096))


async def say(ledger: SqliteLedger, pragma: str) -> None:
    """Brings the ledger's own connection into a state that a disk would."""
    connection = ledger._db._connection
    assert connection is not None
    await connection.execute(f"PRAGMA {pragma}")


@pytest.mark.parametrize("fault", [delete, move, swap])
async def test_a_store_that_is_taken_away_denies(tmp_path: Path, fault: Fault) -> None:
    async with opened(tmp_path) as ledger:
        await held(ledger)
        fault(ledger, tmp_path)
        denial = await denied(ledger)
        assert denial.decision is Decision.LEDGER_DOWN
        assert ledger.fault == denial.detail
        assert not await ledger.ready()


async def test_a_store_that_comes_back_serves_again_and_has_lost_nothing(tmp_path: Path) -> None:
    async with opened(tmp_path, retry_s=0.02) as ledger:
        hold = await held(ledger)
        move(ledger, tmp_path)
        assert (await ledger.settle(hold, used(10, 20))).nanousd == 13_500
        assert ledger.waiting == 1
        (tmp_path / "elsewhere.db").rename(ledger.path)
        await until(lambda: ledger.waiting == 0)
        assert await ledger.ready()
        proof = await ledger.verify()
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
            assert ledger.waiting == 1
            await until(lambda: bool(kept(tmp_path)))
            [line] = kept(tmp_path)[0].read_text().splitlines()
            assert json.loads(line)[0] == holds[0].id
        await say(ledger, "query_only = OFF")
        await say(ledger, "max_page_count = 1000000")
        await until(lambda: ledger.waiting == 0 and not kept(tmp_path))
        await held(ledger)
        assert (await ledger.verify()).faults == ()


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
        proof = await ledger.verify()
        assert (proof.settled_nanousd, proof.faults) == (0, ())
        assert [row.requests for row in await ledger.spend("key")] == [1]


async def test_a_settlement_does_not_wait_for_a_store_that_does_not_answer_and_is_booked_once(
    tmp_path: Path,
) -> None:
    stuck = Stuck()
    async with opened(tmp_path, busy_s=0.1, retry_s=0.05, failpoint=stuck) as ledger:
        hold = await held(ledger)
        stuck.next = True
        assert (await ledger.settle(hold, used(10, 20))).nanousd == 13_500
        stuck.let.set()
        await until(lambda: ledger.waiting == 0)
        proof = await ledger.verify()
        assert (proof.holds, proof.settled_nanousd, proof.faults) == ((), 13_500, ())


async def none_open(ledger: SqliteLedger) -> bool:
    return not (await ledger.verify()).holds


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


async def test_what_was_settled_without_a_store_survives_the_end_of_the_process(tmp_path: Path) -> None:
    async with opened(tmp_path) as ledger:
        hold = await held(ledger)
        await say(ledger, "query_only = ON")
        await ledger.settle(hold, used(10, 20))
    async with opened(tmp_path) as ledger:
        assert ledger.recovered.kept == 1
        proof = await ledger.verify()
        assert (proof.settled_nanousd, proof.held_nanousd, proof.faults) == (13_500, 0, ())


async def test_what_was_kept_in_another_container_is_booked_and_its_file_goes_in_time(tmp_path: Path) -> None:
    async with opened(tmp_path) as ledger:
        hold = await held(ledger)
        await say(ledger, "query_only = ON")
        await ledger.settle(hold, used(10, 20))
    [mine] = (tmp_path / "ledger.db.spool").iterdir()
    theirs = mine.rename(mine.with_name(f"{replace(ledger.owner, space='7')}.jsonl"))
    for age_s in (0, OLD_S + 1):
        os.utime(theirs, (time.time() - age_s,) * 2)
        async with opened(tmp_path) as ledger:
            proof = await ledger.verify()
            assert (proof.settled_nanousd, proof.faults) == (13_500, ())
            assert exists(theirs) == (age_s == 0)


ODD = [
    b'["half", "reported", 12',
    b"\xff\xfe\x00 not even text",
    b"[" * 100_000,
    b"{}",
    b'["h", "reported", 1e999, 1, 1, 1]',
    b'["h", "reported", NaN, 1, 1, 1]',
    b'["h", "reported", 1, 1e999, 1, 1]',
    b'["HOLD", "reported", 1, 1, 1, -5]',
    b'["HOLD", "reported", 1, 1, 1, 99999999999999999999]',
    b'["HOLD", "reported", 1, 1, 1]',
]


@pytest.mark.parametrize("line", ODD, ids=range(len(ODD)))
async def test_a_line_of_the_kept_settlements_that_is_none_is_skipped(tmp_path: Path, line: bytes) -> None:
    async with opened(tmp_path) as ledger:
        hold = await held(ledger)
        await say(ledger, "query_only = ON")
        await ledger.settle(hold, used(10, 20))
    [spool] = (tmp_path / "ledger.db.spool").iterdir()
    spool.write_bytes(line.replace(b"HOLD", hold.id.encode()) + b"\n" + spool.read_bytes())
    async with opened(tmp_path) as ledger:
        assert (ledger.recovered.kept, (await ledger.verify()).settled_nanousd) == (1, 13_500)


async def test_kept_settlements_that_cannot_be_read_keep_the_ledger_closed_and_are_named(
    tmp_path: Path,
) -> None:
    """They are money: rather no call than one that forgets them."""
    folder = tmp_path / "ledger.db.spool" / "theirs.jsonl"
    folder.mkdir(parents=True)
    with pytest.raises(StoreError, match="cannot be opened") as caught:
        async with opened(tmp_path):
            pass
    assert "theirs.jsonl" in caught.value.detail


async def test_the_holds_of_a_dead_process_are_charged_at_the_start_and_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with opened(tmp_path) as ledger:
        await held(ledger)
        gone = Owner(ledger.owner.boot, ledger.owner.space, ledger.owner.pid, "1")
        await ledger._submit(lambda c: c.execute("UPDATE holds SET owner = ?", (str(gone),)).rowcount)
    async with opened(tmp_path) as ledger:
        assert (ledger.recovered.dead, ledger.recovered.nanousd) == (1, BOUND.nanousd)
        assert "1 holds of dead processes" in caplog.text
        assert (await ledger.verify()).settled_nanousd == BOUND.nanousd


async def test_a_live_hold_is_renewed_and_an_abandoned_one_charged(tmp_path: Path) -> None:
    async with opened(tmp_path, hold_s=1) as ledger:
        hold = await held(ledger)
        lost = await held(ledger)
        del ledger._open[lost.id]
        await until(lambda: charged(ledger))  # not before the younger one's first expiry, the other's too
        proof = await ledger.verify()
        assert [row.id for row in proof.holds] == [hold.id]
        assert proof.settled_nanousd == BOUND.nanousd


async def charged(ledger: SqliteLedger) -> bool:
    return (await ledger.verify()).settled_nanousd > 0


async def test_the_month_turns_while_money_is_held(tmp_path: Path) -> None:
    now = [MIDNIGHT - 1]
    async with opened(tmp_path, covers=1, clock=lambda: now[0]) as ledger:
        old = await held(ledger)
        await denied(ledger)
        now[0] = MIDNIGHT
        new = await held(ledger)
        await denied(ledger)
        now[0] = MIDNIGHT - 3_600
        assert "2026-12" in (await denied(ledger)).detail
        await ledger.settle(old, used(10, 20))
        assert "2026-12" in (await denied(ledger)).detail
        await ledger.settle(new, used(0, 0))
        await held(ledger)
        assert [(row.name, row.settled_nanousd) for row in await ledger.spend("day")] == [
            ("2026-11-30", 13_500),
            ("2026-12-01", 0),
        ]
        assert (await ledger.verify()).faults == ()


async def test_a_clock_that_had_run_ahead_is_put_right_by_hand_and_noted(tmp_path: Path) -> None:
    now = [MIDNIGHT + 400 * 86_400]
    async with opened(tmp_path, covers=1, clock=lambda: now[0]) as ledger:
        await held(ledger)
        now[0] = MIDNIGHT
        assert "2028-01" in (await denied(ledger)).detail
        assert (await ledger.rewind("a dead battery", by="op")).day == "2026-12-01"
        await held(ledger)
        assert "2026-12" in (await denied(ledger)).detail
        assert [(act.act, act.reason) for act in await ledger.acts()] == [("rewind", "a dead battery")]
        assert (await ledger.verify()).faults == ()


async def test_a_closed_ledger_denies_and_still_keeps_what_is_settled(tmp_path: Path) -> None:
    async with opened(tmp_path) as ledger:
        hold = await held(ledger)
    assert (await denied(ledger)).decision is Decision.LEDGER_DOWN
    assert (await ledger.settle(hold, used(10, 20))).nanousd == 13_500
    async with opened(tmp_path) as ledger:
        assert (await ledger.verify()).settled_nanousd == 13_500


def test_caps_come_from_the_settings_in_nano_dollars_and_a_wrong_zone_is_named() -> None:
    settings = tree.Ledger(usd_month=1.5, usd_day=0.1, groups={"staff": tree.GroupCap(usd_day=0)})
    assert caps(settings) == Caps(Cap(1_500_000_000, 100_000_000), {"staff": Cap(None, 0)})
    with pytest.raises(ConfigError, match="Europe/Berlim"):
        SqliteLedger(Path("unused"), Caps(), time_zone="Europe/Berlim")
