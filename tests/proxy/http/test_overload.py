"""proxy.http.overload: beyond the places and the queue a quick 503."""

import asyncio
import json
from pathlib import Path

from starlette.types import Message, Receive, Scope, Send

from proxy.http.overload import OverloadLimiter, read_memory_share
from proxy.settings import tree


class SlowApp:
    """An application that answers once it is let."""

    def __init__(self) -> None:
        self.go_ahead = asyncio.Event()
        self.running = self.running_max = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.running += 1
        self.running_max = max(self.running_max, self.running)
        try:
            await self.go_ahead.wait()
        finally:
            self.running -= 1
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})


def make_limiter(app: SlowApp, **settings: float) -> OverloadLimiter:
    return OverloadLimiter(
        app, tree.ServerSettings.model_validate({"streams_max": 3, "queue_max": 2, "queue_s": 5} | settings)
    )


async def request_path(app: OverloadLimiter, path: str = "/v1/chat/completions") -> list[Message]:
    """What one request is sent."""
    messages: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        messages.append(message)

    await app({"type": "http", "path": path}, receive, send)
    return messages


async def test_beyond_places_and_queue_the_answer_is_a_quick_503() -> None:
    slow = SlowApp()
    app = make_limiter(slow)
    tasks = [asyncio.create_task(request_path(app)) for _ in range(20)]
    await asyncio.sleep(0.02)
    done = [task.result() for task in tasks if task.done()]
    assert len(done) == 15
    assert {said[0]["status"] for said in done} == {503}
    assert {json.loads(said[1]["body"])["error"]["code"] for said in done} == {"overloaded"}
    assert b"retry-after" in dict(done[0][0]["headers"])
    assert (app.running_count, app.waiting_count, app.refused_count, slow.running_max) == (3, 2, 15, 3)
    slow.go_ahead.set()
    rest = await asyncio.gather(*tasks)
    assert [said[0]["status"] for said in rest].count(200) == 5
    assert (app.running_count, app.waiting_count, slow.running_max) == (0, 0, 3)


async def test_who_waits_too_long_gets_a_503_and_its_place_in_the_queue_is_free() -> None:
    slow = SlowApp()
    app = make_limiter(slow, streams_max=1, queue_max=1, queue_s=0.05)
    first = asyncio.create_task(request_path(app))
    await asyncio.sleep(0)
    assert [(await request_path(app))[0]["status"] for _ in range(3)] == [503] * 3
    slow.go_ahead.set()
    await first
    assert (app.running_count, app.waiting_count) == (0, 0)


async def test_a_fault_or_a_cancelled_request_frees_its_place() -> None:
    slow = SlowApp()
    app = make_limiter(slow, streams_max=1, queue_max=0)
    task = asyncio.create_task(request_path(app))
    await asyncio.sleep(0.01)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    slow.go_ahead.set()
    assert (await request_path(app))[0]["status"] == 200


async def test_health_and_readiness_answer_when_nothing_else_does() -> None:
    slow = SlowApp()
    app = make_limiter(slow, streams_max=1, queue_max=0)
    task = asyncio.create_task(request_path(app))
    await asyncio.sleep(0.01)
    assert app.list_obstacles() == ["streams: 1 of 1"]
    asyncio.get_running_loop().call_later(0.01, slow.go_ahead.set)
    assert (await request_path(app, "/readyz"))[0]["status"] == 200
    await task
    assert app.list_obstacles() == []


def test_memory_is_a_share_of_what_this_process_may_have(tmp_path: Path) -> None:
    assert 0 < read_memory_share() < 1
    assert read_memory_share(tmp_path) == 0
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/statm").write_text("9 1024 0")
    (tmp_path / "proc/meminfo").write_text("MemTotal: 16384 kB\n")
    assert read_memory_share(tmp_path) == 0.25
    (tmp_path / "sys/fs/cgroup").mkdir(parents=True)
    (tmp_path / "sys/fs/cgroup/memory.max").write_text("8388608\n")
    assert read_memory_share(tmp_path) == 0.5
    (tmp_path / "sys/fs/cgroup/memory.max").write_text("max\n")
    assert read_memory_share(tmp_path) == 0.25
