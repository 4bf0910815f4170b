"""A `fiador serve` of its own process over the sample corpus, with the keys that the situations need."""

import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

import httpx

START_S = 60
PLAIN = """
[embedding]
model = "off"

[limits]
address_minute = 0
address_hour = 0
address_day = 0
key_minute = 0
"""
"""Keywords serve the situations; nobody is kept waiting."""


@dataclass(frozen=True, slots=True)
class SampleServer:
    """Where it listens, and the keys by name."""

    address: str
    keys: dict[str, str]


@contextmanager
def serve_sample() -> Iterator[SampleServer]:
    """Sets everything up in a folder of its own, and takes it down again."""
    with tempfile.TemporaryDirectory() as folder, as_file(files("config") / "sample") as sample:
        home = Path(folder) / "site"
        shutil.copytree(sample, home)
        config = home / "fiador.toml"
        config.write_text(config.read_text("utf-8") + PLAIN, "utf-8")
        _run_fiador(config, "sync")
        keys = {
            "public": _run_fiador(config, "keys", "create", "public", "--groups", "public"),
            "empty": _run_fiador(config, "keys", "create", "empty", "--groups", "public", "--usd-month", "0"),
        }
        with _start_server(config, Path(folder) / "log") as address:
            yield SampleServer(address, {name: text.split()[-1] for name, text in keys.items()})


def _run_fiador(config: Path, *command: str) -> str:
    done = subprocess.run(_build_fiador_command(config, *command), capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"fiador {' '.join(command)}: {done.stdout}{done.stderr}")
    return done.stdout


def _build_fiador_command(config: Path, *command: str) -> list[str]:
    return [sys.executable, "-m", "proxy.commands", "--config", str(config), *command]


@contextmanager
def _start_server(config: Path, log: Path) -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    with log.open("wb") as out:
        child = subprocess.Popen(
            _build_fiador_command(config, "serve", "--port", str(port)), stdout=out, stderr=out
        )
        try:
            _await_health(address, child, log)
            yield address
        finally:
            child.terminate()
            child.wait(30)


def _await_health(address: str, child: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + START_S
    while time.monotonic() < until and child.poll() is None:
        with suppress(httpx.TransportError):
            if httpx.get(f"{address}/healthz", trust_env=False).status_code == 200:
                return
        time.sleep(0.05)
    raise RuntimeError(f"the proxy did not start:\n{log.read_text('utf-8', 'replace')[-2000:]}")
