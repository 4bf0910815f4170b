"""The ledger under several processes, kill −9 and a full disk."""

import asyncio
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from proxy.domain.types import Decision
from proxy.ledger.periods import DeploymentCaps
from proxy.ledger.sqlite import SqliteLedger
from tests.fire.conftest import Scale
from tests.fire.ledger_worker import BOUND, COVERS, PRICES
from tests.proxy.ledger.ledger_builders import ALICE, make_spent, open_ledger, require_denial, require_hold
from tests.waiting import wait_until

PROCESSES = 4
Process = asyncio.subprocess.Process


async def start_worker(*arguments: str) -> Process:
    pipe = subprocess.PIPE
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.fire.ledger_worker", *arguments, stdin=pipe, stdout=pipe
    )


@pytest.fixture
async def crowd() -> AsyncIterator[list[Process]]:
    workers = [await start_worker("crowd") for _ in range(PROCESSES)]
    yield workers
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.close()
        assert await asyncio.wait_for(worker.wait(), 30) == 0


async def request_holds(worker: Process, line: str) -> int:
    assert worker.stdin is not None
    assert worker.stdout is not None
    worker.stdin.write(line.encode() + b"\n")
    return int(await asyncio.wait_for(worker.stdout.readline(), 60))


async def test_two_hundred_over_four_processes_on_a_cap_for_37_get_37(
    tmp_path: Path, crowd: list[Process], scale: Scale
) -> None:
    for number in range(scale(2, 20)):
        path = tmp_path / f"{number}.db"
        counts = await asyncio.gather(*(request_holds(worker, str(path)) for worker in crowd))
        assert sum(counts) == COVERS, counts
        async with SqliteLedger(path, DeploymentCaps()) as ledger:
            proof = await ledger.verify_balances()
            assert (proof.held_nanousd, proof.faults) == (COVERS * BOUND.nanousd, ())
        for worker in crowd:
            assert worker.stdin is not None
            worker.stdin.write(b"\n")


async def run_killed_worker(path: Path, chance: random.Random) -> int:
    """One life of a worker, ended at a random moment: at a failpoint, or from outside."""
    point = chance.choice(["before", "after", "outside"])
    worker = await start_worker("stream", str(path), point, str(chance.randint(1, 60)))
    assert worker.stdout is not None
    line = await worker.stdout.readline()
    if point == "outside" and line:
        await asyncio.sleep(chance.uniform(0, 0.3))
        worker.kill()
    return await asyncio.wait_for(worker.wait(), 30)


async def test_a_killed_process_loses_no_hold_and_counts_none_twice(tmp_path: Path, scale: Scale) -> None:
    path, chance = tmp_path / "ledger.db", random.Random(6)
    for _ in range(scale(6, 50)):
        assert await run_killed_worker(path, chance) == -signal.SIGKILL
        async with SqliteLedger(path, DeploymentCaps()) as ledger:
            proof = await ledger.verify_balances()
            assert (proof.faults, proof.holds) == ((), ())
            assert await find_unpaid_holds(ledger, path.with_name("ledger.db.streams")) == {}


async def find_unpaid_holds(ledger: SqliteLedger, streams: Path) -> dict[str, int]:
    """Holds whose cost in the books, booked exactly once, is below what their upstream has streamed."""
    rows = await ledger._submit_work(
        lambda c: c.execute("SELECT hold, count(*), sum(nanousd) FROM entries GROUP BY hold").fetchall()
    )
    booked = {hold: cost if times == 1 else -1 for hold, times, cost in rows}
    return {
        hold: cost for hold, cost in compute_streamed_costs(streams).items() if booked.get(hold, -1) < cost
    }


def compute_streamed_costs(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_size * PRICES.output_nanousd for path in folder.iterdir()}


async def test_the_living_charge_what_the_dead_leave_without_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    async with SqliteLedger(path, DeploymentCaps(), hold_s=0.6) as ledger:
        worker = await start_worker("stream", str(path), "after", "9")
        assert await asyncio.wait_for(worker.wait(), 30) == -signal.SIGKILL

        async def has_no_holds() -> bool:
            return not (await ledger.verify_balances()).holds

        await wait_until(has_no_holds)
        assert (await ledger.verify_balances()).faults == ()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 MB of its own; needs the right to mount one."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = shutil.which("mount")
    tried = mount and subprocess.run([mount, "-t", "tmpfs", "-o", "size=1m", "none", str(place)], check=False)
    if not tried or tried.returncode:
        pytest.skip("no right to mount a file system")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def fill_disk(folder: Path) -> Path:
    """Uses every byte that is left."""
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file:
        for size in (65_536, 4_096, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                continue
    return filler


async def test_a_full_disk_denies_and_loses_no_settlement(small_disk: Path) -> None:
    async with open_ledger(small_disk, covers=10_000, retry_s=0.05) as ledger:
        holds = [await require_hold(ledger) for _ in range(20)]
        filler = fill_disk(small_disk)
        decision = None
        while decision is not Decision.LEDGER_DOWN:
            # The log of the store still has room for a few.
            answer = await ledger.reserve(ALICE, "m", BOUND, PRICES)
            decision = getattr(answer, "decision", None)
        for hold in holds:
            await ledger.settle(hold, make_spent(10, 20))
        assert (await require_denial(ledger)).decision is Decision.LEDGER_DOWN
        assert ledger.pending_count > 0
        assert not await ledger.probe_write()
        filler.unlink()
        await wait_until(lambda: ledger.pending_count == 0)
        proof = await ledger.verify_balances()
        assert (proof.settled_nanousd, proof.faults) == (20 * 13_500, ())
        await require_hold(ledger)


async def test_a_ledger_on_a_read_only_disk_does_not_start(small_disk: Path) -> None:
    async with open_ledger(small_disk):
        pass
    await asyncio.to_thread(subprocess.run, ["mount", "-o", "remount,ro", str(small_disk)], check=True)
    async with AsyncExitStack() as stack:
        with pytest.raises(Exception, match="cannot be opened"):
            await stack.enter_async_context(open_ledger(small_disk))


async def test_processes_that_open_one_new_file_at_once_all_get_it(
    tmp_path: Path, crowd: list[Process]
) -> None:
    began = time.monotonic()
    counts = await asyncio.gather(*(request_holds(worker, str(tmp_path / "new.db")) for worker in crowd))
    assert sum(counts) == COVERS
    assert time.monotonic() - began < 30
    for worker in crowd:
        assert worker.stdin is not None
        worker.stdin.write(b"\n")
