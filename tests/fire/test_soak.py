"""A soak: minutes of ordinary trouble, after which nothing has grown and nothing is left over."""

import asyncio
import random
import statistics
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
import pytest

from tests.fake_upstream import FakeUpstream, ReceivedRequest, ResponsePlayer, make_chunk, make_openai_stream
from tests.fire.conftest import Scale
from tests.fire.served_proxy import (
    ServedProxy,
    open_question,
    read_balance_proof,
    serve_deployment,
    write_synced_deployment,
)

CLIENTS = 6
FAULTS = 0.05
"""Share of requests in which something goes wrong."""
GROWTH_MB_MIN = 1.0
"""Most that memory may grow a minute after warming up, by the slope over the second half."""
SENTENCES = ["The reading room opens at 9:30 [1]. ", "It has 40 seats [1]. "]


@dataclass
class UnsteadyUpstream:
    """An upstream that breaks off now and then."""

    chance: random.Random = field(default_factory=lambda: random.Random(5))

    async def __call__(self, received: ReceivedRequest, player: ResponsePlayer) -> None:
        if self.chance.random() < FAULTS:
            await player.send_head()
            await player.send_chunk(make_chunk({"content": SENTENCES[0]}))
            raise ConnectionError("cut")
        await player.send_head()
        for piece in make_openai_stream(SENTENCES):
            await player.send_chunk(piece)
            await asyncio.sleep(0.005)
        await player.end_body()


@dataclass
class ProcessSample:
    """The server's process at one moment."""

    at_s: float
    memory_mb: float
    files: int


def take_sample(pid: int, began: float) -> ProcessSample:
    """Resident memory and open files, by /proc."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    files = len(list(Path(f"/proc/{pid}/fd").iterdir()))
    return ProcessSample(time.monotonic() - began, pages * 4_096 / 1e6, files)


async def ask_repeatedly(proxy: ServedProxy, key: str, until: float, chance: random.Random) -> int:
    """Asks half of the time; sometimes it leaves or reads slowly. Returns how many answers it heard."""
    heard = 0
    while time.monotonic() < until:
        began = time.monotonic()
        with suppress(aiohttp.ClientError):
            heard += await ask_once(proxy, key, chance)
        await asyncio.sleep(time.monotonic() - began)
    return heard


async def ask_once(proxy: ServedProxy, key: str, chance: random.Random) -> bool:
    """One question, answered to its end or not."""
    async with open_question(proxy.url, key, stream=chance.random() < 0.5) as answer:
        fault = chance.random()
        if fault < FAULTS / 2:
            return False
        if fault < FAULTS:
            async for _ in answer.content:
                await asyncio.sleep(0.05)
        await answer.read()
        assert answer.status in (200, 503), answer.status  # 503: the upstream broke off before its first word
        return answer.status == 200


@pytest.fixture
async def fake() -> AsyncIterator[FakeUpstream]:
    async with FakeUpstream(UnsteadyUpstream()) as upstream:
        yield upstream


async def watch_process(pid: int, until: float) -> list[ProcessSample]:
    """The server's samples, twenty in all."""
    began = time.monotonic()
    step, found = (until - began) / 20, []
    while time.monotonic() < until:
        found.append(await asyncio.to_thread(take_sample, pid, began))
        await asyncio.sleep(step)
    return found


async def test_after_a_soak_memory_is_flat_and_nothing_is_left_over(
    tmp_path: Path, fake: FakeUpstream, scale: Scale, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = await write_synced_deployment(tmp_path, fake.url)
    seconds = scale(5, 600)
    async with serve_deployment(settings, tmp_path) as proxy:
        key, until = await proxy.issue_key(), time.monotonic() + seconds
        watching = asyncio.create_task(watch_process(proxy.process.pid, until))
        chances = [random.Random(number) for number in range(CLIENTS)]
        heard = await asyncio.gather(*(ask_repeatedly(proxy, key, until, chance) for chance in chances))
        samples = await watching
        await asyncio.sleep(2)
        end = await asyncio.to_thread(take_sample, proxy.process.pid, 0)
        books = await read_balance_proof(settings)
    late = samples[len(samples) // 2 :]
    slope = statistics.linear_regression([one.at_s for one in late], [one.memory_mb for one in late]).slope
    with capsys.disabled():
        print(
            f"\nsoak: {sum(heard)} answers in {seconds} s, {late[-1].memory_mb:.0f} MB, "
            f"slope {slope * 60:+.2f} MB/min, files {samples[0].files} → {end.files}"
        )
    assert sum(heard) > seconds
    assert (books.faults, books.holds) == ((), ())
    assert end.files <= samples[0].files + 15
    assert seconds < 60 or slope * 60 < GROWTH_MB_MIN
