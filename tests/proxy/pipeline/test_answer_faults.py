"""answer() where money, an upstream, a client or the gate fails: what is called, paid and told."""

import asyncio
import time
from pathlib import Path

import httpx
import openai
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
from tests.proxy.deployment import QUESTION, TRUE, RunningProxy, ask_for_text, open_proxy


async def test_a_stop_cancels_the_upstream_within_a_second(proxy: RunningProxy, fake: FakeUpstream) -> None:
    async def play_endlessly(received: ReceivedRequest, player: ResponsePlayer) -> None:
        await player.send_head()
        for piece in make_openai_stream(["It closes at 19:45 [1]. "] * 10_000):
            await player.send_chunk(piece)
            await asyncio.sleep(0.01)

    fake.play = play_endlessly
    await ask_for_text(await proxy.open_client())
    async with asyncio.timeout(1):
        await fake.departed.wait()


async def test_a_client_that_leaves_closes_the_upstream_within_a_second_and_its_cost_is_booked(
    proxy: RunningProxy, fake: FakeUpstream
) -> None:
    async def play_slowly(received: ReceivedRequest, player: ResponsePlayer) -> None:
        await player.send_head()
        for piece in make_openai_stream([TRUE, *["The reading room has 40 seats [1]. "] * 1_000]):
            await player.send_chunk(piece)
            await asyncio.sleep(0.05)

    fake.play = play_slowly
    client = await proxy.open_client()
    stream = await client.chat.completions.create(
        model="help", messages=[{"role": "user", "content": QUESTION}], stream=True
    )
    async for chunk in stream:
        if chunk.choices[0].delta.content:
            break
    left = time.monotonic()
    await stream.close()
    async with asyncio.timeout(1):
        await fake.departed.wait()
    assert time.monotonic() - left < 1
    row = await proxy.await_trace()
    assert row.decision is Decision.LEFT
    assert row.cost_nanousd > 0


async def test_a_cap_that_is_used_up_gives_the_notice_and_no_call(
    proxy: RunningProxy, fake: FakeUpstream
) -> None:
    text = await ask_for_text(await proxy.open_client(cap=SpendCap(month_nanousd=0)))
    row = await proxy.await_trace()
    assert (row.decision, row.layer, len(fake.calls)) == (Decision.OVER_BUDGET, "spend", 0)
    assert "limit" in text


async def test_fifty_at_once_on_a_cap_for_seven_make_seven_calls(
    proxy: RunningProxy, fake: FakeUpstream
) -> None:
    decided = asyncio.Event()

    async def play_once_decided(received: ReceivedRequest, player: ResponsePlayer) -> None:
        await decided.wait()
        await script_answer(TRUE)(received, player)

    probe = await proxy.open_client()
    await ask_for_text(probe)
    hold = (await proxy.await_trace()).hold_nanousd
    fake.calls.clear()
    fake.play = play_once_decided
    client = await proxy.open_client(cap=SpendCap(month_nanousd=7 * hold + hold // 2))
    asked = [asyncio.create_task(ask_for_text(client)) for _ in range(50)]
    for _ in range(400):
        if sum(task.done() for task in asked) == 43 and len(fake.calls) == 7:
            break
        await asyncio.sleep(0.02)
    assert (sum(task.done() for task in asked), len(fake.calls)) == (43, 7)
    decided.set()
    texts = await asyncio.gather(*asked)
    assert sum("9:30" in text for text in texts) == 7
    assert len(fake.calls) == 7


async def test_an_upstream_that_cannot_be_reached_before_any_spend_is_a_503(
    proxy: RunningProxy, fake: FakeUpstream
) -> None:
    fake.play = script_error(500)
    client = await proxy.open_client()
    with pytest.raises(openai.InternalServerError) as caught:
        await ask_for_text(client)
    assert caught.value.status_code == 503
    assert (await proxy.await_trace()).decision is Decision.UPSTREAM_FAILED
    assert (await proxy.await_trace()).cost_nanousd == 0


def _script_cut(pieces: list[str]) -> ResponseScript:
    async def play_cut(received: ReceivedRequest, player: ResponsePlayer) -> None:
        await player.send_head()
        for data in make_openai_stream(pieces)[:-3]:
            await player.send_chunk(data)
        await asyncio.sleep(0.05)
        player.close_early()

    return play_cut


async def test_an_answer_that_breaks_off_keeps_its_sentences_and_says_so(
    proxy: RunningProxy, fake: FakeUpstream
) -> None:
    fake.play = _script_cut([TRUE, "It closes at 18"])
    text = await ask_for_text(await proxy.open_client())
    row = await proxy.await_trace()
    assert row.decision is Decision.UPSTREAM_FAILED
    assert text.startswith("The reading room opens at 9:30.\n\n")
    assert "18" not in text


async def test_a_failing_gate_stops_the_answer(
    proxy: RunningProxy, fake: FakeUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_gate(*_: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr("proxy.gate.Gate.feed", break_gate)
    text = await ask_for_text(await proxy.open_client())
    row = await proxy.await_trace()
    assert (row.decision, row.rule) == (Decision.STOPPED, "fault")
    assert "9:30" not in text


async def test_readiness_is_red_while_the_ledger_is_down(proxy: RunningProxy) -> None:
    async with httpx.AsyncClient(trust_env=False) as client:
        assert (await client.get(f"{proxy.url}/readyz")).status_code == 200
        proxy.deployment.ledger.path.unlink()
        assert (await client.get(f"{proxy.url}/readyz")).status_code == 503
        text = await ask_for_text(await proxy.open_client())
    assert (await proxy.await_trace()).decision is Decision.LEDGER_DOWN
    assert "9:30" not in text


async def test_a_retry_while_the_first_still_runs_hears_the_same_and_is_paid_once(
    tmp_path: Path, fake: FakeUpstream
) -> None:
    fake.play = script_answer(TRUE, "It closes at 18:00 [1].", pause_s=0.1)
    async with open_proxy(tmp_path, fake.url, join_s=5) as proxy:
        client = await proxy.open_client()
        texts = await asyncio.gather(*(ask_for_text(client) for _ in range(3)))
        rows = await proxy.await_traces(3)
    assert len(set(texts)) == 1
    assert len(fake.calls) == 1
    assert sorted(row.upstream_calls for row in rows) == [0, 0, 1]
    assert {row.decision for row in rows} == {Decision.ANSWERED}
