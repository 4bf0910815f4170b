"""ledger.spool: what was settled without a store waits on disk, and is booked once."""

import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from proxy.domain.errors import StoreError
from proxy.domain.types import Decision
from proxy.ledger.spool import STALE_FILE_S
from tests.proxy.ledger.ledger_builders import (
    make_spent,
    open_ledger,
    require_denial,
    require_hold,
    run_pragma,
)


def has_file(path: Path) -> bool:
    return path.exists()


async def test_what_was_settled_without_a_store_survives_the_end_of_the_process(tmp_path: Path) -> None:
    async with open_ledger(tmp_path) as ledger:
        hold = await require_hold(ledger)
        await run_pragma(ledger, "query_only = ON")
        await ledger.settle(hold, make_spent(10, 20))
    async with open_ledger(tmp_path) as ledger:
        assert ledger.recovery_counts.spooled_count == 1
        proof = await ledger.verify_balances()
        assert (proof.settled_nanousd, proof.held_nanousd, proof.faults) == (13_500, 0, ())


async def test_what_was_kept_in_another_container_is_booked_and_its_file_goes_in_time(tmp_path: Path) -> None:
    async with open_ledger(tmp_path) as ledger:
        hold = await require_hold(ledger)
        await run_pragma(ledger, "query_only = ON")
        await ledger.settle(hold, make_spent(10, 20))
    [mine] = (tmp_path / "ledger.db.spool").iterdir()
    theirs = mine.rename(mine.with_name(f"{replace(ledger.owner, space='7')}.jsonl"))
    for age_s in (0, STALE_FILE_S + 1):
        os.utime(theirs, (time.time() - age_s,) * 2)
        async with open_ledger(tmp_path) as ledger:
            proof = await ledger.verify_balances()
            assert (proof.settled_nanousd, proof.faults) == (13_500, ())
            assert has_file(theirs) == (age_s == 0)


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
    async with open_ledger(tmp_path) as ledger:
        hold = await require_hold(ledger)
        await run_pragma(ledger, "query_only = ON")
        await ledger.settle(hold, make_spent(10, 20))
    [spool] = (tmp_path / "ledger.db.spool").iterdir()
    spool.write_bytes(line.replace(b"HOLD", hold.id.encode()) + b"\n" + spool.read_bytes())
    async with open_ledger(tmp_path) as ledger:
        assert (ledger.recovery_counts.spooled_count, (await ledger.verify_balances()).settled_nanousd) == (
            1,
            13_500,
        )


async def test_kept_settlements_that_cannot_be_read_keep_the_ledger_closed_and_are_named(
    tmp_path: Path,
) -> None:
    """They are money: rather no call than one that forgets them."""
    folder = tmp_path / "ledger.db.spool" / "theirs.jsonl"
    folder.mkdir(parents=True)
    with pytest.raises(StoreError, match="cannot be opened") as caught:
        async with open_ledger(tmp_path):
            pass
    assert "theirs.jsonl" in caught.value.detail


async def test_a_closed_ledger_denies_and_still_keeps_what_is_settled(tmp_path: Path) -> None:
    async with open_ledger(tmp_path) as ledger:
        hold = await require_hold(ledger)
    assert (await require_denial(ledger)).decision is Decision.LEDGER_DOWN
    assert (await ledger.settle(hold, make_spent(10, 20))).nanousd == 13_500
    async with open_ledger(tmp_path) as ledger:
        assert (await ledger.verify_balances()).settled_nanousd == 13_500
