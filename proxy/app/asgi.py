"""The ASGI application of one worker: opens the services at start-up, closes them at shutdown."""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path

from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.config import STARTUP_FAILURE

from proxy.app.admin_access import admit
from proxy.app.decision_endpoint import decided
from proxy.app.deployment import Services, open_deployment
from proxy.app.metrics_server import scraped
from proxy.app.push_endpoints import Pushing
from proxy.domain.errors import ConfigError, FiadorError
from proxy.domain.ports import HttpRequest
from proxy.http import routes
from proxy.http.body import head
from proxy.http.overload import Overload
from proxy.http.replies import Line
from proxy.observe import logs
from proxy.observe.metrics import CONTENT_TYPE
from proxy.pipeline.answer import answer
from proxy.settings.load import load
from proxy.settings.tree import Settings

log = logging.getLogger("fiador.app")
NO_FIGURES = "Metrics are for keys with the scope `admin`, or at `server.metrics_port` without a key."
CONFIG, DATA = "FIADOR_SERVE_CONFIG", "FIADOR_SERVE_DATA"
"""How a worker process learns which files it serves: workers are started anew, not forked."""


def create() -> ASGIApp:
    """The application that `fiador serve` hands to uvicorn, in each worker."""
    try:
        settings = load(Path(os.environ[CONFIG]), data_dir=Path(os.environ[DATA]))
    except ConfigError as fault:  # of a file that was changed under a server: its other workers go on
        log.error("%s", fault)
        raise SystemExit(STARTUP_FAILURE) from fault
    logs.setup(settings.log)
    return App(settings)


class App:
    """The lifespan protocol around the routes."""

    def __init__(self, settings: Settings):
        self._settings = settings
        self._serve: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        elif self._serve is not None:
            await self._serve(scope, receive, send)

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        async with AsyncExitStack() as stack:
            await receive()
            try:
                services = await stack.enter_async_context(open_deployment(self._settings))
                pushing = Pushing(services)
                await stack.enter_async_context(_kept(services))
                await stack.enter_async_context(pushing.embedding())
                outer = surface(services, pushing)
                await stack.enter_async_context(scraped(aside(services, outer), self._settings.server))
            except FiadorError as fault:
                told = f"{fault.text} {fault.detail}".strip()
                return await send({"type": "lifespan.startup.failed", "message": told})
            for warning in services.warnings:
                log.warning("%s", warning)
            self._serve = outer
            await send({"type": "lifespan.startup.complete"})
            await receive()
        return await send({"type": "lifespan.shutdown.complete"})


@asynccontextmanager
async def _kept(services: Services) -> AsyncIterator[None]:
    """Takes into the keyword index what other processes write, for as long as this one serves."""
    keeping = asyncio.create_task(services.evidence.lexical.drain_continuously(_behind))
    try:
        yield
    finally:
        keeping.cancel()
        await asyncio.wait([keeping])


def _behind(fault: Exception) -> None:
    log.warning("the keyword index cannot follow: %s: %s", type(fault).__name__, fault)


def surface(services: Services, pushing: Pushing | None = None) -> Overload:
    """The HTTP surface over open_deployment services: what callers see."""
    desk, server, figures = services.desk, services.settings.server, services.metrics

    async def answered(ask: HttpRequest, open_reply: routes.OpenReply) -> None:
        await answer(ask, desk, open_reply)

    async def aliases(ask: HttpRequest) -> Sequence[str]:
        await desk.auth.authenticate(ask.headers, ask.peer)
        return sorted(desk.models)

    async def missing() -> Sequence[str]:
        return await _missing(services, overload)

    async def metrics(scope: Scope, receive: Receive, line: Line) -> None:
        await admit(head(scope), services, NO_FIGURES)
        await _figures(services, line)

    def failed(code: str) -> None:
        figures.count("fiador_errors_total", code=code)

    more: routes.Paths = {
        "/metrics": {"GET": metrics},
        "/v1/decisions/{id}": {"GET": decided(services)},
        **(pushing or Pushing(services)).paths(),
    }
    overload = Overload(routes.build(answered, aliases, missing, server, more=more, failed=failed), server)
    figures.gauge("fiador_streams", "Requests under way.", lambda: overload.running)
    figures.total(
        "fiador_overload_refused_total", "Requests refused for want of a place.", lambda: overload.refused
    )
    return overload


def aside(services: Services, overload: Overload) -> ASGIApp:
    """What scrapers and supervisors see at their own address: figures and health, without a key."""

    async def metrics(scope: Scope, receive: Receive, line: Line) -> None:
        await _figures(services, line)

    paths = {"/metrics": {"GET": metrics}, **routes.probes(partial(_missing, services, overload))}
    return routes.router(paths, services.settings.server)


async def _missing(services: Services, overload: Overload) -> Sequence[str]:
    """Why requests cannot be served now; empty: they can."""
    down = [] if await services.ledger.ready() else [f"ledger: {services.ledger.fault}"]
    return [*down, *overload.missing()]


async def _figures(services: Services, line: Line) -> None:
    await line.open(200, [("content-type", CONTENT_TYPE), ("cache-control", "no-store")])
    await line.write(services.metrics.render().encode(), more=False)
