"""Attempts: who fails is asked again only before its first byte, each time on money of its own."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from proxy.domain.types import Decision
from proxy.ledger.periods import SpendCap
from tests.fake_upstream import (
    FakeUpstream,
    ReceivedRequest,
    ResponsePlayer,
    ResponseScript,
    make_openai_stream,
    script_answer,
    script_error,
)
from tests.proxy.deployment import QUESTION, RunningProxy, open_proxy

BODY = {"model": "help", "messages": [{"role": "user", "content": QUESTION}]}
TRUE = "The reading room opens at 9:30 [1]."
COST = 10 * 1000 + 5 * 2000
"""Of an answer with the usage that the fake reports."""


async def play_reset(received: ReceivedRequest, player: ResponsePlayer) -> None:
    """Takes the whole request and says nothing: what it has cost nobody knows."""
    player.reset_connection()


async def play_break(received: ReceivedRequest, player: ResponsePlayer) -> None:
    await player.send_head()
    for data in make_openai_stream([TRUE, " It closes"])[:-3]:
        await player.send_chunk(data)
    await asyncio.sleep(0.05)
    player.close_early()


@asynccontextmanager
async def open_scripted_proxy(
    folder: Path, *scripts: ResponseScript, retries: int = 2
) -> AsyncIterator[tuple[RunningProxy, FakeUpstream]]:
    """A deployment whose upstream plays one after another, the last one for ever."""
    scripts_left = list(scripts)

    async def play_next(received: ReceivedRequest, player: ResponsePlayer) -> None:
        await (scripts_left.pop(0) if len(scripts_left) > 1 else scripts_left[0])(received, player)

    async with FakeUpstream(play_next) as fake, open_proxy(folder, fake.url, retries=retries) as proxy:
        yield proxy, fake


async def post_body(proxy: RunningProxy, cap: SpendCap | None = None) -> httpx.Response:
    headers = {"authorization": f"Bearer {await proxy.issue_key(cap=cap)}"}
    async with httpx.AsyncClient(trust_env=False, headers=headers, timeout=30) as http:
        return await http.post(f"{proxy.url}/v1/chat/completions", json=BODY)


async def list_booked_costs(proxy: RunningProxy) -> list[tuple[str, int]]:
    """What each attempt's cost rests on, and the nano-dollars of all that rest on it."""
    proof = await proxy.deployment.ledger.verify_balances()
    assert (proof.holds, proof.faults) == ((), ())
    rows = await proxy.deployment.ledger.list_invoice_lines(f"{datetime.now(UTC):%Y-%m}")
    return [(f"{row.entries} {row.basis}", row.nanousd) for row in rows]


async def test_an_attempt_that_was_refused_costs_nothing_and_the_next_one_answers(tmp_path: Path) -> None:
    async with open_scripted_proxy(tmp_path, script_error(503), script_error(429), script_answer(TRUE)) as (
        proxy,
        fake,
    ):
        assert "9:30" in (await post_body(proxy)).text
        row = await proxy.await_trace()
        assert (row.decision, row.upstream_calls, len(fake.calls)) == (Decision.ANSWERED, 3, 3)
        assert (row.cost_nanousd, await list_booked_costs(proxy)) == (COST, [("3 reported", COST)])


async def test_an_attempt_of_which_nothing_is_known_is_charged_at_its_bound_and_the_next_on_its_own(
    tmp_path: Path,
) -> None:
    async with open_scripted_proxy(tmp_path, play_reset, script_answer(TRUE)) as (proxy, _):
        assert "9:30" in (await post_body(proxy)).text
        row = await proxy.await_trace()
        assert row.upstream_calls == 2
        assert await list_booked_costs(proxy) == [("1 bound", row.hold_nanousd), ("1 reported", COST)]
        assert row.cost_nanousd == row.hold_nanousd + COST


async def test_where_money_may_be_spent_the_end_is_a_notice_and_no_error_that_clients_ask_again_for(
    tmp_path: Path,
) -> None:
    async with open_scripted_proxy(tmp_path, play_reset) as (proxy, _):
        answer = await post_body(proxy)
        row = await proxy.await_trace()
        assert (answer.status_code, answer.headers["x-fiador-decision"]) == (200, "upstream_failed")
        assert (row.upstream_calls, row.cost_nanousd) == (3, 3 * row.hold_nanousd)


async def test_where_certainly_nothing_is_spent_the_end_is_a_503(tmp_path: Path) -> None:
    async with open_scripted_proxy(tmp_path, script_error(503), retries=1) as (proxy, fake):
        answer = await post_body(proxy)
        assert (answer.status_code, answer.headers["x-fiador-decision"]) == (503, "upstream_failed")
        assert (answer.headers["retry-after"], len(fake.calls)) == ("1", 2)
        assert (await proxy.await_trace()).cost_nanousd == 0


async def test_a_further_attempt_needs_money_of_its_own(tmp_path: Path) -> None:
    async with open_scripted_proxy(tmp_path, script_answer(TRUE)) as (proxy, fake):
        await post_body(proxy)
        hold = (await proxy.await_trace()).hold_nanousd
    async with open_scripted_proxy(tmp_path / "other", play_reset) as (proxy, fake):
        answer = await post_body(proxy, SpendCap(month_nanousd=hold + hold // 2))
        row = await proxy.await_trace()
        assert (row.decision, len(fake.calls), row.cost_nanousd) == (Decision.OVER_BUDGET, 1, hold)
        assert (answer.status_code, answer.headers["x-fiador-decision"]) == (200, "over_budget")


async def test_behind_the_first_byte_nothing_is_asked_again(tmp_path: Path) -> None:
    async with open_scripted_proxy(tmp_path, play_break, script_answer(TRUE)) as (proxy, fake):
        answer = await post_body(proxy)
        assert (len(fake.calls), (await proxy.await_trace()).decision) == (1, Decision.UPSTREAM_FAILED)
        assert "9:30" in answer.json()["choices"][0]["message"]["content"]


@pytest.mark.parametrize("status", [400, 401, 404, 422])
async def test_what_would_fail_again_is_not_asked_again(tmp_path: Path, status: int) -> None:
    async with open_scripted_proxy(tmp_path, script_error(status)) as (proxy, fake):
        assert (await post_body(proxy)).status_code == 503
        assert len(fake.calls) == 1


async def test_who_leaves_between_two_attempts_leaves_no_hold_and_a_row(tmp_path: Path) -> None:
    async with open_scripted_proxy(tmp_path, script_error(503, retry_after="5")) as (proxy, fake):
        asking = asyncio.create_task(post_body(proxy))
        while not fake.calls:  # noqa: ASYNC110 - a list has no event
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.2)
        asking.cancel()
        row = await proxy.await_trace()
        assert (row.decision, row.upstream_calls) == (Decision.LEFT, 1)
        assert await list_booked_costs(proxy) == [("1 reported", 0)]
