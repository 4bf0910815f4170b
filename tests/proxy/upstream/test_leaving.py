"""Who has heard enough, leaves or fails closes the connection, proved over a real socket."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.fake_upstream import FakeUpstream, ReceivedRequest, ResponsePlayer, make_chunk
from tests.proxy.upstream.single_attempt import CALL, CollectingSink, make_upstream


async def play_words_endlessly(received: ReceivedRequest, player: ResponsePlayer) -> None:
    """An answer without end, with keep-alive pooling on."""
    await player.send_head()
    while True:
        await player.send_chunk(make_chunk({"content": "word "}))
        await asyncio.sleep(0.01)


@pytest.fixture
async def busy() -> AsyncIterator[FakeUpstream]:
    async with FakeUpstream(play_words_endlessly) as fake:
        yield fake


async def test_a_sink_that_has_enough_of_thinking_closes_the_connection() -> None:
    async def play_thoughts(received: ReceivedRequest, player: ResponsePlayer) -> None:
        await player.send_head()
        while True:
            await player.send_chunk(make_chunk({"reasoning_content": "hm "}))
            await asyncio.sleep(0.01)

    async with FakeUpstream(play_thoughts) as fake:
        model = make_upstream(fake.url)
        ending = await model.run(CALL, CollectingSink(enough=3))
        await asyncio.wait_for(fake.departed.wait(), 1)
        await model.aclose()
    assert ending.finish == "sink_stopped"


async def test_a_sink_that_has_enough_closes_the_connection(busy: FakeUpstream) -> None:
    model = make_upstream(busy.url)
    ending = await model.run(CALL, CollectingSink(enough=3))
    await asyncio.wait_for(busy.departed.wait(), 1)
    await model.aclose()
    assert ending.finish == "sink_stopped"


async def test_a_cancelled_task_closes_the_connection(busy: FakeUpstream) -> None:
    model, sink = make_upstream(busy.url), CollectingSink()
    running = asyncio.create_task(model.run(CALL, sink))
    await sink.arrived.wait()
    running.cancel()
    await asyncio.wait_for(busy.departed.wait(), 1)
    with pytest.raises(asyncio.CancelledError):
        await running
    await model.aclose()


async def test_a_task_cancelled_before_the_first_byte_closes_the_connection() -> None:
    called = asyncio.Event()

    async def play_silence(received: ReceivedRequest, player: ResponsePlayer) -> None:
        called.set()
        await player.await_close()

    async with FakeUpstream(play_silence) as fake:
        model = make_upstream(fake.url, idle_s=5)
        running = asyncio.create_task(model.run(CALL, CollectingSink()))
        await called.wait()
        running.cancel()
        await asyncio.wait_for(fake.departed.wait(), 1)
        with pytest.raises(asyncio.CancelledError):
            await running
        await model.aclose()


async def test_what_the_sink_raises_comes_through_and_closes(busy: FakeUpstream) -> None:
    class SinkGoneError(Exception):
        pass

    class LeavingSink(CollectingSink):
        async def flush(self) -> None:
            raise SinkGoneError

    model = make_upstream(busy.url)
    with pytest.raises(SinkGoneError):
        await model.run(CALL, LeavingSink())
    await asyncio.wait_for(busy.departed.wait(), 1)
    await model.aclose()
