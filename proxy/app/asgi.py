"""The ASGI application of one worker: opens the deployment at start-up, closes it at shutdown."""

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
from proxy.app.decision_endpoint import show_decision
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
from proxy.observe.metrics import CONTENT_TYPE, Metrics
from proxy.pipeline.answer import answer
from proxy.pipeline.context import AnswerContext
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
    """ASGI's lifespan protocol around the HTTP surface: the surface is there while the deployment is open."""

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
    context, server = deployment.context, deployment.settings.server

    async def list_obstacles() -> Sequence[str]:  # here, as `overload` stands around the app that calls it
        return await _list_obstacles(deployment, overload)

    extra_routes: routes.RouteTable = {
        "/metrics": {"GET": partial(_show_metrics_to_operator, deployment)},
        "/v1/decisions/{id}": {"GET": partial(show_decision, deployment)},
        **(push_endpoints or PushEndpoints(deployment)).build_routes(),
    }
    app = routes.build_app(
        partial(answer, context=context),
        partial(_list_aliases, context),
        list_obstacles,
        server,
        extra_routes=extra_routes,
        count_error=partial(_count_error, deployment.metrics),
    )
    overload = OverloadLimiter(app, server)
    _register_load(deployment.metrics, overload)
    return overload


async def _list_aliases(context: AnswerContext, request: HttpRequest) -> Sequence[str]:
    """The models that a caller may name: every caller all of them."""
    await context.auth.authenticate(request.headers, request.peer)
    return sorted(context.models)


def _count_error(metrics: Metrics, code: str) -> None:
    metrics.increment_counter("fiador_errors_total", code=code)


def _register_load(metrics: Metrics, overload: OverloadLimiter) -> None:
    """Shows how many requests are inside, and how many found no place."""
    metrics.register_gauge("fiador_streams", "Requests under way.", lambda: overload.running_count)
    metrics.register_counter(
        "fiador_overload_refused_total",
        "Requests refused for want of a place.",
        lambda: overload.refused_count,
    )


def build_metrics_app(deployment: Deployment, overload: OverloadLimiter) -> ASGIApp:
    """What scrapers and supervisors see at their own address: figures and health, without a key."""
    metrics_routes: routes.RouteTable = {
        "/metrics": {"GET": partial(_show_metrics, deployment)},
        **routes.build_probes(partial(_list_obstacles, deployment, overload)),
    }
    return routes.build_router(metrics_routes, deployment.settings.server)


async def _list_obstacles(deployment: Deployment, overload: OverloadLimiter) -> Sequence[str]:
    """Why requests cannot be served now; empty: they can."""
    ledger_faults = [] if await deployment.ledger.probe_write() else [f"ledger: {deployment.ledger.fault}"]
    return [*ledger_faults, *overload.list_obstacles()]


async def _show_metrics_to_operator(
    deployment: Deployment, scope: Scope, receive: Receive, writer: ResponseWriter
) -> None:
    await require_operator(read_request_head(scope), deployment, METRICS_DENIAL)
    await _show_metrics(deployment, scope, receive, writer)


async def _show_metrics(
    deployment: Deployment, scope: Scope, receive: Receive, writer: ResponseWriter
) -> None:
    await writer.open(200, [("content-type", CONTENT_TYPE), ("cache-control", "no-store")])
    await writer.write(deployment.metrics.render().encode(), more=False)
