"""What the proxy costs: CPU a request and an upstream chunk, and the time it adds, beside the upstream alone.

Every check is on. Upstream, proxy and client are processes of their own on loopback; each figure is taken in
turns with its reference in one run, because the machine is shared: only ratios and CPU time mean something.
"""

import argparse
import contextlib
import statistics
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx

from bench.resources import read_cpu_s, read_memory_mb
from bench.serving import serve_proxy, start_upstream
from bench.upstream import split_answer

CONFIG = """
[server]
data_dir = "data"
[auth]
mode = "open"
[limits]
address_minute = 0
address_hour = 0
address_day = 0
key_minute = 0
key_concurrent = 0
join_retries_s = 0
[embedding]
model = "off"
[log]
level = "error"
[assistants.help]
sources = ["docs"]
[sources.docs]
path = "docs"
[upstreams.model]
protocol = "openai"
base_url = "http://127.0.0.1:{port}/v1"
[models.help]
assistant = "help"
upstream = "model"
model = "m"
prices = {{ input_usd_per_million = 0.1, output_usd_per_million = 0.1 }}
[ledger]
usd_month = 100000
"""
DOCUMENT = """---
title: Opening hours
url: https://orchard.example/hours
language: en
allowed_groups: [public]
valid_from: 2024-01-01
---
The reading room opens at 9:30 and closes at 18:00.
"""
REQUEST_BODY = {
    "model": "help",
    "messages": [{"role": "user", "content": "When does the reading room open?"}],
}


@dataclass(frozen=True, slots=True)
class RequestTimes:
    """Milliseconds of one request: to its first byte of text, and to its end."""

    first_ms: float
    total_ms: float


def run(arguments: list[str]) -> int:
    """Prints the times in Markdown, then the proxy's CPU and memory; always 0."""
    parser = argparse.ArgumentParser(prog="python -m bench overhead", description=__doc__)
    parser.add_argument("--requests", type=int, default=200, help="of each kind")
    options = parser.parse_args(arguments)
    with (
        start_upstream() as port,
        _write_deployment(port) as config,
        serve_proxy(config) as proxy,
        httpx.Client(trust_env=False) as client,
    ):
        upstream_base, proxy_base = f"http://127.0.0.1:{port}/v1", f"{proxy.address}/v1"
        direct, proxied = [], []
        _time_request(client, proxy_base, stream=True)  # the first one fills caches
        before_s = read_cpu_s(proxy.pid)
        for _ in range(options.requests):
            direct.append(_time_request(client, upstream_base, stream=True))
            proxied.append(_time_request(client, proxy_base, stream=True))
        streamed_s = read_cpu_s(proxy.pid) - before_s
        before_s = read_cpu_s(proxy.pid)
        whole = [_time_request(client, proxy_base, stream=False) for _ in range(options.requests)]
        whole_s = read_cpu_s(proxy.pid) - before_s
        rows = {"upstream alone": direct, "through the proxy": proxied, "the same, not streaming": whole}
        _print_overhead(rows, streamed_s / options.requests, whole_s / options.requests)
        print(f"Memory: {read_memory_mb(proxy.pid):.0f} MB.")
    return 0


def _print_overhead(times_by_name: dict[str, list[RequestTimes]], streamed_s: float, whole_s: float) -> None:
    chunks = len(split_answer())
    print("| | first text p50 ms | total p50 ms | p95 ms |\n| --- | --- | --- | --- |")
    for name, rows in times_by_name.items():
        totals = sorted(row.total_ms for row in rows)
        first_ms, total_ms = statistics.median(row.first_ms for row in rows), statistics.median(totals)
        print(f"| {name} | {first_ms:.2f} | {total_ms:.2f} | {totals[int(len(totals) * 0.95)]:.2f} |")
    print(f"\nCPU of the proxy: {streamed_s * 1e3:.2f} ms a streamed answer of {chunks} chunks")
    print(f"({streamed_s / chunks * 1e6:.1f} µs a chunk), {whole_s * 1e3:.2f} ms one that does not stream.")


def _time_request(client: httpx.Client, base_url: str, *, stream: bool) -> RequestTimes:
    """One answer; the first text counts from its first byte that carries a sentence or a piece of one.

    The upstream's first piece is "The ", the proxy's first delta at least a whole sentence ("reading").
    """
    began = time.perf_counter()
    first = 0.0
    with client.stream(
        "POST", f"{base_url}/chat/completions", json=REQUEST_BODY | {"stream": stream}
    ) as response:
        response.raise_for_status()
        for data in response.iter_raw():
            if (not first and b"reading" in data) or b'"content":"The' in data:
                first = first or time.perf_counter()
    ended = time.perf_counter()
    return RequestTimes(((first or ended) - began) * 1e3, (ended - began) * 1e3)


@contextlib.contextmanager
def _write_deployment(upstream_port: int) -> Iterator[Path]:
    """A folder with one document and the configuration over it; the path of the latter."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "docs").mkdir()
        (home / "docs" / "hours.md").write_text(DOCUMENT, "utf-8")
        config = home / "fiador.toml"
        config.write_text(CONFIG.format(port=upstream_port), "utf-8")
        yield config
