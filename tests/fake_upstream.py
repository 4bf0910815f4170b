"""Stand-ins that run for real: an upstream on a socket that plays a script, counts calls and sees who leaves.

async with FakeUpstream(script_answer("Ada wrote it [1].")) as fake:
    ...  # point an upstream at fake.url
assert len(fake.calls) == 1 and fake.left == 0
"""

import asyncio
import json
import ssl
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType

from proxy.domain.types import Usage


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """One request as it reached the fake."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> dict[str, object]:
        value: dict[str, object] = json.loads(self.body)
        return value


class ResponsePlayer:
    """The fake's side of one exchange. What it sends goes out as chunked HTTP, one write a call."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        self._reader = reader
        self._writer = writer
        self.closes = False
        """Whether the connection ends with this exchange."""
        self.left = False
        """Whether it was the other side that ended it."""

    async def send_head(
        self, status: int = 200, content_type: str = "text/event-stream", **headers: str
    ) -> None:
        """The response's head; underscores in a header's name stand for hyphens."""
        lines = [f"HTTP/1.1 {status} Fake", f"content-type: {content_type}", "transfer-encoding: chunked"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        await self.send_raw("\r\n".join([*lines, "", ""]).encode())

    async def send_chunk(self, data: bytes) -> None:
        """Bytes that the other side sees in one read, if the network so pleases."""
        await self.send_raw(b"%x\r\n%s\r\n" % (len(data), data) if data else b"")

    async def end_body(self) -> None:
        """The end of the body; the connection stays open for the next request."""
        await self.send_raw(b"0\r\n\r\n")

    async def send_raw(self, data: bytes) -> None:
        """Bytes outside of any framing."""
        self._writer.write(data)
        await self._writer.drain()

    async def await_close(self) -> None:
        """Waits until the other side closes the connection."""
        self.closes = self.left = True
        while await self._reader.read(1000):
            pass

    def close_early(self) -> None:
        """Closes in the middle, politely."""
        self.closes = True
        self._writer.close()

    def reset_connection(self) -> None:
        """Tears the connection down (RST)."""
        self.closes = True
        self._writer.transport.abort()


ResponseScript = Callable[[ReceivedRequest, ResponsePlayer], Awaitable[None]]


@dataclass
class FakeUpstream:
    """An HTTP server on loopback. `play` is called for each request and may be replaced between them."""

    play: ResponseScript
    calls: list[ReceivedRequest] = field(default_factory=list)
    left: int = 0
    """Exchanges whose client went away before their end."""
    departed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when somebody has left."""
    connections: int = 0
    tls: ssl.SSLContext | None = None
    _server: asyncio.Server | None = None
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def url(self) -> str:
        assert self._server
        scheme = "https" if self.tls else "http"
        return f"{scheme}://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def __aenter__(self) -> "FakeUpstream":
        self._server = await asyncio.start_server(self._accept_connection, "127.0.0.1", 0, ssl=self.tls)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _accept_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.current_task()
        assert task
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            while (received := await _receive_request(reader)) and await self._serve_exchange(
                received, reader, writer
            ):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _serve_exchange(
        self, received: ReceivedRequest, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """Plays one exchange. Returns whether the connection may carry another one."""
        self.calls.append(received)
        player = ResponsePlayer(reader, writer)
        playing = asyncio.ensure_future(self.play(received, player))
        leaving = asyncio.ensure_future(_await_eof(reader))
        try:
            await asyncio.wait((playing, leaving), return_when=asyncio.FIRST_COMPLETED)
            if not playing.done() or player.left or isinstance(playing.exception(), ConnectionError):
                self.left += 1
                self.departed.set()
                return False
            playing.result()
            return not player.closes
        finally:
            for task in (playing, leaving):
                task.cancel()
                with suppress(asyncio.CancelledError, ConnectionError):
                    await task


async def _await_eof(reader: asyncio.StreamReader) -> None:
    """Waits for the other side to close; takes no byte of a next request."""
    while not reader.at_eof() and reader.exception() is None:  # noqa: ASYNC110 - a reader has no such event
        await asyncio.sleep(0.005)


async def _receive_request(reader: asyncio.StreamReader) -> ReceivedRequest | None:
    head = await reader.readuntil(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return ReceivedRequest(first.split(" ")[1], headers, body)


def make_chunk(delta: dict[str, object], finish: str | None = None, **fields: object) -> bytes:
    """One event as OpenAI sends it."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    value = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    return b"data: " + json.dumps(value | fields).encode() + b"\n\n"


DONE = b"data: [DONE]\n\n"
USAGE = Usage(10, 5)


def make_openai_stream(
    pieces: Sequence[str], usage: Usage | None = USAGE, finish: str = "stop"
) -> list[bytes]:
    """The reads of an ordinary answer, one piece a read."""
    reads = [
        make_chunk({"role": "assistant", "content": ""}),
        *(make_chunk({"content": piece}) for piece in pieces),
    ]
    reads.append(make_chunk({}, finish))
    if usage:
        counts = {"prompt_tokens": usage.input, "completion_tokens": usage.output}
        reads.append(make_chunk({}, usage=counts, choices=[]))
    return [*reads, DONE]


def make_anthropic_stream(
    pieces: Sequence[str], usage: Usage = USAGE, finish: str = "end_turn"
) -> list[bytes]:
    """The same as the Messages API says it."""
    start = {"message": {"role": "assistant", "usage": {"input_tokens": usage.input, "output_tokens": 1}}}
    block = {"index": 0, "content_block": {"type": "text", "text": ""}}
    deltas = [{"index": 0, "delta": {"type": "text_delta", "text": piece}} for piece in pieces]
    last = {"delta": {"stop_reason": finish}, "usage": {"output_tokens": usage.output}}
    return [
        make_named_event("message_start", start),
        make_named_event("content_block_start", block),
        *(make_named_event("content_block_delta", delta) for delta in deltas),
        make_named_event("content_block_stop", {"index": 0}),
        make_named_event("message_delta", last),
        make_named_event("message_stop", {}),
    ]


def make_named_event(name: str, value: object) -> bytes:
    """One named event whose data repeats the name as its type."""
    fields = value if isinstance(value, dict) else {}
    return f"event: {name}\ndata: {json.dumps({'type': name} | fields)}\n\n".encode()


def script_answer(
    *pieces: str, usage: Usage | None = USAGE, finish: str = "stop", pause_s: float = 0
) -> ResponseScript:
    """Plays an ordinary OpenAI answer."""
    return script_reads(make_openai_stream(pieces, usage, finish), pause_s=pause_s)


def script_reads(
    reads: Sequence[bytes], *, pause_s: float = 0, content_type: str = "text/event-stream"
) -> ResponseScript:
    """Plays recorded reads, then ends the body."""

    async def play_reads(received: ReceivedRequest, player: ResponsePlayer) -> None:
        await player.send_head(content_type=content_type)
        for data in reads:
            await player.send_chunk(data)
            await asyncio.sleep(pause_s)
        await player.end_body()

    return play_reads


def script_error(status: int, body: bytes = b"{}", **headers: str) -> ResponseScript:
    """Plays an HTTP error."""

    async def play_error(received: ReceivedRequest, player: ResponsePlayer) -> None:
        await player.send_head(status, "application/json", **headers)
        await player.send_chunk(body)
        await player.end_body()

    return play_error
