"""A configuration that changes under a running server: taken over worker by worker, or left aside."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import aiohttp
import pytest

from tests.fake_upstream import FakeUpstream, script_answer
from tests.fire.served_proxy import ServedProxy, ask_decision, serve_deployment, write_synced_deployment
from tests.loopback_server import find_free_ports
from tests.waiting import wait_until

FRESH = """[models.fresh]
assistant = "help"
upstream = "quotes"
prices = { input_usd_per_million = 1.0, output_usd_per_million = 2.0 }
[models.quoting]"""
SURE = 12
"""Answers in a row by which every worker has spoken."""


@pytest.fixture
async def fake() -> AsyncIterator[FakeUpstream]:
    async with FakeUpstream(script_answer("The reading room opens at 9:30 [1].")) as upstream:
        yield upstream


async def has_new_model(proxy: ServedProxy, key: str) -> bool:
    """Whether the worker that answers now serves the new model."""
    headers = {"authorization": f"Bearer {key}"}
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.get(f"{proxy.url}/v1/models") as answer,
    ):
        return "fresh" in await answer.text()


async def try_question(proxy: ServedProxy, key: str) -> str:
    """What became of one question; "" where its connection met a worker that was just leaving."""
    await asyncio.sleep(0.05)  # the workers that are to come need the processor too
    with suppress(aiohttp.ServerDisconnectedError, aiohttp.ClientConnectorError):
        return await ask_decision(proxy.url, key)
    return ""


async def test_a_changed_file_is_taken_over_and_a_broken_one_is_left_aside(
    tmp_path: Path, fake: FakeUpstream
) -> None:
    settings = await write_synced_deployment(tmp_path, fake.url, workers=2, metrics_port=find_free_ports())
    config = tmp_path / "fiador.toml"
    async with serve_deployment(settings, tmp_path) as proxy, asyncio.timeout(240):
        key, said, sure = await proxy.issue_key(), set[str](), 0
        config.write_text(config.read_text().replace("[models.quoting]", FRESH))
        os.kill(proxy.process.pid, signal.SIGHUP)
        while sure < SURE:
            said.add(await try_question(proxy, key))
            sure = sure + 1 if await has_new_model(proxy, key) else 0
        config.write_text(config.read_text() + "\n[nonsense]\n")
        os.kill(proxy.process.pid, signal.SIGHUP)
        while "nonsense: unknown setting" not in (tmp_path / "serve.log").read_text():
            said.add(await try_question(proxy, key))
        for _ in range(SURE):
            said.add(await try_question(proxy, key))
            assert await has_new_model(proxy, key)
    assert said - {""} == {"answered"}


async def test_a_single_worker_says_that_it_wants_a_restart_and_goes_on(
    tmp_path: Path, fake: FakeUpstream
) -> None:
    settings = await write_synced_deployment(tmp_path, fake.url)
    async with serve_deployment(settings, tmp_path) as proxy:
        key = await proxy.issue_key()
        os.kill(proxy.process.pid, signal.SIGHUP)
        await wait_until(lambda: "restart it" in (tmp_path / "serve.log").read_text())
        assert await ask_decision(proxy.url, key) == "answered"
