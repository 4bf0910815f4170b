"""Runs an ASGI app on a real loopback socket, inside the test's own event loop."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager

import uvicorn
from starlette.types import ASGIApp


@asynccontextmanager
async def serve_app(app: ASGIApp) -> AsyncIterator[str]:
    """The app's base URL, without a slash at its end."""
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        app,
        log_level="critical",
        lifespan="off",
        ws="none",
        loop="none",
        proxy_headers=False,
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    running = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        while not server.started:  # noqa: ASYNC110 - uvicorn has no event for it
            await asyncio.sleep(0.005)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        await running
        listener.close()


def find_free_ports(count: int = 3) -> int:
    """The first of `count` neighbouring ports that nobody listens at."""
    while True:
        with ExitStack() as held:
            first = int(held.enter_context(socket.create_server(("127.0.0.1", 0))).getsockname()[1])
            try:
                for port in range(first + 1, first + count):
                    held.enter_context(socket.create_server(("127.0.0.1", port)))
            except OSError:
                continue
            return first
