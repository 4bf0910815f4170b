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


class ResponseWriter:
    """The connection to one client. Every write raises `ClientGone` once nobody listens any more."""

    def __init__(self, send: Send, write_timeout_s: float):
        self._send = send
        self._write_s = write_timeout_s
        self.is_started = False
        """Whether the status has gone out: then a fault can no longer be a status."""
        self.is_ended = False
        self.is_client_gone = False
        """Set by whoever sees the client leave; a server's `send` does not say so."""

    async def open(self, status: int, headers: Headers) -> None:
        """Status and headers."""
        self.is_started = True
        raw = [(name.encode(), value.encode()) for name, value in headers]
        await self._send_message({"type": "http.response.start", "status": status, "headers": raw})

    async def write(self, data: bytes, *, more: bool = True) -> None:
        """A piece of the body; the last one ends it."""
        self.is_ended = not more
        await self._send_message({"type": "http.response.body", "body": data, "more_body": more})

    async def write_json(self, status: int, headers: Headers, body: bytes) -> None:
        """A response in one piece, of JSON."""
        fixed = [
            ("content-type", "application/json"),
            ("content-length", str(len(body))),
            ("cache-control", "no-store"),
        ]
        await self.open(status, [*fixed, *headers])
        await self.write(body, more=False)

    async def write_error(self, error: FiadorError, headers: Headers = ()) -> None:
        """An error as a response of its own."""
        await self.write_json(
            error.status, [*headers, *_build_error_headers(error)], openai_chat.encode_error(error)
        )

    async def _send_message(self, message: dict[str, object]) -> None:
        if self.is_client_gone:
            raise ClientGone
        try:
            async with asyncio.timeout(self._write_s):
                await self._send(message)
        except (OSError, TimeoutError) as fault:  # a client that reads nothing holds a stream for ever
            self.is_client_gone = True
            raise ClientGone from fault


def _build_error_headers(error: FiadorError) -> Headers:
    """What a client should do next, in the headers that the SDKs obey."""
    wait_s = getattr(error, "retry_after_s", None)
    if wait_s is not None:
        yield "retry-after", str(max(1, math.ceil(wait_s)))
    if error.status in (408, 500) or (wait_s or 0) > RETRY_S_MAX:
        yield "x-should-retry", "false"  # it may have cost money, or the wait is too long to sleep through
    if error.status == 401:
        yield "www-authenticate", "Bearer"
    if error.status in (408, 413):
        yield "connection", "close"  # the rest of the body is not read
    if isinstance(error, LimitError):
        yield "x-fiador-decision", Decision.LIMITED
    elif error.code in set(Decision):
        yield "x-fiador-decision", error.code


class JsonReply:
    """Implements `ports.Reply` for a request that does not stream: everything at the end, in one body."""

    def __init__(self, writer: ResponseWriter, label: ReplyLabel, request_id: str):
        self._writer = writer
        self._label = label
        self._request_id = request_id
        self._texts: list[str] = []

    async def announce_decision(self, decision: Decision) -> None:
        """Kept for the headers."""

    async def write_text(self, released: str) -> None:
        """Kept for the body."""
        if self._writer.is_client_gone:
            raise ClientGone
        self._texts.append(released)

    async def end_reply(self, end: ReplyEnd) -> None:
        """Sends the body. The decision is always known by now."""
        headers = [("x-fiador-id", self._request_id), ("x-fiador-decision", end.decision)]
        await self._writer.write_json(
            200, headers, openai_chat.encode_completion(self._label, "".join(self._texts), end)
        )

    async def fail_reply(self, error: FiadorError) -> None:
        """Nothing has gone out yet, so a fault is a status."""
        await self._writer.write_error(error, [("x-fiador-id", self._request_id)])

    def close(self) -> None:
        """Nothing runs beside it."""


class SseReply:
    """Implements `ports.Reply` for a stream.

    The head goes out with the first text, or after `first_byte_s` without any; from then on a comment
    every `keep_alive_s` tells the client and the proxies between that a sentence is being held.
    """

    def __init__(
        self, writer: ResponseWriter, encoder: ChunkEncoder, request_id: str, server: tree.ServerSettings
    ):
        self._writer = writer
        self._encoder = encoder
        self._request_id = request_id
        self._server = server
        self._decision: Decision | None = None
        self._write_lock = asyncio.Lock()
        self._last_write_s = 0.0
        self._keep_alive_task = asyncio.create_task(self._send_keep_alives())

    async def announce_decision(self, decision: Decision) -> None:
        """Goes out with the first text, unless the head has gone already."""
        self._decision = decision

    async def write_text(self, released: str) -> None:
        """One chunk."""
        await self._write_stream(self._encoder.encode_text(released))

    async def end_reply(self, end: ReplyEnd) -> None:
        """The last chunks and the end of the body."""
        self.close()
        self._decision = end.decision
        await self._write_stream(self._encoder.encode_end(end), more=False)

    async def fail_reply(self, error: FiadorError) -> None:
        """A status while it can still be one, else an error event: never a clean end."""
        self.close()
        async with self._write_lock:
            if self._writer.is_started:
                await self._writer.write(self._encoder.encode_error_event(error), more=False)
            else:
                await self._writer.write_error(error, [("x-fiador-id", self._request_id)])

    def close(self) -> None:
        """Stops the keep-alives."""
        self._keep_alive_task.cancel()

    async def _write_stream(self, data: bytes, *, more: bool = True) -> None:
        async with self._write_lock:
            if not self._writer.is_started:
                await self._writer.open(200, self._build_stream_headers())
            await self._writer.write(data, more=more)
            self._last_write_s = asyncio.get_running_loop().time()

    def _build_stream_headers(self) -> Headers:
        yield "content-type", "text/event-stream; charset=utf-8"
        yield "cache-control", "no-cache"
        yield "x-accel-buffering", "no"
        yield "x-fiador-id", self._request_id
        if self._decision:
            yield "x-fiador-decision", self._decision

    async def _send_keep_alives(self) -> None:
        wait_s = self._server.first_byte_s
        with suppress(ClientGone):  # whoever watches the client ends the answer
            while True:
                await asyncio.sleep(wait_s)
                quiet_s = asyncio.get_running_loop().time() - self._last_write_s
                wait_s = self._server.keep_alive_s
                if quiet_s >= wait_s:
                    await self._write_stream(KEEP_ALIVE)
                else:
                    wait_s -= quiet_s
