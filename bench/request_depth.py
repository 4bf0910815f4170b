"""How deep one request goes: the own functions between the route and the gate, while a real upstream streams.

A task that waits for another one is part of the way: what stood on the stack when it was made counts too.
"""

import asyncio
import contextlib
import sys
import tempfile
from collections.abc import Coroutine, MutableMapping
from pathlib import Path
from types import FrameType
from typing import Any

import orjson

from bench.overhead import CONFIG, DOCUMENT, REQUEST_BODY
from bench.serving import start_upstream
from proxy.app.asgi import build_surface
from proxy.app.deployment import open_deployment
from proxy.commands.sync import sync_index
from proxy.gate.gate import Gate
from proxy.settings.load import load_settings

ROOT = Path(__file__).parent.parent
ENDPOINT = "proxy/http/routes.py:_ChatEndpoint.__call__"
OWN = ("proxy/", "indexes/")


def measure_depth() -> list[str]:
    """`file:function`, from the endpoint of the route to `Gate.feed`, in the order of the calls."""
    with start_upstream() as port, tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "docs").mkdir()
        (home / "docs" / "hours.md").write_text(DOCUMENT, "utf-8")
        config = CONFIG.format(port=port).replace("join_retries_s = 0\n", "")  # as it is by default
        (home / "fiador.toml").write_text(config, "utf-8")
        return asyncio.run(trace_request(home / "fiador.toml"))


async def trace_request(config: Path) -> list[str]:
    """Answers one request in this process, and keeps the way to the first call of the gate."""
    frames: list[str] = []
    creators: MutableMapping[asyncio.Task[Any], list[str]] = {}
    feed = Gate.feed

    def make_task(
        loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, Any], **kind: Any
    ) -> asyncio.Task[Any]:
        task: asyncio.Task[Any] = asyncio.Task(work, loop=loop, **kind)
        creators[task] = list_frames(sys._getframe(1), creators)
        return task

    def feed_first(gate: Gate, text: str) -> Any:
        if not frames:
            frames.extend([*list_frames(sys._getframe(1), creators), "proxy/gate/gate.py:Gate.feed"])
        return feed(gate, text)

    asyncio.get_running_loop().set_task_factory(make_task)  # type: ignore[arg-type]
    async with open_deployment(load_settings(config)) as services:
        await sync_index(services.settings, services.evidence, services.packs)
        Gate.feed = feed_first  # type: ignore[method-assign, assignment]
        try:
            await asyncio.create_task(call_app(build_surface(services)))
        finally:
            Gate.feed = feed  # type: ignore[method-assign]
    return frames[frames.index(ENDPOINT) :]


def list_frames(frame: FrameType | None, creators: MutableMapping[asyncio.Task[Any], list[str]]) -> list[str]:
    """The own functions on the stack of `frame`, below those on the stack that made its task."""
    own: list[str] = []
    while frame is not None:
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(ROOT) and (shown := path.relative_to(ROOT).as_posix()).startswith(OWN):
            own.append(f"{shown}:{frame.f_code.co_qualname}")
        frame = frame.f_back
    with contextlib.suppress(RuntimeError):
        task = asyncio.current_task()
        if task is not None:
            return [*creators.get(task, []), *reversed(own)]
    return own[::-1]


async def call_app(app: Any) -> None:
    """One streaming request over plain ASGI."""
    body = orjson.dumps(REQUEST_BODY | {"stream": True})
    messages = [{"type": "http.request", "body": body, "more_body": False}]
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/v1/chat/completions",
        "raw_path": b"/v1/chat/completions",
        "headers": [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())],
        "client": ("127.0.0.1", 1),
    }

    async def receive() -> dict[str, object]:
        if messages:
            return messages.pop()
        await asyncio.Event().wait()
        raise AssertionError("the client never leaves")

    async def send(message: object) -> None:
        """Read by nobody."""

    await app(scope, receive, send)
