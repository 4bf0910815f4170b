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


class ImpatientReply:
    """A reply that remembers; it is gone after `patience` texts."""

    def __init__(self, patience: int = 99):
        self.events: list[object] = []
        self.patience = patience

    async def announce_decision(self, decision: Decision) -> None:
        self.events.append(decision)

    async def write_text(self, released: str) -> None:
        if len(self.events) > self.patience:
            raise ClientGone
        self.events.append(released)

    async def end_reply(self, done: ReplyEnd) -> None:
        self.events.append(done)


class SteppedWork:
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


async def take_steps(work: SteppedWork, count: int = 1) -> None:
    for _ in range(count):
        work.step.set()
        await asyncio.sleep(0.01)


async def start_request(
    coalescer: RequestCoalescer, reply: ImpatientReply, work: Callable[[Reply], Coroutine[Any, Any, None]]
) -> asyncio.Task[None]:
    task = asyncio.create_task(coalescer.run(KEY, reply, work))
    await asyncio.sleep(0.01)
    return task


async def test_an_equal_request_hears_all_of_the_running_one_from_its_first_word() -> None:
    coalescer, work, replies = RequestCoalescer(10), SteppedWork(), (ImpatientReply(), ImpatientReply())
    first = await start_request(coalescer, replies[0], work)
    await take_steps(work, 2)
    second = await start_request(coalescer, replies[1], work)
    await take_steps(work)
    await asyncio.gather(first, second)
    assert [reply.events for reply in replies] == [SAID, SAID]
    assert (work.runs, len(coalescer)) == (1, 0)


@pytest.mark.parametrize("key", [("k2", KEY[1]), ("k1", b'{"stream": false}')], ids=["key", "body"])
async def test_another_key_or_body_runs_on_its_own(key: tuple[str, bytes]) -> None:
    coalescer, work, other = RequestCoalescer(10), SteppedWork(0), SteppedWork(0)
    blocked = await start_request(coalescer, ImpatientReply(), SteppedWork())
    await coalescer.run(key, ImpatientReply(), work)
    assert work.runs == 1
    assert other.runs == 0
    blocked.cancel()
    await asyncio.gather(blocked, return_exceptions=True)


async def test_a_request_after_the_window_or_after_the_end_runs_anew() -> None:
    now = [0.0]
    coalescer, work = RequestCoalescer(10, clock=lambda: now[0]), SteppedWork(0)
    slow = await start_request(coalescer, ImpatientReply(), SteppedWork())
    now[0] = 10
    await coalescer.run(KEY, ImpatientReply(), work)
    await coalescer.run(KEY, ImpatientReply(), work)
    assert work.runs == 2
    slow.cancel()
    await asyncio.gather(slow, return_exceptions=True)
    assert len(coalescer) == 0


async def test_zero_turns_joining_off() -> None:
    coalescer, works = RequestCoalescer(0), (SteppedWork(), SteppedWork())
    tasks = [await start_request(coalescer, ImpatientReply(), work) for work in works]
    assert [talk.runs for talk in works] == [1, 1]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_the_first_may_leave_and_the_second_still_hears_the_end() -> None:
    coalescer, work, reply = RequestCoalescer(10), SteppedWork(), ImpatientReply()
    first = await start_request(coalescer, ImpatientReply(), work)
    second = await start_request(coalescer, reply, work)
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    await take_steps(work, 3)
    await second
    assert (reply.events, work.runs, work.cancelled) == (SAID, 1, 0)


async def test_when_the_last_one_leaves_the_work_is_cancelled_and_has_settled() -> None:
    coalescer, work = RequestCoalescer(10), SteppedWork()
    tasks = [
        await start_request(coalescer, ImpatientReply(), work),
        await start_request(coalescer, ImpatientReply(), work),
    ]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert (work.cancelled, work.runs, len(coalescer)) == (1, 101, 0)


async def test_a_client_that_is_gone_leaves_the_others() -> None:
    coalescer, work, reply = RequestCoalescer(10), SteppedWork(), ImpatientReply()
    first = await start_request(coalescer, ImpatientReply(patience=1), work)
    second = await start_request(coalescer, reply, work)
    await take_steps(work, 3)
    with pytest.raises(ClientGone):
        await first
    await second
    assert (reply.events, work.runs) == (SAID, 1)


async def test_a_fault_of_the_work_reaches_everyone() -> None:
    async def fail_slowly(reply: Reply) -> None:
        await asyncio.sleep(0.02)
        raise BusyError("no")

    coalescer = RequestCoalescer(10)
    tasks = [
        await start_request(coalescer, ImpatientReply(), fail_slowly),
        await start_request(coalescer, ImpatientReply(), fail_slowly),
    ]
    for task in tasks:
        with pytest.raises(BusyError):
            await task
    assert len(coalescer) == 0
