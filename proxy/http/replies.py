"""The way back to one client: a stream of events or one JSON body, built by `wire.openai_chat`."""

import asyncio
import math
from collections.abc import Iterable
from contextlib import suppress

from starlette.types import Send

from proxy.domain.errors import FiadorError, LimitError
from proxy.domain.ports import ClientGone, ReplyEnd
from proxy.domain.types import Decision
from proxy.settings import tree
from proxy.wire import openai_chat
from proxy.wire.openai_chat import KEEP_ALIVE, ChunkEncoder, ReplyLabel

RETRY_S_MAX = 60  # some clients sleep for as long as they are told

Headers = Iterable[tuple[str, str]]


class Line:
    """The connection to one client. Every write raises `ClientGone` once nobody listens any more."""

    def __init__(self, send: Send, write_s: float):
        self._send = send
        self._write_s = write_s
        self.begun = False
        """Whether the status has gone out: then a fault can no longer be a status."""
        self.ended = False
        self.gone = False
        """Set by whoever sees the client leave; a server's `send` does not say so."""

    async def open(self, status: int, headers: Headers) -> None:
        """Status and headers."""
        self.begun = True
        raw = [(name.encode(), value.encode()) for name, value in headers]
        await self._put({"type": "http.response.start", "status": status, "headers": raw})

    async def write(self, data: bytes, *, more: bool = True) -> None:
        """A piece of the body; the last one ends it."""
        self.ended = not more
        await self._put({"type": "http.response.body", "body": data, "more_body": more})

    async def whole(self, status: int, headers: Headers, body: bytes) -> None:
        """A response in one piece, of JSON."""
        fixed = [
            ("content-type", "application/json"),
            ("content-length", str(len(body))),
            ("cache-control", "no-store"),
        ]
        await self.open(status, [*fixed, *headers])
        await self.write(body, more=False)

    async def fail(self, fault: FiadorError, headers: Headers = ()) -> None:
        """An error as a response of its own."""
        await self.whole(fault.status, [*headers, *_advice(fault)], openai_chat.encode_error(fault))

    async def _put(self, message: dict[str, object]) -> None:
        if self.gone:
            raise ClientGone
        try:
            async with asyncio.timeout(self._write_s):
                await self._send(message)
        except (OSError, TimeoutError) as fault:  # a client that reads nothing holds a stream for ever
            self.gone = True
            raise ClientGone from fault


def _advice(fault: FiadorError) -> Headers:
    """What a client should do next, in the headers that the SDKs obey."""
    wait_s = getattr(fault, "retry_after_s", None)
    if wait_s is not None:
        yield "retry-after", str(max(1, math.ceil(wait_s)))
    if fault.status in (408, 500) or (wait_s or 0) > RETRY_S_MAX:
        yield "x-should-retry", "false"  # it may have cost money, or the wait is too long to sleep through
    if fault.status == 401:
        yield "www-authenticate", "Bearer"
    if fault.status in (408, 413):
        yield "connection", "close"  # the rest of the body is not read
    if isinstance(fault, LimitError):
        yield "x-fiador-decision", Decision.LIMITED
    elif fault.code in set(Decision):
        yield "x-fiador-decision", fault.code


class JsonReply:
    """Implements `services.Reply` for a request that does not stream: everything at the end, in one body."""

    def __init__(self, line: Line, label: ReplyLabel, request_id: str):
        self._line = line
        self._label = label
        self._id = request_id
        self._texts: list[str] = []

    async def announce_decision(self, decision: Decision) -> None:
        """Kept for the headers."""

    async def write_text(self, released: str) -> None:
        """Kept for the body."""
        if self._line.gone:
            raise ClientGone
        self._texts.append(released)

    async def end_reply(self, end: ReplyEnd) -> None:
        """Sends the body. The decision is always known by now."""
        headers = [("x-fiador-id", self._id), ("x-fiador-decision", end.decision)]
        await self._line.whole(
            200, headers, openai_chat.encode_completion(self._label, "".join(self._texts), end)
        )

    async def fail(self, fault: FiadorError) -> None:
        """Nothing has gone out yet, so a fault is a status."""
        await self._line.fail(fault, [("x-fiador-id", self._id)])

    def close(self) -> None:
        """Nothing runs beside it."""


class SseReply:
    """Implements `services.Reply` for a stream.

    The head goes out with the first text, or after `first_byte_s` without any; from then on a comment
    every `keep_alive_s` tells the client and the proxies between that a sentence is being held.
    """

    def __init__(self, line: Line, encoder: ChunkEncoder, request_id: str, server: tree.Server):
        self._line = line
        self._encoder = encoder
        self._id = request_id
        self._server = server
        self._decision: Decision | None = None
        self._turn = asyncio.Lock()
        self._written_s = 0.0
        self._keeper = asyncio.create_task(self._keep())

    async def announce_decision(self, decision: Decision) -> None:
        """Goes out with the first text, unless the head has gone already."""
        self._decision = decision

    async def write_text(self, released: str) -> None:
        """One chunk."""
        await self._write(self._encoder.encode_text(released))

    async def end_reply(self, end: ReplyEnd) -> None:
        """The last chunks and the end of the body."""
        self.close()
        self._decision = end.decision
        await self._write(self._encoder.encode_end(end), more=False)

    async def fail(self, fault: FiadorError) -> None:
        """A status while it can still be one, else an error event: never a clean end."""
        self.close()
        async with self._turn:
            if self._line.begun:
                await self._line.write(self._encoder.encode_error_event(fault), more=False)
            else:
                await self._line.fail(fault, [("x-fiador-id", self._id)])

    def close(self) -> None:
        """Stops the keep-alives."""
        self._keeper.cancel()

    async def _write(self, data: bytes, *, more: bool = True) -> None:
        async with self._turn:
            if not self._line.begun:
                await self._line.open(200, self._headers())
            await self._line.write(data, more=more)
            self._written_s = asyncio.get_running_loop().time()

    def _headers(self) -> Headers:
        yield "content-type", "text/event-stream; charset=utf-8"
        yield "cache-control", "no-cache"
        yield "x-accel-buffering", "no"
        yield "x-fiador-id", self._id
        if self._decision:
            yield "x-fiador-decision", self._decision

    async def _keep(self) -> None:
        wait_s = self._server.first_byte_s
        with suppress(ClientGone):  # whoever watches the client ends the answer
            while True:
                await asyncio.sleep(wait_s)
                quiet_s = asyncio.get_running_loop().time() - self._written_s
                wait_s = self._server.keep_alive_s
                if quiet_s >= wait_s:
                    await self._write(KEEP_ALIVE)
                else:
                    wait_s -= quiet_s
