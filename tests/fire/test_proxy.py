"""The whole proxy under fire: a cap over four processes, kill −9 in mid-stream, clients that leave."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
import pytest

from proxy.ledger.audit import SpendTotal
from proxy.ledger.periods import SpendCap
from tests.fakes import FakeUpstream, Player, Received, chunk, openai_stream
from tests.fire.conftest import Scale
from tests.fire.served import OUTPUT_NANOUSD, Served, asking, decision, proof, served, written_and_synced
from tests.proxy.deployment import RunningProxy, deployed

COVERS = 37
SENTENCE = "The reading room opens at 9:30 [1]. "


@dataclass
class Gated:
    """An upstream that answers nothing until it is let."""

    let: asyncio.Event = field(default_factory=asyncio.Event)

    async def __call__(self, received: Received, player: Player) -> None:
        await self.let.wait()
        await player.head()
        for piece in openai_stream([SENTENCE]):
            await player.read(piece)
        await player.end()


@dataclass
class Dripping:
    """An upstream that streams sentences at a pace, without usage; `sent`: bytes of text of each stream."""

    pause_s: float = 0.01
    sentences: int = 20
    head_s: float = 0
    sent: list[int] = field(default_factory=list)

    async def __call__(self, received: Received, player: Player) -> None:
        place = len(self.sent)
        self.sent.append(0)
        await asyncio.sleep(self.head_s)
        await player.head()
        for _ in range(self.sentences):
            await player.read(chunk({"content": SENTENCE}))
            self.sent[place] += len(SENTENCE)
            await asyncio.sleep(self.pause_s)
        await player.read(chunk({}, "stop"))
        await player.read(b"data: [DONE]\n\n")
        await player.end()


@pytest.fixture
async def fake() -> AsyncIterator[FakeUpstream]:
    async with FakeUpstream(Dripping()) as upstream:
        yield upstream


async def bound_nanousd(proxy: Served, fake: FakeUpstream) -> int:
    """What one question holds: its answer is still to come while the books are looked at."""
    fake.play = gated = Gated()
    task = asyncio.create_task(decision(proxy.url, await proxy.key()))
    while not fake.calls:  # noqa: ASYNC110 - the fake has a list only
        await asyncio.sleep(0.01)
    found = (await proof(proxy.settings)).held_nanousd
    gated.let.set()
    assert await task == "answered"
    return found


async def test_any_number_at_once_over_several_processes_on_a_cap_for_37_makes_37_calls(
    tmp_path: Path, fake: FakeUpstream, scale: Scale
) -> None:
    settings = await written_and_synced(tmp_path, fake.url, workers=scale(2, 4))
    requests = scale(60, 200)
    async with served(settings, tmp_path) as proxy:
        cap = SpendCap(month_nanousd=COVERS * await bound_nanousd(proxy, fake))
        for _ in range(scale(1, 20)):
            fake.calls.clear()
            fake.play = gated = Gated()
            key = await proxy.key(cap)
            tasks = [asyncio.create_task(decision(proxy.url, key)) for _ in range(requests)]
            while len([task for task in tasks if task.done()]) < requests - COVERS:  # noqa: ASYNC110
                await asyncio.sleep(0.02)  # the rest hang in the upstream
            gated.let.set()
            said = await asyncio.gather(*tasks)
            counts = (len(fake.calls), said.count("answered"), said.count("over_budget"))
            assert counts == (COVERS, COVERS, requests - COVERS)
        assert (await proof(settings)).faults == ()


async def listen(url: str, key: str) -> None:
    """One stream, until it ends or breaks."""
    try:
        async with asking(url, key, stream=True) as answer:
            await answer.read()
    except aiohttp.ClientError:
        pass


async def test_a_server_killed_in_mid_stream_has_charged_what_was_streamed(
    tmp_path: Path, fake: FakeUpstream, scale: Scale
) -> None:
    chance = random.Random(37)
    settings = await written_and_synced(tmp_path, fake.url)
    fake.play = dripping = Dripping()
    for _ in range(scale(1, 50)):
        async with served(settings, tmp_path) as proxy:
            key = await proxy.key()
            streams = [asyncio.create_task(listen(proxy.url, key)) for _ in range(8)]
            await asyncio.sleep(chance.uniform(0.05, 0.5))
            await proxy.kill()
            await asyncio.gather(*streams)
        books = await proof(settings)
        assert (books.faults, books.holds) == ((), ())
        assert books.settled_nanousd >= sum(dripping.sent) * OUTPUT_NANOUSD


async def booked(proxy: RunningProxy, key: str) -> SpendTotal:
    """What the books say of one key, once nothing is held."""
    async with asyncio.timeout(5):
        while (await proxy.services.ledger.verify_balances()).holds:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    rows = await proxy.services.ledger.list_spend_totals("key")
    return next(row for row in rows if row.name == key.split("_")[1])


async def test_who_leaves_is_seen_upstream_within_a_second_and_pays_what_was_streamed(
    tmp_path: Path, fake: FakeUpstream
) -> None:
    """Connections to the upstream are pooled, which must not hide the client's going from it."""
    async with deployed(tmp_path, fake.url) as proxy:
        fake.play = Dripping(head_s=30)
        key = await proxy.key()
        with suppress(TimeoutError):
            async with asyncio.timeout(0.5), asking(proxy.url, key, stream=True):
                await asyncio.sleep(30)
        await asyncio.wait_for(fake.departed.wait(), 1)
        assert (await booked(proxy, key)).output_tokens == 100  # before the first byte: unknown, so the bound
        await amid(proxy, fake)
        await after(proxy, fake)


async def amid(proxy: RunningProxy, fake: FakeUpstream) -> None:
    """In mid-stream: the upstream sees it within a second, and what it had sent is paid."""
    fake.play = dripping = Dripping(sentences=10_000)
    fake.departed.clear()
    key = await proxy.key()
    async with asking(proxy.url, key, stream=True):
        while not sum(dripping.sent):  # noqa: ASYNC110 - the upstream has a list only
            await asyncio.sleep(0.01)
    await asyncio.wait_for(fake.departed.wait(), 1)
    assert 0 < (await booked(proxy, key)).output_tokens <= min(100, sum(dripping.sent))


async def after(proxy: RunningProxy, fake: FakeUpstream) -> None:
    """After the last byte: nobody is left to tell, and all of it is paid."""
    fake.play = dripping = Dripping(sentences=2)
    left, key = fake.left, await proxy.key()
    async with asking(proxy.url, key, stream=True) as answer:
        await answer.read()
    assert (await booked(proxy, key)).output_tokens == sum(dripping.sent)
    assert fake.left == left


async def test_stopping_again_and_again_is_not_free(tmp_path: Path, fake: FakeUpstream, scale: Scale) -> None:
    fake.play = dripping = Dripping(pause_s=0.03, sentences=1_000)
    cycles = scale(5, 100)
    async with deployed(tmp_path, fake.url) as proxy:
        key, heard = await proxy.key(), 0
        for _ in range(cycles):
            async with asking(proxy.url, key, stream=True) as answer:
                async for line in answer.content:
                    if b"opens at" in line:
                        heard += len("The reading room opens at 9:30.")
                        break
        spend = await booked(proxy, key)
        assert spend.requests == len(fake.calls) == fake.left == cycles
        assert heard <= spend.output_tokens <= sum(dripping.sent)
