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

from proxy.app.admin_access import require_operator
from proxy.app.decision_endpoint import build_decision_endpoint
from proxy.app.deployment import Deployment, open_deployment
from proxy.app.metrics_server import serve_metrics
from proxy.app.push_endpoints import PushEndpoints
from proxy.domain.errors import ConfigError, FiadorError
from proxy.domain.ports import HttpRequest
from proxy.http import routes
from proxy.http.body import read_request_head
from proxy.http.overload import OverloadLimiter
from proxy.http.replies import ResponseWriter
from proxy.observe import logs
from proxy.observe.metrics import CONTENT_TYPE
from proxy.pipeline.answer import answer
from proxy.settings.load import load_settings
from proxy.settings.tree import Settings

log = logging.getLogger("fiador.app")
METRICS_DENIAL = "Metrics are for keys with the scope `admin`, or at `server.metrics_port` without a key."
CONFIG_VARIABLE, DATA_VARIABLE = "FIADOR_SERVE_CONFIG", "FIADOR_SERVE_DATA"
"""How a worker process learns which files it serves: workers are started anew, not forked."""


def create_app() -> ASGIApp:
    """The application that `fiador serve` hands to uvicorn, in each worker."""
    try:
        settings = load_settings(Path(os.environ[CONFIG_VARIABLE]), data_dir=Path(os.environ[DATA_VARIABLE]))
    except ConfigError as fault:  # of a file that was changed under a server: its other workers go on
        log.error("%s", fault)
        raise SystemExit(STARTUP_FAILURE) from fault
    logs.configure_logging(settings.log)
    return LifespanApp(settings)


class LifespanApp:
    """The lifespan protocol around the routes."""

    def __init__(self, settings: Settings):
        self._settings = settings
        self._surface: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._run_lifespan(receive, send)
        elif self._surface is not None:
            await self._surface(scope, receive, send)

    async def _run_lifespan(self, receive: Receive, send: Send) -> None:
        async with AsyncExitStack() as stack:
            await receive()
            try:
                deployment = await stack.enter_async_context(open_deployment(self._settings))
                push_endpoints = PushEndpoints(deployment)
                await stack.enter_async_context(_follow_keyword_changes(deployment))
                await stack.enter_async_context(push_endpoints.embed_in_background())
                surface = build_surface(deployment, push_endpoints)
                await stack.enter_async_context(
                    serve_metrics(build_metrics_app(deployment, surface), self._settings.server)
                )
            except FiadorError as fault:
                message = f"{fault.text} {fault.detail}".strip()
                return await send({"type": "lifespan.startup.failed", "message": message})
            for warning in deployment.warnings:
                log.warning("%s", warning)
            self._surface = surface
            await send({"type": "lifespan.startup.complete"})
            await receive()
        return await send({"type": "lifespan.shutdown.complete"})


@asynccontextmanager
async def _follow_keyword_changes(deployment: Deployment) -> AsyncIterator[None]:
    """Takes into the keyword index what other processes write, for as long as this one serves."""
    task = asyncio.create_task(deployment.evidence.keyword_index.drain_continuously(_warn_of_lag))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])


def _warn_of_lag(error: Exception) -> None:
    log.warning("the keyword index cannot follow: %s: %s", type(error).__name__, error)


def build_surface(deployment: Deployment, push_endpoints: PushEndpoints | None = None) -> OverloadLimiter:
    """The HTTP surface over an opened deployment: what callers see."""
    context, server, registry = deployment.context, deployment.settings.server, deployment.metrics

    async def list_aliases(request: HttpRequest) -> Sequence[str]:
        await context.auth.authenticate(request.headers, request.peer)
        return sorted(context.models)

    async def list_obstacles() -> Sequence[str]:
        return await _list_obstacles(deployment, overload)

    async def show_metrics(scope: Scope, receive: Receive, writer: ResponseWriter) -> None:
        await require_operator(read_request_head(scope), deployment, METRICS_DENIAL)
        await _write_metrics(deployment, writer)

    def count_error(code: str) -> None:
        registry.increment_counter("fiador_errors_total", code=code)

    extra_routes: routes.RouteTable = {
        "/metrics": {"GET": show_metrics},
        "/v1/decisions/{id}": {"GET": build_decision_endpoint(deployment)},
        **(push_endpoints or PushEndpoints(deployment)).build_routes(),
    }
    overload = OverloadLimiter(
        routes.build_app(
            partial(answer, context=context),
            list_aliases,
            list_obstacles,
            server,
            extra_routes=extra_routes,
            count_error=count_error,
        ),
        server,
    )
    registry.register_gauge("fiador_streams", "Requests under way.", lambda: overload.running_count)
    registry.register_counter(
        "fiador_overload_refused_total",
        "Requests refused for want of a place.",
        lambda: overload.refused_count,
    )
    return overload


def build_metrics_app(deployment: Deployment, overload: OverloadLimiter) -> ASGIApp:
    """What scrapers and supervisors see at their own address: figures and health, without a key."""

    async def show_metrics(scope: Scope, receive: Receive, writer: ResponseWriter) -> None:
        await _write_metrics(deployment, writer)

    metrics_routes = {
        "/metrics": {"GET": show_metrics},
        **routes.build_probes(partial(_list_obstacles, deployment, overload)),
    }
    return routes.build_router(metrics_routes, deployment.settings.server)


async def _list_obstacles(deployment: Deployment, overload: OverloadLimiter) -> Sequence[str]:
    """Why requests cannot be served now; empty: they can."""
    ledger_faults = [] if await deployment.ledger.is_writable() else [f"ledger: {deployment.ledger.fault}"]
    return [*ledger_faults, *overload.list_obstacles()]


async def _write_metrics(deployment: Deployment, writer: ResponseWriter) -> None:
    await writer.open(200, [("content-type", CONTENT_TYPE), ("cache-control", "no-store")])
    await writer.write(deployment.metrics.render().encode(), more=False)
