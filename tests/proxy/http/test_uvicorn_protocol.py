"""proxy.http.uvicorn_protocol: no waiting for ever, an envelope for what is no HTTP, no upgrade."""

import asyncio
import json
import pickle
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from proxy.http.uvicorn_protocol import make_http_protocol
from tests.waiting import wait_until


async def echo_body(scope: Scope, receive: Receive, send: Send) -> None:
    """Says the body that it got, after a moment: as one that is still at work."""
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    length = str(len(body)).encode()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", length)]})
    await send({"type": "http.response.body", "body": body})


@asynccontextmanager
async def serve_echo(header_s: float) -> AsyncIterator[int]:
    """A real server on a loopback port, whose application answers at once."""
    config = uvicorn.Config(
        echo_body, http=make_http_protocol(header_s), lifespan="off", log_config=None, ws="none"
    )
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        task = asyncio.create_task(server.serve([listener]))
        try:
            yield listener.getsockname()[1]
        finally:
            server.should_exit = True
            await task


@pytest.mark.parametrize("dripping", [False, True], ids=["silent", "dripping"])
async def test_a_connection_without_a_whole_request_is_closed_in_time(dripping: bool) -> None:
    """Also one on which there is always something more: no piece puts the end off."""
    async with serve_echo(header_s=0.2) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        over = asyncio.create_task(reader.read())

        def is_closed() -> bool:
            if dripping and not over.done():
                writer.write(b"x: 1\r\n")
            return over.done()

        writer.write(b"GET / HTTP/1.1\r\n" if dripping else b"")
        await wait_until(is_closed, within_s=20)
        with suppress(ConnectionError):
            assert await over == b""
        writer.close()


def test_the_protocol_can_be_handed_to_worker_processes() -> None:
    assert pickle.loads(pickle.dumps(make_http_protocol(3))).keywords == {"header_s": 3}


@pytest.mark.parametrize("piece", [b"x" * 10_000, b"x: 1\r\n" * 2_000], ids=["one", "many"])
async def test_headers_without_an_end_are_not_collected(piece: bytes) -> None:
    async with serve_echo(header_s=600) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET / HTTP/1.1\r\nx: ")
        with suppress(ConnectionError):
            for _ in range(12):
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(0.01)
            assert b" 431 " in await asyncio.wait_for(reader.read(), 60)


async def test_a_whole_request_is_answered_and_the_connection_stays_for_the_next() -> None:
    async with serve_echo(header_s=0.2) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for _ in range(2):
            writer.write(b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\nok")
            assert b"200" in await asyncio.wait_for(reader.readline(), 2)
            while await asyncio.wait_for(reader.readline(), 2) != b"\r\n":
                pass
            assert await reader.readexactly(2) == b"ok"
            await asyncio.sleep(0.3)
        writer.close()


OFFER = (
    b"Host: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n"
)
LENGTH = b"Content-Length: 5\r\n\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    "pieces",
    [
        [OFFER + LENGTH + b"hello"],
        [OFFER + LENGTH, b"hello"],
        [OFFER + CHUNKED + b"5\r\nhello\r\n0\r\n\r\n"],
        [OFFER.lower() + LENGTH, b"hel", b"lo"],
        [OFFER + b"Upgrade: websocket\r\n" + LENGTH + b"hello"],
    ],
    ids=["length", "two pieces", "chunked", "lower case", "twice"],
)
async def test_an_offer_of_http_2_is_left_aside_and_the_body_read(pieces: list[bytes]) -> None:
    """Java's own client makes one with every request over plain text, also on a connection in use."""
    async with serve_echo(header_s=5) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for _ in range(2):
            for piece in (b"POST / HTTP/1.1\r\n", *pieces):
                writer.write(piece)
                await asyncio.sleep(0.02)
            assert b" 200 " in await asyncio.wait_for(reader.readuntil(b"hello"), 2)
        writer.close()


async def test_a_body_that_looks_like_an_offer_comes_as_it_is() -> None:
    body = b"\r\nupgrade: h2c\r\n"
    async with serve_echo(header_s=5) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
        assert await asyncio.wait_for(reader.readuntil(body), 2)
        writer.close()


@pytest.mark.parametrize(
    "request_",
    [
        b"HELLO / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"GET / HTTP/1.1\r\nno colon\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
    ids=["method", "version", "tls", "header", "two lengths", "length and chunks", "chunk size"],
)
async def test_what_is_no_http_gets_the_envelope(request_: bytes) -> None:
    async with serve_echo(header_s=5) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request_)
        head, _, body = (await asyncio.wait_for(reader.read(), 2)).partition(b"\r\n\r\n")
        writer.close()
    assert head.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    error = json.loads(body)["error"]
    assert (error["code"], error.keys()) == ("invalid_http", {"message", "type", "param", "code"})
