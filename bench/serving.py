"""Processes of their own for benchmarks that measure the whole proxy: `fiador serve`, and an upstream."""

import contextlib
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx

START_TIMEOUT_S = 120


@dataclass(frozen=True, slots=True)
class ProxyProcess:
    """A running proxy: where it listens, and its process."""

    address: str
    pid: int


@contextlib.contextmanager
def serve_proxy(config: Path) -> Iterator[ProxyProcess]:
    """Syncs and serves `config` on a free loopback port until the block ends."""
    command = [sys.executable, "-m", "proxy.commands", "--config", str(config)]
    subprocess.run([*command, "sync"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    port = _find_free_port()
    child = subprocess.Popen([*command, "serve", "--port", str(port)], stderr=subprocess.DEVNULL)
    try:
        _wait_until_healthy(f"http://127.0.0.1:{port}", child)
        yield ProxyProcess(f"http://127.0.0.1:{port}", child.pid)
    finally:
        child.terminate()
        child.wait(30)


def _find_free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_until_healthy(address: str, child: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    with httpx.Client(trust_env=False) as probe:
        while time.monotonic() < deadline and child.poll() is None:
            with contextlib.suppress(httpx.TransportError):
                if probe.get(f"{address}/healthz").status_code == 200:
                    return
            time.sleep(0.05)
    raise RuntimeError("the proxy did not start: run `fiador serve` with the same configuration to see why")


@contextlib.contextmanager
def start_upstream() -> Iterator[int]:
    """The stand-in upstream in a process of its own; its port."""
    child = subprocess.Popen([sys.executable, "-m", "bench.upstream"], stdout=subprocess.PIPE)
    assert child.stdout is not None
    try:
        yield int(child.stdout.readline())
    finally:
        child.terminate()
        child.wait(10)
        child.stdout.close()
