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
from tests.fake_upstream import FakeUpstream, ReceivedRequest, ResponsePlayer, make_chunk, make_openai_stream
from tests.fire.conftest import Scale
from tests.fire.served_proxy import (
    OUTPUT_NANOUSD,
    ServedProxy,
    ask_decision,
    open_question,
    read_balance_proof,
    serve_deployment,
    write_synced_deployment,
)
from tests.proxy.deployment import RunningProxy, open_proxy

COVERS = 37
SENTENCE = "The reading room opens at 9:30 [1]. "


@dataclass
class GatedUpstream:
    """An upstream that answers nothing until it is let."""

    go_ahead: asyncio.Event = field(default_factory=asyncio.Event)

    async def __call__(self, received: ReceivedRequest, player: ResponsePlayer) -> None:
        await self.go_ahead.wait()
        await player.send_head()
        for piece in make_openai_stream([SENTENCE]):
            await player.send_chunk(piece)
        await player.end_body()


@dataclass
class DrippingUpstream:
    """An upstream that streams sentences at a pace, without usage; `sent`: bytes of text of each stream."""

    pause_s: float = 0.01
    sentences: int = 20
    head_s: float = 0
    sent_bytes: list[int] = field(default_factory=list)

    async def __call__(self, received: ReceivedRequest, player: ResponsePlayer) -> None:
        place = len(self.sent_bytes)
        self.sent_bytes.append(0)
        await asyncio.sleep(self.head_s)
        await player.send_head()
        for _ in range(self.sentences):
            await player.send_chunk(make_chunk({"content": SENTENCE}))
            self.sent_bytes[place] += len(SENTENCE)
            await asyncio.sleep(self.pause_s)
        await player.send_chunk(make_chunk({}, "stop"))
        await player.send_chunk(b"data: [DONE]\n\n")
        await player.end_body()


@pytest.fixture
async def fake() -> AsyncIterator[FakeUpstream]:
    async with FakeUpstream(DrippingUpstream()) as upstream:
        yield upstream


async def measure_bound_nanousd(proxy: ServedProxy, fake: FakeUpstream) -> int:
    """What one question holds: its answer is still to come while the books are looked at."""
    fake.play = gated = GatedUpstream()
    task = asyncio.create_task(ask_decision(proxy.url, await proxy.issue_key()))
    while not fake.calls:  # noqa: ASYNC110 - the fake has a list only
        await asyncio.sleep(0.01)
    found = (await read_balance_proof(proxy.settings)).held_nanousd
    gated.go_ahead.set()
    assert await task == "answered"
    return found


async def test_any_number_at_once_over_several_processes_on_a_cap_for_37_makes_37_calls(
    tmp_path: Path, fake: FakeUpstream, scale: Scale
) -> None:
    settings = await write_synced_deployment(tmp_path, fake.url, workers=scale(2, 4))
    requests = scale(60, 200)
    async with serve_deployment(settings, tmp_path) as proxy:
        cap = SpendCap(month_nanousd=COVERS * await measure_bound_nanousd(proxy, fake))
        for _ in range(scale(1, 20)):
            fake.calls.clear()
            fake.play = gated = GatedUpstream()
            key = await proxy.issue_key(cap)
            tasks = [asyncio.create_task(ask_decision(proxy.url, key)) for _ in range(requests)]
            while len([task for task in tasks if task.done()]) < requests - COVERS:  # noqa: ASYNC110
                await asyncio.sleep(0.02)  # the rest hang in the upstream
            gated.go_ahead.set()
            said = await asyncio.gather(*tasks)
            counts = (len(fake.calls), said.count("answered"), said.count("over_budget"))
            assert counts == (COVERS, COVERS, requests - COVERS)
        assert (await read_balance_proof(settings)).faults == ()


async def drain_stream(url: str, key: str) -> None:
    """One stream, until it ends or breaks."""
    try:
        async with open_question(url, key, stream=True) as answer:
            await answer.read()
    except aiohttp.ClientError:
        pass


