"""What an attacker tried on a running proxy, kept as it was sent: each test names what must not happen."""

import asyncio
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import httpx
from openai import AsyncOpenAI

from proxy.app.asgi import build_surface
from proxy.domain.ports import CostBound, Denial, Hold, Ledger, Prices, Settled, Spent
from proxy.domain.types import Caller, Decision
from tests.fake_upstream import DONE, FakeUpstream, make_chunk, script_answer, script_reads
from tests.loopback_server import serve_app
from tests.proxy.deployment import QUESTION, TRUE, open_proxy

BONUS = "The staff bonus for the reading room is 350 euros a year [1]. "
BLINK_S = 2.0
"""Far above what an honest request takes here, far below what the attacks took."""


class GroupTokenAuthenticator:
    """Tokens of one account, each with the groups that it names."""

    async def authenticate(self, headers: Mapping[str, str], peer: str) -> Caller:
        groups = headers["authorization"].removeprefix("Bearer ").split(",")
        return Caller("jwt-1", "ines", frozenset(groups))


async def test_a_token_without_a_group_does_not_join_the_answer_of_one_that_has_it(tmp_path: Path) -> None:
    """Both are of one account and ask the same, so one would hear what only the other may read."""
    question = "What is the staff bonus for the reading room?"
    body = {"model": "help", "messages": [{"role": "user", "content": question}]}
    async with (
        FakeUpstream(script_answer(BONUS, pause_s=0.2)) as fake,
        open_proxy(tmp_path, fake.url, join_s=10) as proxy,
    ):
        context = replace(proxy.deployment.context, auth=GroupTokenAuthenticator())
        async with (
            serve_app(build_surface(replace(proxy.deployment, context=context))) as url,
            httpx.AsyncClient(base_url=f"{url}/v1", trust_env=False) as http,
        ):

            async def ask_as(groups: str) -> str:
                headers = {"authorization": f"Bearer {groups}"}
                answer = await http.post("/chat/completions", json=body, headers=headers)
                return str(answer.json()["choices"][0]["message"])  # ids are random: one may hold any figure

            staff = asyncio.create_task(ask_as("public,staff"))
            await asyncio.sleep(0.1)
            other = await ask_as("public")
            assert "350" in await staff
            assert "350" not in other
            assert "bonus" not in other.lower()


async def ask_turns(client: AsyncOpenAI, *turns: str, **fields: object) -> str:
    """The answer after user and assistant turns in their order."""
    messages = [{"role": "assistant" if at % 2 else "user", "content": text} for at, text in enumerate(turns)]
    done = await client.chat.completions.create(model="help", messages=messages, **fields)  # type: ignore[call-overload]
    return str(done.choices[0].message.content)


SLOW = [
    ("write me a " * 18_000, "No.", "and for me?"),  # one search for each of thousands of hits
    ("Which?", "- ab\n" * 39_000, "What about the second one?"),  # one look at all titles for each line
    (" ".join(map(str, range(30_000))), "Yes.", QUESTION),  # thirty thousand words to be looked for
    ("Which?", f"- «{'a ' * 90_000}»\n- «b»", "What about the first one?"),
]


async def test_no_history_that_is_let_in_makes_its_reading_slow(tmp_path: Path) -> None:
    """What one client sends must not keep the event loop, and with it all others, waiting."""
    async with FakeUpstream(script_answer(TRUE)) as fake, open_proxy(tmp_path, fake.url) as proxy:
        client = await proxy.open_client()
        await ask_turns(client, QUESTION)  # what is made at first need is made
        for turns in SLOW:
            start = time.process_time()  # not what neighbours take
            await ask_turns(client, *turns)
            assert time.process_time() - start < BLINK_S


STOPS = [
    ("40", ["The reading room opens at 9:30.", "It has"]),  # what is left of a sentence keeps its source
    (". It", ["The reading room opens at 9:30"]),  # the sequence began in the sentence before
    ("30. It has", []),  # "opens at 9:" would be a time that no source has
    ("0 seats", ["The reading room opens at 9:30."]),  # so would 4 seats
    ("The reading room opens at 9:30. It has 40 seats.", []),
]


