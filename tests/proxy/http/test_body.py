"""What a request must say of its body, and how long and how large a body is waited for."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress

import httpx
import pytest

from tests.proxy.http.http_surface import BODY, open_surface, send_raw_request


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd"])
async def test_compressed_bodies_are_not_unpacked(encoding: str) -> None:
    async with open_surface() as client:
        response = await client.post(
            "/v1/chat/completions", json=BODY, headers={"content-encoding": encoding}
        )
    assert response.status_code == 415


async def test_a_form_is_no_json() -> None:
    async with open_surface() as client:
        assert (await client.post("/v1/chat/completions", data={"a": "b"})).status_code == 415


async def test_a_body_of_no_stated_type_is_refused() -> None:
    """Any web page may post one to a server of the reader's own machine, which then pays for it."""
    async with open_surface() as client:
        assert (await client.post("/v1/chat/completions", content=json.dumps(BODY))).status_code == 415


async def test_a_body_too_large_is_refused_by_its_announced_length() -> None:
    async with open_surface(body_bytes_max=1000) as client:
        response = await client.post(
            "/v1/chat/completions", content=b" " * 1001, headers={"content-type": "application/json"}
        )
    assert (response.status_code, response.json()["error"]["code"]) == (413, "body_too_large")


async def test_a_body_too_large_is_refused_while_it_is_read() -> None:
    """Without an announced length nothing past the limit is waited for."""
    sent = 0

    async def stream_body() -> AsyncIterator[bytes]:
        nonlocal sent
        while True:
            sent += 500
            yield b" " * 500
            await asyncio.sleep(0.01)

    async with open_surface(body_bytes_max=1000) as client:
        with suppress(httpx.WriteError, httpx.ReadError):
            response = await client.post(
                "/v1/chat/completions", content=stream_body(), headers={"content-type": "application/json"}
            )
            assert response.status_code == 413
    assert sent < 100_000


async def test_a_body_that_stops_coming_is_not_waited_for() -> None:
    async with open_surface(header_s=0.1) as client:
        got = await send_raw_request(
            client,
            "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n"
            "Content-Type: application/json\r\n\r\n{",
        )
    assert " 408 " in got.split("\r\n")[0]
    assert "x-should-retry: false" in got


async def test_a_body_that_trickles_is_not_waited_for() -> None:
    """Each byte in time, but for ever: nobody knows yet who sends it, and it holds a place."""
    async with open_surface(header_s=0.2) as client:
        reader, writer = await asyncio.open_connection(client.base_url.host, client.base_url.port)
        head = "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n"
        writer.write(f"{head}Content-Type: application/json\r\n\r\n".encode())
        status = asyncio.create_task(reader.readline())
        while not status.done():
            writer.write(b" ")
            await asyncio.sleep(0.03)
        assert b" 408 " in await status
        writer.close()
