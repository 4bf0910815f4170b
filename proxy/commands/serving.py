"""`fiador serve`: the proxy under uvicorn, with one or several workers over the same files."""

import os
from pathlib import Path

import uvicorn

from proxy.app.asgi import CONFIG, DATA
from proxy.observe import logs
from proxy.protocol import patient
from proxy.settings.load import load

WORKER_S = 60
"""A worker that does not answer its parent for so long is replaced; a busy machine starts it slowly."""


def run(config: Path, data_dir: Path | None, *, host: str | None, port: int | None) -> None:
    """Serves until it is told to stop."""
    settings = load(config, data_dir=data_dir)
    server = settings.server
    os.environ[CONFIG] = str(config.resolve())
    os.environ[DATA] = str(server.data_dir)
    logs.setup(settings.log)
    uvicorn.run(
        "proxy.app:create",
        factory=True,
        host=host or server.host,
        port=server.port if port is None else port,
        workers=server.workers,
        loop="uvloop",
        http=patient(server.header_s),
        access_log=False,
        log_config=None,  # one format for every line: `logs.setup`
        log_level="warning" if settings.log.level == "error" else settings.log.level,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        timeout_keep_alive=int(server.idle_s),
        timeout_graceful_shutdown=int(server.shutdown_s),
        timeout_worker_healthcheck=WORKER_S,
        limit_concurrency=None,
    )
