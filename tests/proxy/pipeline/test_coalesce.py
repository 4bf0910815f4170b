"""proxy.pipeline.coalesce: equal requests of one key run once; the work ends when nobody listens any more."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from proxy.domain.errors import BusyError
from proxy.domain.ports import ClientGone, Reply, ReplyEnd
from proxy.domain.types import Decision
from proxy.pipeline.coalesce import RequestCoalescer

KEY = ("k1", b'{"stream": true}')
END = ReplyEnd(Decision.ANSWERED, "stop")


class Ear:
    """A reply that remembers; it is gone after `patience` texts."""

    def __init__(self, patience: int = 99):
        self.heard: list[object] = []
        self.patience = patience

    async def announce_decision(self, decision: Decision) -> None:
        self.heard.append(decision)

    async def write_text(self, released: str) -> None:
        if len(self.heard) > self.patience:
            raise ClientGone
        self.heard.append(released)

    async def end_reply(self, done: ReplyEnd) -> None:
        self.heard.append(done)


class Talk:
    """Work that says a word at each `step`, and counts how often it ran and was cancelled."""

    def __init__(self, words: int = 3):
        self.words = words
        self.step = asyncio.Event()
        self.runs = self.cancelled = 0

    async def __call__(self, reply: Reply) -> None:
        self.runs += 1
        try:
            await reply.announce_decision(Decision.ANSWERED)
            for number in range(self.words):
                await self.step.wait()
                self.step.clear()
                await reply.write_text(f"w{number}")
            await reply.end_reply(END)
        except asyncio.CancelledError:
            self.cancelled += 1
            await asyncio.sleep(0.01)  # settling takes its time
            self.runs += 100
            raise


SAID = [Decision.ANSWERED, "w0", "w1", "w2", END]


async def stepped(talk: Talk, count: int = 1) -> None:
    for _ in range(count):
        talk.step.set()
        await asyncio.sleep(0.01)


async def begun(
    joins: RequestCoalescer, ear: Ear, talk: Callable[[Reply], Coroutine[Any, Any, None]]
) -> asyncio.Task[None]:
    task = asyncio.create_task(joins.run(KEY, ear, talk))
    await asyncio.sleep(0.01)
    return task


async def test_an_equal_request_hears_all_of_the_running_one_from_its_first_word() -> None:
    joins, talk, ears = RequestCoalescer(10), Talk(), (Ear(), Ear())
    first = await begun(joins, ears[0], talk)
    await stepped(talk, 2)
    second = await begun(joins, ears[1], talk)
    await stepped(talk)
    await asyncio.gather(first, second)
    assert [ear.heard for ear in ears] == [SAID, SAID]
    assert (talk.runs, len(joins)) == (1, 0)


@pytest.mark.parametrize("key", [("k2", KEY[1]), ("k1", b'{"stream": false}')], ids=["key", "body"])
async def test_another_key_or_body_runs_on_its_own(key: tuple[str, bytes]) -> None:
    joins, talk, other = RequestCoalescer(10), Talk(0), Talk(0)
    blocked = await begun(joins, Ear(), Talk())
    await joins.run(key, Ear(), talk)
    assert talk.runs == 1
    assert other.runs == 0
    blocked.cancel()
    await asyncio.gather(blocked, return_exceptions=True)


async def test_a_request_after_the_window_or_after_the_end_runs_anew() -> None:
    now = [0.0]
    joins, talk = RequestCoalescer(10, clock=lambda: now[0]), Talk(0)
    slow = await begun(joins, Ear(), Talk())
    now[0] = 10
    await joins.run(KEY, Ear(), talk)
    await joins.run(KEY, Ear(), talk)
    assert talk.runs == 2
    slow.cancel()
    await asyncio.gather(slow, return_exceptions=True)
    assert len(joins) == 0


async def test_zero_turns_joining_off() -> None:
    joins, talks = RequestCoalescer(0), (Talk(), Talk())
    tasks = [await begun(joins, Ear(), talk) for talk in talks]
    assert [talk.runs for talk in talks] == [1, 1]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_the_first_may_leave_and_the_second_still_hears_the_end() -> None:
    joins, talk, ear = RequestCoalescer(10), Talk(), Ear()
    first = await begun(joins, Ear(), talk)
    second = await begun(joins, ear, talk)
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    await stepped(talk, 3)
    await second
    assert (ear.heard, talk.runs, talk.cancelled) == (SAID, 1, 0)


async def test_when_the_last_one_leaves_the_work_is_cancelled_and_has_settled() -> None:
    joins, talk = RequestCoalescer(10), Talk()
    tasks = [await begun(joins, Ear(), talk), await begun(joins, Ear(), talk)]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert (talk.cancelled, talk.runs, len(joins)) == (1, 101, 0)


async def test_a_client_that_is_gone_leaves_the_others() -> None:
    joins, talk, ear = RequestCoalescer(10), Talk(), Ear()
    first = await begun(joins, Ear(patience=1), talk)
    second = await begun(joins, ear, talk)
    await stepped(talk, 3)
    with pytest.raises(ClientGone):
        await first
    await second
    assert (ear.heard, talk.runs) == (SAID, 1)


async def test_a_fault_of_the_work_reaches_everyone() -> None:
    async def broken(reply: Reply) -> None:
        await asyncio.sleep(0.02)
        raise BusyError("no")

    joins = RequestCoalescer(10)
    tasks = [await begun(joins, Ear(), broken), await begun(joins, Ear(), broken)]
    for task in tasks:
        with pytest.raises(BusyError):
            await task
    assert len(joins) == 0
