"""`python -m bench ledger`: reserve + settle pairs a second, durable, beside one plain commit an operation.

Both run in one process in turns, over fresh files in one folder. "plain commits" is what a ledger without
group commit does: each reserve and each settle its own transaction, statement by statement by aiosqlite.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import aiosqlite
import uvloop

from bench.resources import read_own_cpu_s
from proxy.domain.ports import CostBound, Hold, Prices, Spent
from proxy.domain.types import Caller, Usage
from proxy.ledger.periods import DeploymentCaps, SpendCap
from proxy.ledger.sqlite import SqliteLedger

PairOperation = Callable[[], Awaitable[None]]
PRICES = Prices(150, 600)
BOUND = CostBound(2_000, 800, 780_000)
"""2,000 tokens in and 800 out, at `PRICES`."""
USAGE = Usage(1_000, 200)
USAGE_NANOUSD = 270_000
"""What `USAGE` costs at `PRICES`."""
CALLER = Caller("k1", "bench", frozenset({"public"}))
PLAIN_SCHEMA = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
CREATE TABLE balance (one INTEGER PRIMARY KEY, settled INTEGER, held INTEGER, cap INTEGER);
CREATE TABLE holds (id INTEGER PRIMARY KEY, amount INTEGER);
INSERT INTO balance VALUES (1, 0, 0, 1000000000000000);
"""


@dataclass(frozen=True, slots=True)
class LedgerFigure:
    """One run: pairs a second, milliseconds a pair, microseconds of CPU a pair."""

    pairs_s: float
    p50_ms: float
    p99_ms: float
    cpu_us: float


def run(arguments: list[str]) -> int:
    """Prints one table in Markdown; exit 0."""
    parser = argparse.ArgumentParser(prog="python -m bench ledger", description=__doc__)
    parser.add_argument("--seconds", type=float, default=3, help="of each cell and round")
    parser.add_argument("--rounds", type=int, default=3, help="of which the median is shown")
    parser.add_argument(
        "--folder", type=Path, default=None, help="on the disk to measure; default: the temporary one"
    )
    options = parser.parse_args(arguments)
    print("| what | at once | pairs/s | × plain | p50 ms | p99 ms | CPU µs/pair |")
    print("|---|---|---|---|---|---|---|")
    for tasks in (1, 64):
        rounds = [
            uvloop.run(_measure_round(tasks, options.seconds, options.folder)) for _ in range(options.rounds)
        ]
        plain, ours = (_choose_median(figures) for figures in zip(*rounds, strict=True))
        for name, figure in (("plain commits", plain), ("ledger", ours)):
            print(
                f"| {name} | {tasks} | {figure.pairs_s:.0f} | {figure.pairs_s / plain.pairs_s:.2f} "
                f"| {figure.p50_ms:.2f} | {figure.p99_ms:.2f} | {figure.cpu_us:.0f} |"
            )
    return 0


async def _measure_round(
    tasks: int, seconds: float, folder: Path | None
) -> tuple[LedgerFigure, LedgerFigure]:
    """Plain commits and the ledger, one after the other, so that they meet the same neighbours."""
    with tempfile.TemporaryDirectory(dir=folder) as home:
        return (
            await _measure_plain_commits(Path(home) / "plain.db", tasks, seconds),
            await _measure_ledger(Path(home) / "ledger.db", tasks, seconds),
        )


async def _measure_ledger(path: Path, tasks: int, seconds: float) -> LedgerFigure:
    async with SqliteLedger(path, DeploymentCaps(SpendCap(month_nanousd=10**17))) as ledger:

        async def reserve_and_settle() -> None:
            hold = await ledger.reserve(CALLER, "m", BOUND, PRICES)
            assert isinstance(hold, Hold), hold
            await ledger.settle(hold, Spent(USAGE, received_bytes=900))

        figure = await _measure_pairs(reserve_and_settle, tasks, seconds)
        assert (await ledger.verify_balances()).faults == ()
        return figure


async def _measure_plain_commits(path: Path, tasks: int, seconds: float) -> LedgerFigure:
    async with aiosqlite.connect(path, isolation_level=None) as connection:
        await connection.executescript(PLAIN_SCHEMA)
        lock = asyncio.Lock()

        async def commit_statements(*statements: tuple[str, tuple[int, ...]]) -> None:
            async with lock:
                await connection.execute("BEGIN IMMEDIATE")
                for statement, values in statements:
                    await connection.execute(statement, values)
                await connection.execute("COMMIT")

        numbers = iter(range(10**12))

        async def commit_pair() -> None:
            number = next(numbers)
            await commit_statements(
                ("UPDATE balance SET held = held + ?1 WHERE settled + held + ?1 <= cap", (BOUND.nanousd,)),
                ("INSERT INTO holds VALUES (?, ?)", (number, BOUND.nanousd)),
            )
            await commit_statements(
                ("DELETE FROM holds WHERE id = ?", (number,)),
                ("UPDATE balance SET held = held - ?, settled = settled + ?", (BOUND.nanousd, USAGE_NANOUSD)),
            )

        return await _measure_pairs(commit_pair, tasks, seconds)


async def _measure_pairs(run_pair: PairOperation, tasks: int, seconds: float) -> LedgerFigure:
    """Runs `run_pair` over and over in `tasks` tasks at once, for `seconds`."""
    spans_s: list[float] = []
    began, cpu_before_s = time.perf_counter(), read_own_cpu_s()

    async def repeat_pair() -> None:
        while (start := time.perf_counter()) < began + seconds:
            await run_pair()
            spans_s.append(time.perf_counter() - start)

    await asyncio.gather(*(repeat_pair() for _ in range(tasks)))
    took_s, used_s = time.perf_counter() - began, read_own_cpu_s() - cpu_before_s
    percentiles = statistics.quantiles(spans_s, n=100)
    return LedgerFigure(
        pairs_s=len(spans_s) / took_s,
        p50_ms=percentiles[49] * 1e3,
        p99_ms=percentiles[98] * 1e3,
        cpu_us=used_s / len(spans_s) * 1e6,
    )


def _choose_median(figures: Sequence[LedgerFigure]) -> LedgerFigure:
    """The run of the middle rate, whole: its latencies belong to it."""
    return sorted(figures, key=lambda figure: figure.pairs_s)[len(figures) // 2]