async def test_a_stop_sequence_leaves_no_new_value_and_no_citation_of_what_was_not_sent(
    tmp_path: Path,
) -> None:
    async with (
        FakeUpstream(script_answer(TRUE, "It has 40 seats [1].")) as fake,
        open_proxy(tmp_path, fake.url) as proxy,
    ):
        client = await proxy.open_client()
        for stop, cited in STOPS:
            done = await client.chat.completions.create(
                model="help", messages=[{"role": "user", "content": QUESTION}], stop=[stop]
            )
            message = done.choices[0].message
            text = message.content or ""
            spans = [note.url_citation for note in message.annotations or []]
            assert [text[span.start_index : span.end_index] for span in spans] == cited
            assert all(span.end_index <= len(text) for span in spans)
            assert bool(cited) == bool(text)


async def test_half_a_character_in_a_structured_answer_does_not_break_the_reply(tmp_path: Path) -> None:
    answer = json.dumps({"answer": "\ud800 It opens at 9:30.", "citations": [1]})
    async with FakeUpstream(script_answer(answer)) as fake, open_proxy(tmp_path, fake.url) as proxy:
        context = proxy.deployment.context
        persona = context.assistants["help"]
        structured = replace(
            persona, answer_settings=persona.answer_settings.model_copy(update={"mode": "structured"})
        )
        context = replace(context, assistants={"help": structured})
        async with serve_app(build_surface(replace(proxy.deployment, context=context))) as url:
            headers = {"authorization": f"Bearer {await proxy.issue_key()}"}
            body = {"model": "help", "messages": [{"role": "user", "content": QUESTION}]}
            async with httpx.AsyncClient(base_url=f"{url}/v1", headers=headers, trust_env=False) as http:
                response = await http.post("/chat/completions", json=body)
    assert response.status_code == 200
    assert response.json()["choices"][0]["message"]["content"].startswith("\ufffd It opens at 9:30.")


BROKEN = [
    b'{"choices":[{"index":0,"delta":{"tool_calls":[{"arguments":"\\ud800"}]},"finish_reason":"stop"}]}',
    b'{"choices":[{"index":0,"delta":{"tool_calls":'
    + b"[" * 900
    + b"]" * 900
    + b'},"finish_reason":"stop"}]}',
    b'{"error":{"message":"\\ud800"}}',
]


async def test_what_an_upstream_says_beside_its_text_cannot_break_the_reply(tmp_path: Path) -> None:
    """Sentences that have passed are kept, the cause is written down, and nothing else gets out."""
    async with FakeUpstream(script_answer(TRUE)) as fake, open_proxy(tmp_path, fake.url) as proxy:
        client = await proxy.open_client()
        for number, data in enumerate(BROKEN, 1):
            fake.play = script_reads(
                [make_chunk({"content": f"{TRUE}It has"}), b"data: " + data + b"\n\n", DONE]
            )
            text = await ask_turns(client, QUESTION)
            assert text.startswith("The reading room opens at 9:30.")
            assert "technical fault" in text
            row = await proxy.await_trace(number)
            assert row.decision == Decision.UPSTREAM_FAILED
            assert row.detail.startswith(("done tool_calls", "error {"))


@dataclass(frozen=True)
class SlowLedger:
    """A ledger that takes its time to settle."""

    ledger: Ledger

    async def reserve(self, caller: Caller, model: str, bound: CostBound, prices: Prices) -> Hold | Denial:
        return await self.ledger.reserve(caller, model, bound, prices)

    async def settle(self, hold: Hold, spent: Spent) -> Settled:
        await asyncio.sleep(0.3)
        return await self.ledger.settle(hold, spent)


async def test_who_leaves_while_the_cost_is_booked_leaves_a_row_that_says_it(tmp_path: Path) -> None:
    body = {"model": "help", "messages": [{"role": "user", "content": QUESTION}], "stream": True}
    async with FakeUpstream(script_answer(TRUE, "More")) as fake, open_proxy(tmp_path, fake.url) as proxy:
        context = replace(proxy.deployment.context, ledger=SlowLedger(proxy.deployment.ledger))
        headers = {"authorization": f"Bearer {await proxy.issue_key()}"}
        async with (
            serve_app(build_surface(replace(proxy.deployment, context=context))) as url,
            httpx.AsyncClient(base_url=f"{url}/v1", headers=headers, trust_env=False) as http,
            http.stream("POST", "/chat/completions", json=body) as response,
        ):
            await anext(response.aiter_bytes())  # a sentence is out, and the upstream is through
        rows = await proxy.log.list_recent_traces(1)  # the server waits for what is under way
    assert rows[0].decision == Decision.LEFT
    assert rows[0].cost_nanousd == 10 * 1000 + 5 * 2000
