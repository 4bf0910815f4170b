"""Joined retries: equal requests of one key run once, and all of them hear the same.

A client that lost its connection or its patience asks again while the first still runs; without this it
would be paid twice. The work runs in a task of its own; whoever asked is a listener, the first one too.
"""

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress

from proxy.domain.ports import Reply, ReplyEnd
from proxy.domain.types import Decision

Work = Callable[[Reply], Awaitable[None]]
Said = Decision | str | ReplyEnd
"""What a reply is told: its head, a text, its end."""


class RequestCoalescer:
    """`run` per request. Requests join within `window_s` seconds of the first one's start; 0: never."""

    def __init__(self, window_s: float, *, clock: Callable[[], float] = time.monotonic):
        self._window_s = window_s
        self._clock = clock
        self._running: dict[bytes, _SharedRun] = {}

    def __len__(self) -> int:
        """Requests that run now."""
        return len(self._running)

    async def run(self, key: tuple[str, bytes], reply: Reply, work: Work) -> None:
        """Tells `reply` what `work` says, started here or running for an equal request.

        `key`: who may hear the same answer (key and groups), and the body. When the last listener leaves, the
        work is cancelled, and this returns after it has wound up. A fault of the work reaches every listener.
        """
        if not self._window_s:
            return await work(reply)
        mark = hashlib.sha256(key[0].encode() + b"\0" + key[1]).digest()
        run = self._running.get(mark)
        if run is None or not run.open(self._clock() - self._window_s):
            run = self._running[mark] = _SharedRun(work, self._clock())
        try:
            await run.listen(reply)
        finally:
            if run.over and self._running.get(mark) is run:
                del self._running[mark]
        return None


class _SharedRun:
    """One running request: the `Reply` that the work talks to, which repeats all to each listener."""

    def __init__(self, work: Work, began: float):
        self._said: list[Said] = []
        self._news = asyncio.Event()
        self._listeners = 0
        self._began = began
        self._task = asyncio.ensure_future(work(self))
        self._task.add_done_callback(lambda _: self._news.set())

    @property
    def over(self) -> bool:
        """Nothing more will be said."""
        return self._task.done()

    def open(self, since: float) -> bool:
        """Whether one more may listen: it runs, somebody listens, and it began after `since`."""
        return not self.over and self._listeners > 0 and self._began > since

    async def announce_decision(self, decision: Decision) -> None:
        """See `Reply`."""
        self._say(decision)

    async def write_text(self, released: str) -> None:
        """See `Reply`. A run's words are bounded by its output cap, so a slow listener holds nobody up."""
        self._say(released)

    async def end_reply(self, done: ReplyEnd) -> None:
        """See `Reply`."""
        self._say(done)

    def _say(self, said: Said) -> None:
        self._said.append(said)
        self._news.set()

    async def listen(self, reply: Reply) -> None:
        """Tells `reply` everything from the first word on. Raises what the work raised, or `ClientGone`."""
        self._listeners += 1
        try:
            await self._repeat(reply)
            await asyncio.shield(self._task)
        finally:
            self._listeners -= 1
            if not self._listeners and not self.over:
                await self._stop()

    async def _repeat(self, reply: Reply) -> None:
        told = 0
        while told < len(self._said) or not self.over:
            if told == len(self._said):
                self._news = self._news if not self._news.is_set() else asyncio.Event()
                await self._news.wait()
                continue
            await _tell(reply, self._said[told])
            told += 1

    async def _stop(self) -> None:
        """The last listener has left: the work is cancelled, and settles before this returns."""
        self._task.cancel()
        with suppress(BaseException):
            await asyncio.shield(asyncio.wait([self._task]))


async def _tell(reply: Reply, said: Said) -> None:
    if isinstance(said, ReplyEnd):
        await reply.end_reply(said)
    elif isinstance(said, Decision):
        await reply.announce_decision(said)
    else:
        await reply.write_text(said)
