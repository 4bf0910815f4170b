"""`fiador serve`: the proxy under uvicorn, with one or several workers over the same files."""

import logging
import os
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
import uvicorn
from uvicorn.config import STARTUP_FAILURE

from proxy.app.asgi import CONFIG_VARIABLE, DATA_VARIABLE
from proxy.domain.errors import ConfigError
from proxy.http.uvicorn_protocol import make_http_protocol
from proxy.observe import logs
from proxy.settings.load import load_settings

log = logging.getLogger("fiador.serve")

WORKER_TIMEOUT_S = 60
"""A worker that does not answer its parent for so long is replaced; a busy machine starts it slowly."""


def serve_proxy(config: Path, data_dir: Path | None, *, host: str | None, port: int | None) -> None:
    """Serves until it is told to stop. Raises `ConfigError` for an address that cannot be listened on."""
    settings = load_settings(config, data_dir=data_dir)
    server = settings.server
    host, port = host or server.host, server.port if port is None else port
    _probe_address(host, port)
    os.environ[CONFIG_VARIABLE] = str(config.resolve())
    os.environ[DATA_VARIABLE] = str(server.data_dir)
    logs.configure_logging(settings.log)
    if server.workers == 1 and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, _warn_ignored_reload)
    with _translate_startup_exit():
        uvicorn.run(
            "proxy.app:create_app",
            factory=True,
            host=host,
            port=port,
            workers=server.workers,
            loop="uvloop",
            http=make_http_protocol(server.header_s),
            access_log=False,
            log_config=None,  # one format for every line: `configure_logging`
            log_level="warning" if settings.log.level == "error" else settings.log.level,
            server_header=False,
            date_header=False,
            proxy_headers=False,
            timeout_keep_alive=int(server.idle_s),
            timeout_graceful_shutdown=int(server.shutdown_s),
            timeout_worker_healthcheck=WORKER_TIMEOUT_S,
            limit_concurrency=None,
        )


def _probe_address(host: str, port: int) -> None:
    """Tries the address before anything is loaded: seconds later, uvicorn would find the same."""
    try:
        for family, kind, protocol, _, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
            with socket.socket(family, kind, protocol) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(address)
    except OSError as fault:
        raise ConfigError(
            f"server.host, server.port: cannot listen on {host}:{port}: {fault.strerror}; "
            "`fiador serve --port` takes another one"
        ) from fault


def _warn_ignored_reload(*_: object) -> None:
    """Several workers take turns; one alone would end at this signal, in the middle of its answers."""
    log.warning("SIGHUP: a single worker keeps the configuration it has; restart it to take over another")


@contextmanager
def _translate_startup_exit() -> Iterator[None]:
    """Ends with 1 where uvicorn has an exit code of its own: it could not start, and the log says why."""
    try:
        yield
    except SystemExit as end:
        raise SystemExit(1 if end.code == STARTUP_FAILURE else end.code) from None


@click.command("serve")
@click.option("--host", help="Instead of server.host.")
@click.option("--port", type=click.IntRange(0, 65535), help="Instead of server.port.")
@click.pass_context
def serve_command(context: click.Context, host: str | None, port: int | None) -> None:
    """Run the proxy."""
    config, data_dir = context.obj
    serve_proxy(config, data_dir, host=host, port=port)
