"""What is measured of a request reaches the scraper, at the address of callers and at one of its own."""

import asyncio
import re
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from starlette.types import Message

from proxy.app.asgi import LifespanApp, build_surface
from proxy.app.metrics_server import serve_metrics
from proxy.domain.errors import ConfigError
from proxy.domain.types import Decision
from proxy.limits import MemoryLimitStore, RateLimits
from proxy.settings import tree
from tests.fake_upstream import FakeUpstream, script_answer
from tests.loopback_server import find_free_ports, serve_app
from tests.proxy.deployment import QUESTION, RunningProxy, open_proxy, write_deployment

BODY = {"model": "help", "messages": [{"role": "user", "content": QUESTION}]}


async def post_question(url: str, key: str, body: Mapping[str, object] = BODY) -> httpx.Response:
    async with httpx.AsyncClient(trust_env=False, headers={"authorization": f"Bearer {key}"}) as http:
        return await http.post(f"{url}/v1/chat/completions", json=body)


def read_metric(proxy: RunningProxy, name: str) -> float:
    found = re.search(rf"^{re.escape(name)} (.+)$", proxy.deployment.metrics.render(), re.MULTILINE)
    return float(found[1]) if found else 0


async def test_the_first_word_and_the_first_sentence_are_timed_and_in_this_order(tmp_path: Path) -> None:
    play = script_answer("The reading room ", "opens at 9:30 [1]. ", pause_s=0.05)
    async with FakeUpstream(play) as fake, open_proxy(tmp_path, fake.url) as proxy:
        await post_question(proxy.url, await proxy.issue_key())
        spent = (await proxy.await_trace()).timings_ms
        assert 0 < spent["first_upstream"] < spent["first_sentence"] < spent["total"]
        for name in ("fiador_first_upstream_seconds_count", "fiador_first_sentence_seconds_count"):
            assert read_metric(proxy, name) == 1


async def test_a_refusal_has_no_first_word_and_no_first_sentence(tmp_path: Path) -> None:
    body = BODY | {"messages": [{"role": "user", "content": "What is the capital of Mongolia?"}]}
    async with open_proxy(tmp_path) as proxy:
        await post_question(proxy.url, await proxy.issue_key(), body)
        await proxy.await_trace()
        assert read_metric(proxy, "fiador_request_seconds_count") == 1
        assert read_metric(proxy, "fiador_first_sentence_seconds_count") == 0


async def test_every_error_that_is_told_is_counted_by_its_code(tmp_path: Path) -> None:
    async with open_proxy(tmp_path) as proxy:
        key = await proxy.issue_key()
        await post_question(proxy.url, "wrong")
        await post_question(proxy.url, key, BODY | {"model": "none"})
        await post_question(proxy.url, key)  # nobody listens at the upstream's port
        for code in ("invalid_api_key", "model_not_found", "upstream_failed"):
            assert read_metric(proxy, f'fiador_errors_total{{code="{code}"}}') == 1


async def test_a_request_above_a_limit_is_told_when_to_come_back_and_leaves_a_row(tmp_path: Path) -> None:
    async with (
        FakeUpstream(script_answer("It opens at 9:30 [1].")) as fake,
        open_proxy(tmp_path, fake.url) as proxy,
    ):
        limits = RateLimits(tree.LimitSettings(key_minute=1), MemoryLimitStore())
        context = replace(proxy.deployment.context, limits=limits)
        key = await proxy.issue_key()
        async with serve_app(build_surface(replace(proxy.deployment, context=context))) as url:
            assert (await post_question(url, key)).status_code == 200
            refused = await post_question(url, key)
        assert (refused.status_code, refused.headers["x-fiador-decision"]) == (429, "limited")
        assert 1 <= int(refused.headers["retry-after"]) <= 60
        row = await proxy.await_trace(2)
        assert (row.decision, row.layer, row.caller.name, row.upstream_calls) == (
            Decision.LIMITED,
            "limits",
            "test",
            0,
        )
        assert "key_minute" in row.detail
        assert len(fake.calls) == 1


async def test_who_only_listened_and_left_leaves_a_row_too(tmp_path: Path) -> None:
    play = script_answer("The reading room opens at 9:30 [1].", pause_s=0.3)
    async with FakeUpstream(play) as fake, open_proxy(tmp_path, fake.url, join_s=10) as proxy:
        key = await proxy.issue_key()
        first = asyncio.create_task(post_question(proxy.url, key))
        while not fake.calls:  # noqa: ASYNC110 - a list has no event
            await asyncio.sleep(0.01)
        second = asyncio.create_task(post_question(proxy.url, key))
        while read_metric(proxy, "fiador_streams") < 2:  # noqa: ASYNC110 - nor has a figure
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.2)  # it listens by now
        second.cancel()
        assert "9:30" in (await first).text
        await proxy.await_trace(2)
        rows = await proxy.log.list_recent_traces(9)
    assert {row.decision for row in rows} == {Decision.ANSWERED, Decision.LEFT}
    assert (len(fake.calls), sorted(row.upstream_calls for row in rows)) == (1, [0, 1])


@asynccontextmanager
async def run_lifespan(app: LifespanApp) -> AsyncIterator[Message]:
    """The application between its start-up and its shutdown; what it said at the start."""
    from_app: asyncio.Queue[Message] = asyncio.Queue()
    to_app: asyncio.Queue[Message] = asyncio.Queue()
    task = asyncio.create_task(app({"type": "lifespan"}, to_app.get, from_app.put))
    await to_app.put({"type": "lifespan.startup"})
    try:
        yield await from_app.get()
    finally:
        await to_app.put({"type": "lifespan.shutdown"})
        await task


async def test_at_their_own_address_figures_and_health_need_no_key_and_nothing_else_is_there(
    tmp_path: Path,
) -> None:
    port = find_free_ports()
    settings = write_deployment(
        tmp_path, "http://127.0.0.1:9", swap={"[server]": f"[server]\nmetrics_port = {port}"}
    )
    async with run_lifespan(LifespanApp(settings)) as told, httpx.AsyncClient(trust_env=False) as http:
        assert told["type"] == "lifespan.startup.complete"
        for path, status in (("/metrics", 200), ("/healthz", 200), ("/readyz", 200), ("/v1/models", 404)):
            assert (await http.get(f"http://127.0.0.1:{port}{path}")).status_code == status
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port))


async def test_each_worker_takes_a_port_of_its_own_and_one_too_many_says_so() -> None:
    server = tree.ServerSettings(metrics_port=find_free_ports(), workers=2)
    async with (
        serve_metrics(_reject_request, server),
        serve_metrics(_reject_request, server),
        serve_metrics(_reject_request, server),
    ):
        with pytest.raises(ConfigError, match="metrics_port: want one of the ports"):
            async with serve_metrics(_reject_request, server):
                pass


async def test_an_address_of_another_machine_says_so() -> None:
    with pytest.raises(ConfigError, match="metrics_host: want an address of this machine"):
        async with serve_metrics(
            _reject_request, tree.ServerSettings(metrics_host="192.0.2.1", metrics_port=9_999)
        ):
            pass


async def _reject_request(scope: object, receive: object, send: object) -> None:
    raise AssertionError("nobody asks")
