"""`fiador serve` in processes of its own, over the small deployment of other tests, and a terse client."""

import asyncio
import os
import re
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import aiohttp

from proxy.app import build_data_paths, open_deployment
from proxy.auth import KeyStore
from proxy.commands.sync import sync_index
from proxy.ledger.audit import BalanceProof
from proxy.ledger.periods import DeploymentCaps, SpendCap
from proxy.ledger.sqlite import SqliteLedger
from proxy.settings.tree import Settings
from tests.proxy.deployment import QUESTION, write_deployment
from tests.waiting import wait_until

BODY = {"model": "help", "messages": [{"role": "user", "content": QUESTION}]}
START_S = 180
ADDRESS = re.compile(r"http://127\.0\.0\.1:[1-9]\d*")
INPUT_NANOUSD, OUTPUT_NANOUSD = 1_000, 2_000
"""Prices of the deployment's model, a token."""


@dataclass(frozen=True, slots=True)
class ServedProxy:
    """A running server: its address, its settings, its first process."""

    url: str
    settings: Settings
    process: asyncio.subprocess.Process

    async def issue_key(self, cap: SpendCap | None = None) -> str:
        """A new caller's key."""
        async with KeyStore(build_data_paths(self.settings).keys) as keys:
            return (await keys.create_key("fire", groups=("public",), cap=cap or SpendCap())).credential

    async def kill(self) -> None:
        """kill −9, and the end of it."""
        self.process.kill()
        await self.process.wait()


async def write_synced_deployment(folder: Path, url: str, **server: int) -> Settings:
    """A deployment over the upstream at `url`, its documents indexed; `server`: settings of that section."""
    config = folder / "fiador.toml"
    settings = write_deployment(folder, url, idle_s=30)
    lines = "".join(f"{name} = {value}\n" for name, value in server.items())
    text = config.read_text().replace("[server]\n", f"[server]\n{lines}").replace('"error"', '"info"')
    config.write_text(text.replace("[limits]\n", "[limits]\naddress_hour = 0\naddress_day = 0\n"))
    async with open_deployment(settings) as deployment:
        assert not (await sync_index(settings, deployment.evidence, deployment.packs)).faults
    return settings


@asynccontextmanager
async def serve_deployment(settings: Settings, folder: Path) -> AsyncIterator[ServedProxy]:
    """`fiador serve` until the block ends."""
    command = [sys.executable, "-m", "proxy.commands", "--config", str(folder / "fiador.toml")]
    log_file = folder / "serve.log"
    with log_file.open("wb") as out:
        process = await asyncio.create_subprocess_exec(
            *command, "serve", "--port", "0", start_new_session=True, stderr=out
        )
    try:
        url = await _await_address(log_file, process)
        await _await_readiness(url, process)
        yield ServedProxy(url, settings, process)
    finally:
        if process.returncode is None:
            process.terminate()
            with suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), 20)
        with suppress(ProcessLookupError):
            os.killpg(
                process.pid, signal.SIGKILL
            )  # the session that was started here: workers, if any are left
        await process.wait()


async def _await_address(log_file: Path, process: asyncio.subprocess.Process) -> str:
    """Where it listens, by its own words: a port that is free now may be another's a moment later."""
    found: list[str] = []

    def has_address() -> bool:
        log = log_file.read_text("utf-8", "replace")
        assert process.returncode is None, log
        found.extend(ADDRESS.findall(log))
        return bool(found)

    await wait_until(has_address, within_s=START_S)
    return found[0]


async def _await_readiness(url: str, process: asyncio.subprocess.Process) -> None:
    async with asyncio.timeout(START_S), aiohttp.ClientSession() as session:
        while True:
            assert process.returncode is None, "the server ended at its start"
            with suppress(aiohttp.ClientError):
                async with session.get(f"{url}/healthz") as answer:
                    if answer.status == 200:
                        return
            await asyncio.sleep(0.05)


@asynccontextmanager
async def open_question(url: str, key: str, *, stream: bool = False) -> AsyncIterator[aiohttp.ClientResponse]:
    """One question on a connection of its own; leaving the block early closes that."""
    headers = {"authorization": f"Bearer {key}"}
    timeout = aiohttp.ClientTimeout(total=120)
    async with (
        aiohttp.ClientSession(headers=headers, timeout=timeout) as session,
        session.post(f"{url}/v1/chat/completions", json=BODY | {"stream": stream}) as answer,
    ):
        yield answer


async def ask_decision(url: str, key: str) -> str:
    """What became of one question."""
    async with open_question(url, key) as answer:
        await answer.read()
        return answer.headers.get("x-fiador-decision", str(answer.status))


async def read_balance_proof(settings: Settings) -> BalanceProof:
    """The books as they stand, after what dead processes left has been charged."""
    async with SqliteLedger(build_data_paths(settings).ledger, DeploymentCaps()) as ledger:
        return await ledger.verify_balances()
