"""A process that spends: run by the fault tests, which kill it.

python -m tests.fire.ledger_worker crowd
    for each ledger named on stdin: reserves 50 at once and prints how many holds it got
python -m tests.fire.ledger_worker stream PATH POINT COUNT
    reserves, streams and settles until it kills itself at the COUNTth `before` or `after` a commit;
    what each hold has streamed stands in PATH.streams/HOLD, one byte a token
"""

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from proxy.domain.ports import CostBound, Hold, Prices, Spent
from proxy.domain.types import Caller, Usage
from proxy.ledger.periods import DeploymentCaps, SpendCap
from proxy.ledger.sqlite import SqliteLedger

PRICES = Prices(1, 10)
BOUND = CostBound(1_000, 200, 3_000)
COVERS = 37
AT_ONCE = 50
STREAMS = 8
CALLER = Caller("k1", "worker", frozenset({"public"}))


async def reserve_at_once() -> None:
    """Reserves all at once; the holds stay until the next line comes, when every process has been heard."""
    while line := await asyncio.to_thread(sys.stdin.readline):
        caps = DeploymentCaps(SpendCap(month_nanousd=BOUND.nanousd * COVERS))
        async with SqliteLedger(Path(line.strip()), caps, busy_s=20) as ledger:
            reservations = (ledger.reserve(CALLER, "m", BOUND, PRICES) for _ in range(AT_ONCE))
            answers = await asyncio.gather(*reservations)
            print(sum(isinstance(answer, Hold) for answer in answers), flush=True)
            await asyncio.to_thread(sys.stdin.readline)


async def stream_until_killed(path: Path, failpoint: Callable[[str], None]) -> None:
    """Many streams at once, each a hold, some bytes and a settlement without reported usage."""
    folder = path.with_name(path.name + ".streams")
    folder.mkdir(exist_ok=True)
    async with SqliteLedger(path, DeploymentCaps(), hold_s=3, failpoint=failpoint) as ledger:
        print("ready", flush=True)
        await asyncio.gather(*(_spend_endlessly(ledger, folder) for _ in range(STREAMS)))


async def _spend_endlessly(ledger: SqliteLedger, folder: Path) -> None:
    while True:
        hold = await ledger.reserve(CALLER, "m", BOUND, PRICES)
        if not isinstance(hold, Hold):
            raise SystemExit(hold.detail)
        with (folder / hold.id).open("wb", buffering=0) as upstream:
            for _ in range(20):
                upstream.write(b"x" * 5)
                await asyncio.sleep(0.001)
        await ledger.settle(hold, Spent(Usage(0, None), 100))


def make_killer(point: str, count: int) -> Callable[[str], None]:
    """Kills this process at the `count`th time that `point` is reached."""
    left = [count]

    def kill_at_point(now: str) -> None:
        if now == point:
            left[0] -= 1
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    return kill_at_point


if __name__ == "__main__":
    if sys.argv[1] == "crowd":
        asyncio.run(reserve_at_once())
    else:
        asyncio.run(stream_until_killed(Path(sys.argv[2]), make_killer(sys.argv[3], int(sys.argv[4]))))
