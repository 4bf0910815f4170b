"""An address of its own for figures and health: for scrapers and supervisors, never for callers."""

import asyncio
import errno
import logging
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import uvicorn
from starlette.types import ASGIApp
from uvicorn.server import ServerState

from proxy.domain.errors import ConfigError
from proxy.http.uvicorn_protocol import BoundedHttpProtocol
from proxy.settings import tree

log = logging.getLogger("fiador.app")


@asynccontextmanager
async def serve_metrics(app: ASGIApp, server: tree.ServerSettings) -> AsyncIterator[None]:
    """Serves `app` at `server.metrics_port` while the block lasts; nothing where that is 0.

    Each worker counts for itself, so each takes a port of its own: the first free one of as many as there are
    workers, and one more for a worker that comes before the one it replaces has gone. Raises `ConfigError` if
    none is free.
    """
    if not server.metrics_port:
        yield
        return
    state = ServerState()
    config = uvicorn.Config(app, lifespan="off", ws="none", log_config=None, access_log=False)
    protocol = partial(
        BoundedHttpProtocol, config=config, server_state=state, app_state={}, header_s=server.header_s
    )
    metrics_socket = _bind_metrics_port(server)
    listener = await asyncio.get_running_loop().create_server(protocol, sock=metrics_socket)
    log.info("metrics at http://%s:%d/metrics", *metrics_socket.getsockname()[:2])
    try:
        yield
    finally:
        listener.close()
        for connection in list(state.connections):
            connection.shutdown()


def _bind_metrics_port(server: tree.ServerSettings) -> socket.socket:
    extra_ports = int(server.workers > 1)
    ports = range(server.metrics_port, server.metrics_port + server.workers + extra_ports)
    for port in ports:
        try:
            return socket.create_server(
                (server.metrics_host, port), family=_find_address_family(server.metrics_host)
            )
        except OSError as fault:
            if fault.errno != errno.EADDRINUSE:
                raise ConfigError(f"server.metrics_host: want an address of this machine: {fault}") from fault
    wanted = f"port {ports[0]}" if len(ports) == 1 else f"one of the ports {ports[0]} to {ports[-1]}"
    raise ConfigError(f"server.metrics_port: want {wanted} to be free on {server.metrics_host}, got none")


def _find_address_family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET
