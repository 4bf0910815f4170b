"""Request coalescing: equal requests of one key run once, and all of them hear the same.

A client that lost its connection or its patience asks again while the first still runs; without this it
would be paid twice. The work runs in a task of its own; whoever asked is a listener, the first one too.
"""

import asyncio
import hashlib
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

from proxy.domain.ports import Reply, ReplyEnd
from proxy.domain.types import Decision

Work = Callable[[Reply], Coroutine[Any, Any, None]]
"""Answers one request through the reply that it is given."""
ReplyEvent = Decision | str | ReplyEnd
"""What a reply is told: the decision, a text, its end."""


class RequestCoalescer:
    """Runs each request, or lets it join an equal one that began less than `window_s` seconds ago."""

    def __init__(self, window_s: float, *, clock: Callable[[], float] = time.monotonic):
        self._window_s = window_s
        self._clock = clock
        self._running: dict[bytes, SharedRun] = {}

    def __len__(self) -> int:
        """Requests that run now."""
        return len(self._running)

    async def run(self, key: tuple[str, bytes], reply: Reply, work: Work) -> None:
        """Tells `reply` what `work` says, started here or running for an equal request.

        `key`: who may hear the same answer (their key and groups), and the body. When the last listener
        leaves, the work is cancelled, and this returns after it has wound up. A fault of the work reaches
        every listener.
        """
        if not self._window_s:
            return await work(reply)
        digest = hashlib.sha256(key[0].encode() + b"\0" + key[1]).digest()
        shared = self._running.get(digest)
        if shared is None or not shared.may_join(self._clock() - self._window_s):
            shared = self._running[digest] = SharedRun(self._clock())
            shared.task = asyncio.create_task(work(shared))
            shared.task.add_done_callback(lambda _: shared.wake_listeners())
        try:
            await shared.listen(reply)
        finally:
            if shared.is_over and self._running.get(digest) is shared:
                del self._running[digest]
        return None


class SharedRun:
    """One running request: the `Reply` that the work talks to, which repeats all to each listener."""

    task: asyncio.Task[None]
    """The work; set by whoever starts it, as the work needs this very reply."""

    def __init__(self, began_s: float):
        self._events: list[ReplyEvent] = []
        self._news = asyncio.Event()
        self._listeners = 0
        self._began_s = began_s

    @property
    def is_over(self) -> bool:
        """Nothing more will be said."""
        return self.task.done()

    def may_join(self, since_s: float) -> bool:
        """Whether one more may listen: it runs, somebody listens, and it began after `since_s`."""
        return not self.is_over and self._listeners > 0 and self._began_s > since_s

    def wake_listeners(self) -> None:
        """There is something new to hear, or the work is over."""
        self._news.set()

    async def announce_decision(self, decision: Decision) -> None:
        """See `Reply`."""
        self._add_event(decision)

    async def write_text(self, released: str) -> None:
        """See `Reply`. A run's words are bounded by its output cap, so a slow listener holds nobody up."""
        self._add_event(released)

    async def end_reply(self, end: ReplyEnd) -> None:
        """See `Reply`."""
        self._add_event(end)

    def _add_event(self, event: ReplyEvent) -> None:
        self._events.append(event)
        self.wake_listeners()

    async def listen(self, reply: Reply) -> None:
        """Tells `reply` everything from the first word on. Raises what the work raised, or `ClientGone`."""
        self._listeners += 1
        try:
            await self._repeat_events(reply)
            await asyncio.shield(self.task)
        finally:
            self._listeners -= 1
            if not self._listeners and not self.is_over:
                await self._cancel_work()

    async def _repeat_events(self, reply: Reply) -> None:
        told_count = 0
        while told_count < len(self._events) or not self.is_over:
            if told_count == len(self._events):
                self._news = self._news if not self._news.is_set() else asyncio.Event()
                await self._news.wait()
                continue
            await repeat_event(reply, self._events[told_count])
            told_count += 1

    async def _cancel_work(self) -> None:
        """The last listener has left: the work is cancelled, and settles before this returns."""
        self.task.cancel()
        with suppress(BaseException):
            await asyncio.shield(asyncio.wait([self.task]))


async def repeat_event(reply: Reply, event: ReplyEvent) -> None:
    """Tells one listener what the work has said."""
    if isinstance(event, ReplyEnd):
        await reply.end_reply(event)
    elif isinstance(event, Decision):
        await reply.announce_decision(event)
    else:
        await reply.write_text(event)
