"""Who has heard enough, leaves or fails closes the connection, proved over a real socket."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.fakes import (
    FakeUpstream,
    Player,
    Received,
    chunk,
)
from tests.proxy.upstream.kit import CALL, Collect, upstream


async def endless(received: Received, player: Player) -> None:
    """An answer without end, with keep-alive pooling on."""
    await player.head()
    while True:
        await player.read(chunk({"content": "word "}))
        await asyncio.sleep(0.01)


@pytest.fixture
async def busy() -> AsyncIterator[FakeUpstream]:
    async with FakeUpstream(endless) as fake:
        yield fake


async def test_a_sink_that_has_enough_of_thinking_closes_the_connection() -> None:
    async def play(received: Received, player: Player) -> None:
        await player.head()
        while True:
            await player.read(chunk({"reasoning_content": "hm "}))
            await asyncio.sleep(0.01)

    async with FakeUpstream(play) as fake:
        model = upstream(fake.url)
        ending = await model.run(CALL, Collect(enough=3))
        await asyncio.wait_for(fake.departed.wait(), 1)
        await model.aclose()
    assert ending.finish == "sink_stopped"


async def test_a_sink_that_has_enough_closes_the_connection(busy: FakeUpstream) -> None:
    model = upstream(busy.url)
    ending = await model.run(CALL, Collect(enough=3))
    await asyncio.wait_for(busy.departed.wait(), 1)
    await model.aclose()
    assert ending.finish == "sink_stopped"


async def test_a_cancelled_task_closes_the_connection(busy: FakeUpstream) -> None:
    model, sink = upstream(busy.url), Collect()
    running = asyncio.create_task(model.run(CALL, sink))
    await sink.arrived.wait()
    running.cancel()
    await asyncio.wait_for(busy.departed.wait(), 1)
    with pytest.raises(asyncio.CancelledError):
        await running
    await model.aclose()


async def test_a_task_cancelled_before_the_first_byte_closes_the_connection() -> None:
    called = asyncio.Event()

    async def play(received: Received, player: Player) -> None:
        called.set()
        await player.gone()

    async with FakeUpstream(play) as fake:
        model = upstream(fake.url, idle_s=5)
        running = asyncio.create_task(model.run(CALL, Collect()))
        await called.wait()
        running.cancel()
        await asyncio.wait_for(fake.departed.wait(), 1)
        with pytest.raises(asyncio.CancelledError):
            await running
        await model.aclose()


async def test_what_the_sink_raises_comes_through_and_closes(busy: FakeUpstream) -> None:
    class Gone(Exception):
        pass

    class Leaving(Collect):
        async def flush(self) -> None:
            raise Gone

    model = upstream(busy.url)
    with pytest.raises(Gone):
        await model.run(CALL, Leaving())
    await asyncio.wait_for(busy.departed.wait(), 1)
    await model.aclose()
