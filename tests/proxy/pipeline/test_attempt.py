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
from tests.fakes import FakeUpstream, Play, Player, Received, openai_stream, refuses, says
from tests.proxy.deployment import QUESTION, RunningProxy, deployed

BODY = {"model": "help", "messages": [{"role": "user", "content": QUESTION}]}
TRUE = "The reading room opens at 9:30 [1]."
COST = 10 * 1000 + 5 * 2000
"""Of an answer with the usage that the fake reports."""


async def resets(received: Received, player: Player) -> None:
    """Takes the whole request and says nothing: what it has cost nobody knows."""
    player.reset()


async def breaks(received: Received, player: Player) -> None:
    await player.head()
    for data in openai_stream([TRUE, " It closes"])[:-3]:
        await player.read(data)
    await asyncio.sleep(0.05)
    player.cut()


@asynccontextmanager
async def upstream(
    folder: Path, *plays: Play, retries: int = 2
) -> AsyncIterator[tuple[RunningProxy, FakeUpstream]]:
    """A deployment whose upstream plays one after another, the last one for ever."""
    left = list(plays)

    async def play(received: Received, player: Player) -> None:
        await (left.pop(0) if len(left) > 1 else left[0])(received, player)

    async with FakeUpstream(play) as fake, deployed(folder, fake.url, retries=retries) as proxy:
        yield proxy, fake


async def ask(proxy: RunningProxy, cap: SpendCap | None = None) -> httpx.Response:
    headers = {"authorization": f"Bearer {await proxy.key(cap=cap)}"}
    async with httpx.AsyncClient(trust_env=False, headers=headers, timeout=30) as http:
        return await http.post(f"{proxy.url}/v1/chat/completions", json=BODY)


async def booked(proxy: RunningProxy) -> list[tuple[str, int]]:
    """What each attempt's cost rests on, and the nano-dollars of all that rest on it."""
    proof = await proxy.services.ledger.verify_balances()
    assert (proof.holds, proof.faults) == ((), ())
    rows = await proxy.services.ledger.list_invoice_lines(f"{datetime.now(UTC):%Y-%m}")
    return [(f"{row.entries} {row.basis}", row.nanousd) for row in rows]


async def test_an_attempt_that_was_refused_costs_nothing_and_the_next_one_answers(tmp_path: Path) -> None:
    async with upstream(tmp_path, refuses(503), refuses(429), says(TRUE)) as (proxy, fake):
        assert "9:30" in (await ask(proxy)).text
        row = await proxy.row()
        assert (row.decision, row.upstream_calls, len(fake.calls)) == (Decision.ANSWERED, 3, 3)
        assert (row.cost_nanousd, await booked(proxy)) == (COST, [("3 reported", COST)])


async def test_an_attempt_of_which_nothing_is_known_is_charged_at_its_bound_and_the_next_on_its_own(
    tmp_path: Path,
) -> None:
    async with upstream(tmp_path, resets, says(TRUE)) as (proxy, _):
        assert "9:30" in (await ask(proxy)).text
        row = await proxy.row()
        assert row.upstream_calls == 2
        assert await booked(proxy) == [("1 bound", row.hold_nanousd), ("1 reported", COST)]
        assert row.cost_nanousd == row.hold_nanousd + COST


async def test_where_money_may_be_spent_the_end_is_a_notice_and_no_error_that_clients_ask_again_for(
    tmp_path: Path,
) -> None:
    async with upstream(tmp_path, resets) as (proxy, _):
        answer = await ask(proxy)
        row = await proxy.row()
        assert (answer.status_code, answer.headers["x-fiador-decision"]) == (200, "upstream_failed")
        assert (row.upstream_calls, row.cost_nanousd) == (3, 3 * row.hold_nanousd)


async def test_where_certainly_nothing_is_spent_the_end_is_a_503(tmp_path: Path) -> None:
    async with upstream(tmp_path, refuses(503), retries=1) as (proxy, fake):
        answer = await ask(proxy)
        assert (answer.status_code, answer.headers["x-fiador-decision"]) == (503, "upstream_failed")
        assert (answer.headers["retry-after"], len(fake.calls)) == ("1", 2)
        assert (await proxy.row()).cost_nanousd == 0


async def test_a_further_attempt_needs_money_of_its_own(tmp_path: Path) -> None:
    async with upstream(tmp_path, says(TRUE)) as (proxy, fake):
        await ask(proxy)
        hold = (await proxy.row()).hold_nanousd
    async with upstream(tmp_path / "other", resets) as (proxy, fake):
        answer = await ask(proxy, SpendCap(month_nanousd=hold + hold // 2))
        row = await proxy.row()
        assert (row.decision, len(fake.calls), row.cost_nanousd) == (Decision.OVER_BUDGET, 1, hold)
        assert (answer.status_code, answer.headers["x-fiador-decision"]) == (200, "over_budget")


async def test_behind_the_first_byte_nothing_is_asked_again(tmp_path: Path) -> None:
    async with upstream(tmp_path, breaks, says(TRUE)) as (proxy, fake):
        answer = await ask(proxy)
        assert (len(fake.calls), (await proxy.row()).decision) == (1, Decision.UPSTREAM_FAILED)
        assert "9:30" in answer.json()["choices"][0]["message"]["content"]


@pytest.mark.parametrize("status", [400, 401, 404, 422])
async def test_what_would_fail_again_is_not_asked_again(tmp_path: Path, status: int) -> None:
    async with upstream(tmp_path, refuses(status)) as (proxy, fake):
        assert (await ask(proxy)).status_code == 503
        assert len(fake.calls) == 1


async def test_who_leaves_between_two_attempts_leaves_no_hold_and_a_row(tmp_path: Path) -> None:
    async with upstream(tmp_path, refuses(503, retry_after="5")) as (proxy, fake):
        asking = asyncio.create_task(ask(proxy))
        while not fake.calls:  # noqa: ASYNC110 - a list has no event
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.2)
        asking.cancel()
        row = await proxy.row()
        assert (row.decision, row.upstream_calls) == (Decision.LEFT, 1)
        assert await booked(proxy) == [("1 reported", 0)]
