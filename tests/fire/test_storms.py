"""Storms: made-up addresses do not pass a limit, and a client that asks again and again pays once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from proxy.app import Deployment, build_data_paths, open_deployment
from proxy.app.asgi import build_surface
from proxy.auth import KeyStore
from proxy.commands.sync import sync_index
from proxy.settings import tree
from tests.fake_upstream import FakeUpstream, script_answer
from tests.fire.conftest import Scale
from tests.fire.served_proxy import BODY, ask_decision
from tests.loopback_server import serve_app
from tests.proxy.deployment import write_deployment

OFF = {"address_minute": 0, "address_hour": 0, "address_day": 0, "key_minute": 0, "key_concurrent": 0}


@asynccontextmanager
async def open_limited_deployment(
    folder: Path, upstream: str, **limits: object
) -> AsyncIterator[tuple[str, str, Deployment]]:
    """Address, key and services of a deployment under these limits and no others."""
    chosen = tree.LimitSettings.model_validate(OFF | limits)
    settings = write_deployment(folder, upstream).model_copy(update={"limits": chosen})
    async with open_deployment(settings) as deployment, serve_app(build_surface(deployment)) as url:
        await sync_index(settings, deployment.evidence, deployment.packs)
        async with KeyStore(build_data_paths(settings).keys) as keys:
            key = (await keys.create_key("storm", groups=("public",))).credential
        yield url, key, deployment


async def ask_for_status(url: str, key: str, forwarded: str) -> int:
    """Of one question said to be forwarded for somebody."""
    headers = {"authorization": f"Bearer {key}", "x-forwarded-for": forwarded}
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.post(f"{url}/v1/chat/completions", json=BODY | {"model": "quoting"}) as answer,
    ):
        if answer.status == 429:
            assert "address_hour" in (await answer.json())["error"]["message"]
            assert int(answer.headers["retry-after"]) > 0
        return answer.status


@pytest.mark.parametrize(
    ("trusted", "claim"), [([], "{}"), (["127.0.0.0/8"], "{}, 7.7.7.7")], ids=["direct", "behind a proxy"]
)
async def test_rotating_forwarded_addresses_do_not_pass_the_limit(
    tmp_path: Path, scale: Scale, trusted: list[str], claim: str
) -> None:
    async with open_limited_deployment(
        tmp_path, "http://127.0.0.1:9", address_hour=10, trusted_networks=trusted
    ) as at:
        url, key, _ = at
        tries = range(scale(30, 200))
        found = [await ask_for_status(url, key, claim.format(f"1.2.3.{number}")) for number in tries]
    assert found.count(200) == 10
    assert found.count(429) == len(tries) - 10


async def test_a_storm_of_equal_requests_is_answered_to_all_and_paid_once(
    tmp_path: Path, scale: Scale
) -> None:
    count = scale(10, 50)
    sentences = ["The reading room opens at 9:30 [1]. ", "The reading room has 40 seats [1]."]
    async with FakeUpstream(script_answer(*sentences, pause_s=scale(1, 4))) as fake:
        async with open_limited_deployment(tmp_path, fake.url, join_retries_s=10) as (url, key, deployment):
            said = await asyncio.gather(*(ask_decision(url, key) for _ in range(count)))
            [spend] = await deployment.ledger.list_spend_totals("key")
        assert said == ["answered"] * count
        assert (len(fake.calls), spend.requests) == (1, 1)