async def test_a_server_killed_in_mid_stream_has_charged_what_was_streamed(
    tmp_path: Path, fake: FakeUpstream, scale: Scale
) -> None:
    chance = random.Random(37)
    settings = await write_synced_deployment(tmp_path, fake.url)
    fake.play = dripping = DrippingUpstream()
    for _ in range(scale(1, 50)):
        async with serve_deployment(settings, tmp_path) as proxy:
            key = await proxy.issue_key()
            streams = [asyncio.create_task(drain_stream(proxy.url, key)) for _ in range(8)]
            await asyncio.sleep(chance.uniform(0.05, 0.5))
            await proxy.kill()
            await asyncio.gather(*streams)
        books = await read_balance_proof(settings)
        assert (books.faults, books.holds) == ((), ())
        assert books.settled_nanousd >= sum(dripping.sent_bytes) * OUTPUT_NANOUSD


async def await_spend_total(proxy: RunningProxy, key: str) -> SpendTotal:
    """What the books say of one key, once nothing is held."""
    async with asyncio.timeout(5):
        while (await proxy.deployment.ledger.verify_balances()).holds:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    rows = await proxy.deployment.ledger.list_spend_totals("key")
    return next(row for row in rows if row.name == key.split("_")[1])


async def test_who_leaves_is_seen_upstream_within_a_second_and_pays_what_was_streamed(
    tmp_path: Path, fake: FakeUpstream
) -> None:
    """Connections to the upstream are pooled, which must not hide the client's going from it."""
    async with open_proxy(tmp_path, fake.url) as proxy:
        fake.play = DrippingUpstream(head_s=30)
        key = await proxy.issue_key()
        with suppress(TimeoutError):
            async with asyncio.timeout(0.5), open_question(proxy.url, key, stream=True):
                await asyncio.sleep(30)
        await asyncio.wait_for(fake.departed.wait(), 1)
        assert (
            await await_spend_total(proxy, key)
        ).output_tokens == 100  # before the first byte: unknown, so the bound
        await leave_midway(proxy, fake)
        await leave_at_end(proxy, fake)


async def leave_midway(proxy: RunningProxy, fake: FakeUpstream) -> None:
    """In mid-stream: the upstream sees it within a second, and what it had sent is paid."""
    fake.play = dripping = DrippingUpstream(sentences=10_000)
    fake.departed.clear()
    key = await proxy.issue_key()
    async with open_question(proxy.url, key, stream=True):
        while not sum(dripping.sent_bytes):  # noqa: ASYNC110 - the upstream has a list only
            await asyncio.sleep(0.01)
    await asyncio.wait_for(fake.departed.wait(), 1)
    assert 0 < (await await_spend_total(proxy, key)).output_tokens <= min(100, sum(dripping.sent_bytes))


async def leave_at_end(proxy: RunningProxy, fake: FakeUpstream) -> None:
    """After the last byte: nobody is left to tell, and all of it is paid."""
    fake.play = dripping = DrippingUpstream(sentences=2)
    left, key = fake.left, await proxy.issue_key()
    async with open_question(proxy.url, key, stream=True) as answer:
        await answer.read()
    assert (await await_spend_total(proxy, key)).output_tokens == sum(dripping.sent_bytes)
    assert fake.left == left


async def test_stopping_again_and_again_is_not_free(tmp_path: Path, fake: FakeUpstream, scale: Scale) -> None:
    fake.play = dripping = DrippingUpstream(pause_s=0.03, sentences=1_000)
    cycles = scale(5, 100)
    async with open_proxy(tmp_path, fake.url) as proxy:
        key, heard = await proxy.issue_key(), 0
        for _ in range(cycles):
            async with open_question(proxy.url, key, stream=True) as answer:
                async for line in answer.content:
                    if b"opens at" in line:
                        heard += len("The reading room opens at 9:30.")
                        break
        spend = await await_spend_total(proxy, key)
        assert spend.requests == len(fake.calls) == fake.left == cycles
        assert heard <= spend.output_tokens <= sum(dripping.sent_bytes)
