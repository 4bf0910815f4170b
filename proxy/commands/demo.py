"""`fiador demo`: a real proxy on a free port, the official OpenAI client, and a check behind every claim."""

import asyncio
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.resources import as_file, files
from pathlib import Path

import click
import httpx
from openai import DefaultHttpxClient, OpenAI
from rich.console import Console

from proxy.app import build_data_paths
from proxy.auth import KeyStore
from proxy.commands import model, sync
from proxy.commands.demo_scenes import SCENES, DemoStage
from proxy.ledger.periods import SpendCap
from proxy.settings.load import load_settings
from proxy.settings.tree import Settings

STARTUP_TIMEOUT_S = 60
KEY_GROUPS = {"public": ["public"], "staff": ["staff"], "finance": ["finance"]}
"""Groups of the demo's keys, by the key's name. One more key, `empty`, has a cap of nothing."""


def run_demo(data_dir: Path, *, serve: bool) -> int:
    """Plays every scene; 0 if every check held. The data folder keeps the index for the next demo."""
    out = Console(highlight=False, soft_wrap=True)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # the proxy must not outlive the demo
    began = time.perf_counter()
    with as_file(files("config") / "sample") as sample:
        settings = _prepare_settings(sample, data_dir)
        model.ensure_model(out)
        asyncio.run(sync.sync_once(settings, sync.build_text_printer(out)))
        keys = asyncio.run(_create_demo_keys(settings))
        with _run_proxy(sample / "fiador.toml", data_dir) as address:
            failure_count = _play_scenes(address, keys, settings, out)
            out.print(f"\n{_format_summary(failure_count)} in {time.perf_counter() - began:.1f} s")
            if serve and not failure_count:
                _keep_serving(address, keys["public"], out)
    return 1 if failure_count else 0


def _prepare_settings(sample: Path, data_dir: Path) -> Settings:
    """The sample's settings over the data folder, which loses what an earlier demo spent and decided."""
    settings = load_settings(sample / "fiador.toml", data_dir=data_dir)
    data_dir.mkdir(parents=True, exist_ok=True)
    for stale in data_dir.glob("*"):
        if stale.name.startswith(("ledger", "keys", "decisions")):
            shutil.rmtree(stale) if stale.is_dir() else stale.unlink()
    return settings


async def _create_demo_keys(settings: Settings) -> dict[str, str]:
    """The text of each key, by its name."""
    async with KeyStore(build_data_paths(settings).keys) as key_store:
        new_keys = {
            name: await key_store.create_key(name, groups=groups) for name, groups in KEY_GROUPS.items()
        }
        no_spending = SpendCap(month_nanousd=0)
        new_keys["empty"] = await key_store.create_key("empty", groups=["public"], cap=no_spending)
    return {name: key.credential for name, key in new_keys.items()}


@contextlib.contextmanager
def _run_proxy(config: Path, data_dir: Path) -> Iterator[str]:
    """A `fiador serve` of its own process on a free loopback port, ended at the end."""
    port = _find_free_port()
    log = (data_dir / "demo.log").open("wb")
    command = [sys.executable, "-m", "proxy.commands", "--config", str(config), "--data-dir", str(data_dir)]
    child = subprocess.Popen([*command, "serve", "--port", str(port)], stdout=log, stderr=log)
    try:
        address = f"http://127.0.0.1:{port}"
        _wait_until_healthy(address, child, data_dir / "demo.log")
        yield address
    finally:
        child.terminate()
        try:
            child.wait(20)
        except subprocess.TimeoutExpired:
            child.kill()
        log.close()


def _find_free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_until_healthy(address: str, child: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + STARTUP_TIMEOUT_S
    while time.monotonic() < deadline and child.poll() is None:
        with contextlib.suppress(httpx.TransportError):
            if httpx.get(f"{address}/healthz", trust_env=False).status_code == 200:
                return
        time.sleep(0.05)
    raise RuntimeError(f"the proxy did not start; its log:\n{log.read_text('utf-8', 'replace')[-2000:]}")


def _play_scenes(address: str, keys: dict[str, str], settings: Settings, out: Console) -> int:
    """Every scene; how many checks failed."""
    clients = {
        name: OpenAI(
            base_url=f"{address}/v1",
            api_key=key,
            max_retries=0,
            http_client=DefaultHttpxClient(trust_env=False),
        )
        for name, key in keys.items()
    }
    stage = DemoStage(clients, settings, out)
    for play_scene in SCENES:
        play_scene(stage)
    return stage.failure_count


def _format_summary(failure_count: int) -> str:
    return "[red]" + f"{failure_count} checks failed[/]" if failure_count else "[green]Every check held[/]"


def _keep_serving(address: str, key: str, out: Console) -> None:
    """Leaves the proxy running until Ctrl-C, with something to paste."""
    out.print(f"\nThe proxy stays at {address}/v1 until Ctrl-C. Ask it yourself:\n")
    out.print(
        f"curl -N {address}/v1/chat/completions -H 'Authorization: Bearer {key}' \\\n"
        "  -H 'Content-Type: application/json' \\\n"
        '  -d \'{"model": "help", "stream": true, "messages": '
        '[{"role": "user", "content": "What does the Family plan cost?"}]}\'\n',
        markup=False,
    )
    out.print(
        "from openai import OpenAI\n"
        f'client = OpenAI(base_url="{address}/v1", api_key="{key}")\n'
        'question = [{"role": "user", "content": "What does the Family plan cost?"}]\n'
        'print(client.chat.completions.create(model="help", messages=question).choices[0].message.content)\n',
        markup=False,
    )
    with contextlib.suppress(KeyboardInterrupt):
        while True:
            time.sleep(3600)


def find_demo_folder() -> Path:
    """Where the demo keeps its index between runs: `FIADOR_DEMO_DIR`, or a folder in the user's cache."""
    if folder := os.environ.get("FIADOR_DEMO_DIR"):
        return Path(folder)
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "fiador" / "demo"


@click.command("demo")
@click.option("--serve", is_flag=True, help="Leave the proxy running and show how to ask it.")
def demo_command(serve: bool) -> None:
    """Hold a guarded conversation that checks its own claims."""
    sys.exit(run_demo(find_demo_folder(), serve=serve))
