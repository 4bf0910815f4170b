"""The ASGI application of one worker: opens the services at start-up, closes them at shutdown."""

import os
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from starlette.types import ASGIApp, Receive, Scope, Send

from proxy import routes
from proxy.app.opened import Services, opened
from proxy.observe import logs
from proxy.pipeline import answer
from proxy.services import Ask
from proxy.settings.load import load
from proxy.settings.tree import Settings

CONFIG, DATA = "FIADOR_SERVE_CONFIG", "FIADOR_SERVE_DATA"
"""How a worker process learns which files it serves: workers are started anew, not forked."""


def create() -> ASGIApp:
    """The application that `fiador serve` hands to uvicorn, in each worker."""
    settings = load(Path(os.environ[CONFIG]), data_dir=Path(os.environ[DATA]))
    logs.setup(settings.log)
    return App(settings)


class App:
    """The lifespan protocol around the routes."""

    def __init__(self, settings: Settings):
        self._settings = settings
        self._stack = AsyncExitStack()
        self._serve: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        elif self._serve is not None:
            await self._serve(scope, receive, send)

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        async with self._stack:
            while True:
                message = await receive()
                if message["type"] == "lifespan.startup":
                    try:
                        services = await self._stack.enter_async_context(opened(self._settings))
                        self._serve = surface(services)
                    except Exception as fault:
                        await send({"type": "lifespan.startup.failed", "message": str(fault)})
                        return
                    await send({"type": "lifespan.startup.complete"})
                else:
                    break
        await send({"type": "lifespan.shutdown.complete"})


def surface(services: Services) -> ASGIApp:
    """The HTTP surface over opened services."""
    desk = services.desk

    async def answered(ask: Ask, open_reply: routes.OpenReply) -> None:
        await answer(ask, desk, open_reply)

    async def aliases(ask: Ask) -> Sequence[str]:
        await desk.auth.authenticate(ask.headers, ask.peer)
        return sorted(desk.models)

    async def missing() -> Sequence[str]:
        return [f"ledger: {services.ledger.fault}"] if services.ledger.fault else []

    return routes.build(answered, aliases, missing, services.settings.server)
