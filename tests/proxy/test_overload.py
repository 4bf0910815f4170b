"""overload: beyond the places and the queue a quick 503, and no connection waits for ever."""

import asyncio
import json
import pickle
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
import uvicorn
from starlette.types import Message, Receive, Scope, Send

from proxy.overload import Overload, memory, patient
from proxy.settings import tree


class Slow:
    """An application that answers once it is let."""

    def __init__(self) -> None:
        self.free = asyncio.Event()
        self.now = self.most = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            await self.free.wait()
        finally:
            self.now -= 1
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})


def guard(app: Slow, **settings: float) -> Overload:
    return Overload(
        app, tree.Server.model_validate({"streams_max": 3, "queue_max": 2, "queue_s": 5} | settings)
    )


async def asked(app: Overload, path: str = "/v1/chat/completions") -> list[Message]:
    """What one request is sent."""
    said: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        said.append(message)

    await app({"type": "http", "path": path}, receive, send)
    return said


async def test_beyond_places_and_queue_the_answer_is_a_quick_503() -> None:
    slow = Slow()
    app = guard(slow)
    tasks = [asyncio.create_task(asked(app)) for _ in range(20)]
    await asyncio.sleep(0.02)
    done = [task.result() for task in tasks if task.done()]
    assert len(done) == 15
    assert {said[0]["status"] for said in done} == {503}
    assert {json.loads(said[1]["body"])["error"]["code"] for said in done} == {"overloaded"}
    assert b"retry-after" in dict(done[0][0]["headers"])
    assert (app.running, app.waiting, app.refused, slow.most) == (3, 2, 15, 3)
    slow.free.set()
    rest = await asyncio.gather(*tasks)
    assert [said[0]["status"] for said in rest].count(200) == 5
    assert (app.running, app.waiting, slow.most) == (0, 0, 3)


async def test_who_waits_too_long_gets_a_503_and_its_place_in_the_queue_is_free() -> None:
    slow = Slow()
    app = guard(slow, streams_max=1, queue_max=1, queue_s=0.05)
    first = asyncio.create_task(asked(app))
    await asyncio.sleep(0)
    assert [(await asked(app))[0]["status"] for _ in range(3)] == [503] * 3
    slow.free.set()
    await first
    assert (app.running, app.waiting) == (0, 0)


async def test_a_fault_or_a_cancelled_request_frees_its_place() -> None:
    slow = Slow()
    app = guard(slow, streams_max=1, queue_max=0)
    task = asyncio.create_task(asked(app))
    await asyncio.sleep(0.01)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    slow.free.set()
    assert (await asked(app))[0]["status"] == 200


async def test_health_and_readiness_answer_when_nothing_else_does() -> None:
    slow = Slow()
    app = guard(slow, streams_max=1, queue_max=0)
    task = asyncio.create_task(asked(app))
    await asyncio.sleep(0.01)
    assert app.missing() == ["streams: 1 of 1"]
    asyncio.get_running_loop().call_later(0.01, slow.free.set)
    assert (await asked(app, "/readyz"))[0]["status"] == 200
    await task
    assert app.missing() == []


def test_memory_is_a_share_of_what_this_process_may_have(tmp_path: Path) -> None:
    assert 0 < memory() < 1
    assert memory(tmp_path) == 0
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/statm").write_text("9 1024 0")
    (tmp_path / "proc/meminfo").write_text("MemTotal: 16384 kB\n")
    assert memory(tmp_path) == 0.25
    (tmp_path / "sys/fs/cgroup").mkdir(parents=True)
    (tmp_path / "sys/fs/cgroup/memory.max").write_text("8388608\n")
    assert memory(tmp_path) == 0.5
    (tmp_path / "sys/fs/cgroup/memory.max").write_text("max\n")
    assert memory(tmp_path) == 0.25


@asynccontextmanager
async def serving(header_s: float) -> AsyncIterator[int]:
    """A real server on a loopback port, whose application answers at once."""
    slow = Slow()
    slow.free.set()
    config = uvicorn.Config(slow, http=patient(header_s), lifespan="off", log_config=None, ws="none")
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        task = asyncio.create_task(server.serve([listener]))
        try:
            yield listener.getsockname()[1]
        finally:
            server.should_exit = True
            await task


@pytest.mark.parametrize(
    "pieces", [[], ["GET / HTTP/1.1\r\n", "x: 1\r\n", "x: 2\r\n", "x: 3\r\n"]], ids=["silent", "dripping"]
)
async def test_a_connection_without_a_whole_request_is_closed_in_time(pieces: list[str]) -> None:
    async with serving(header_s=0.2) as port:
        began = time.monotonic()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for piece in pieces:
            writer.write(piece.encode())
            await asyncio.sleep(0.08)
        assert await asyncio.wait_for(reader.read(), 2) == b""
        assert time.monotonic() - began < 1
        writer.close()


def test_the_protocol_can_be_handed_to_worker_processes() -> None:
    assert pickle.loads(pickle.dumps(patient(3))).keywords == {"header_s": 3}


@pytest.mark.parametrize("piece", [b"x" * 10_000, b"x: 1\r\n" * 2_000], ids=["one", "many"])
async def test_headers_without_an_end_are_not_collected(piece: bytes) -> None:
    async with serving(header_s=5) as port:
        began = time.monotonic()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET / HTTP/1.1\r\nx: ")
        with suppress(ConnectionError):
            for _ in range(12):
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(0.01)
            assert b"200" not in await asyncio.wait_for(reader.read(), 2)
        assert time.monotonic() - began < 2


async def test_a_whole_request_is_answered_and_the_connection_stays_for_the_next() -> None:
    async with serving(header_s=0.2) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for _ in range(2):
            writer.write(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")
            assert b"200" in await asyncio.wait_for(reader.readline(), 2)
            while await asyncio.wait_for(reader.readline(), 2) != b"\r\n":
                pass
            assert await reader.readexactly(2) == b"ok"
            await asyncio.sleep(0.3)
        writer.close()
