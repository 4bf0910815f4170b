"""What each protocol sends, and that both keep the same contract over a real socket."""

import asyncio
import json
from collections.abc import Callable, Sequence

import pytest

from proxy.domain.errors import BusyError
from proxy.domain.ports import Upstream
from proxy.domain.types import Message, Sampling, UpstreamCall, Usage
from proxy.settings import tree
from proxy.upstream.anthropic import AnthropicUpstream
from proxy.upstream.openai import OpenAIUpstream
from tests.fake_upstream import (
    FakeUpstream,
    ReceivedRequest,
    ResponsePlayer,
    ResponseScript,
    make_anthropic_stream,
    make_openai_stream,
    script_error,
    script_reads,
)
from tests.proxy.upstream.single_attempt import CollectingSink

CALL = UpstreamCall(
    model="big-1",
    messages=(Message("system", "Rules."), Message("user", "Who?")),
    output_cap=100,
    reasoning_cap=20,
    sampling=Sampling(temperature=0.5, reasoning_effort="low", verbosity="low"),
)
EitherUpstream = OpenAIUpstream | AnthropicUpstream
StreamMaker = Callable[[Sequence[str]], list[bytes]]

PROTOCOLS = pytest.mark.parametrize(
    ("kind", "stream"), [(OpenAIUpstream, make_openai_stream), (AnthropicUpstream, make_anthropic_stream)]
)


def build_upstream(kind: type[EitherUpstream], url: str, **settings: object) -> EitherUpstream:
    fields = {"protocol": "openai", "base_url": url, "idle_s": 0.5, "total_s": 2} | settings
    return kind(tree.UpstreamSettings.model_validate(fields), key="sk-test")


def encode_call_body(
    kind: type[EitherUpstream], call: UpstreamCall = CALL, **settings: object
) -> dict[str, object]:
    value: dict[str, object] = json.loads(build_upstream(kind, "http://x", **settings).encode_body(call))
    return value


@PROTOCOLS
async def test_an_answer_comes_through_whole_with_its_usage(
    kind: type[EitherUpstream], stream: StreamMaker
) -> None:
    async with FakeUpstream(script_reads(stream(["Ada ", "🪨."]))) as fake:
        upstream, sink = build_upstream(kind, fake.url), CollectingSink()
        ending = await upstream.run(CALL, sink)
        await upstream.aclose()
    assert (ending.finish, sink.texts, sink.last) == ("stop", ["Ada ", "🪨."], Usage(10, 5))


@PROTOCOLS
async def test_what_is_sent_is_what_was_priced(kind: type[EitherUpstream], stream: StreamMaker) -> None:
    """The bound of the cost is taken from `encode_body`."""
    async with FakeUpstream(script_reads(stream(["x"]))) as fake:
        upstream = build_upstream(kind, fake.url)
        contract: Upstream = upstream
        await contract.run(CALL, CollectingSink())
        await upstream.aclose()
    assert fake.calls[0].body == contract.encode_body(CALL)
    assert fake.calls[0].headers["content-type"] == "application/json"


@PROTOCOLS
async def test_each_read_is_flushed_once(kind: type[EitherUpstream], stream: StreamMaker) -> None:
    """A sentence leaves when it is whole, not when the answer is."""
    reads = stream(["Ada."])

    async def play_paced_reads(received: ReceivedRequest, player: ResponsePlayer) -> None:
        await player.send_head()
        for data in reads:
            await player.send_chunk(data)
            await asyncio.sleep(0.02)
        await player.end_body()

    async with FakeUpstream(play_paced_reads) as fake:
        upstream, sink = build_upstream(kind, fake.url), CollectingSink()
        await upstream.run(CALL, sink)
        await upstream.aclose()
    assert sink.flushes >= len(reads)


@PROTOCOLS
async def test_a_cut_answer_is_told_as_cut(kind: type[EitherUpstream], stream: StreamMaker) -> None:
    async with FakeUpstream(script_reads(stream(["Ada", " wrote"])[:-3])) as fake:
        upstream, sink = build_upstream(kind, fake.url), CollectingSink()
        ending = await upstream.run(CALL, sink)
        await upstream.aclose()
    assert ending.finish == "cut"


@PROTOCOLS
async def test_an_upstream_that_wants_no_more_requests_says_so(
    kind: type[EitherUpstream], stream: StreamMaker
) -> None:
    async with FakeUpstream(script_error(529, retry_after="3")) as fake:
        upstream = build_upstream(kind, fake.url)
        ending = await upstream.run(CALL, CollectingSink())
        await upstream.aclose()
    assert (ending.finish, ending.status, ending.retry_after_s) == ("failed", 529, 3)


def script_model_list(*names: str) -> ResponseScript:
    data = json.dumps({"data": [{"id": name} for name in names]}).encode()
    return script_reads([data], content_type="application/json")


@PROTOCOLS
async def test_the_model_list_is_read_or_its_fault_told(
    kind: type[EitherUpstream], stream: StreamMaker
) -> None:
    async with FakeUpstream(script_model_list("big-1", "small-1")) as fake:
        upstream = build_upstream(kind, f"{fake.url}/v1")
        assert await upstream.list_models() == ("big-1", "small-1")
        assert fake.calls[0].path == "/v1/models"
        html, empty = script_reads([b"<html>"], content_type="text/html"), script_reads([b"{}"])
        for bad, said in ((script_error(401), "HTTP 401.*key_env"), (html, "models"), (empty, "models")):
            fake.play = bad
            with pytest.raises(BusyError, match=said):
                await upstream.list_models()
        await upstream.aclose()


async def test_where_anthropic_is_asked() -> None:
    async with FakeUpstream(script_reads(make_anthropic_stream(["x"]))) as fake:
        for url in (fake.url, f"{fake.url}/", f"{fake.url}/v1"):
            upstream = build_upstream(AnthropicUpstream, url)
            await upstream.run(CALL, CollectingSink())
            await upstream.aclose()
        assert {call.path for call in fake.calls} == {"/v1/messages"}
        headers = fake.calls[0].headers
    assert (headers["x-api-key"], headers["anthropic-version"]) == ("sk-test", "2023-06-01")
    assert "authorization" not in headers


def test_openai_is_always_asked_for_a_stream_with_usage() -> None:
    sent = encode_call_body(OpenAIUpstream)
    assert sent["stream_options"] == {"include_usage": True}
    assert sent["max_completion_tokens"] == 120
    assert sent.keys() == {
        "model",
        "messages",
        "stream",
        "stream_options",
        "max_completion_tokens",
        "temperature",
    }


def test_the_cap_goes_by_the_name_that_the_upstream_knows() -> None:
    assert encode_call_body(OpenAIUpstream, cap_field="max_tokens")["max_tokens"] == 120


def test_effort_and_verbosity_are_sent_only_where_the_upstream_is_said_to_know_them() -> None:
    sent = encode_call_body(OpenAIUpstream, reasoning_efforts=["low"], verbosities=["high"])
    assert sent["reasoning_effort"] == "low"
    assert "verbosity" not in sent


def test_a_structured_answer_is_asked_for_by_schema() -> None:
    sent = encode_call_body(OpenAIUpstream, UpstreamCall("m", (), 10, is_structured=True))
    assert sent["response_format"]["json_schema"]["strict"] is True  # type: ignore[index]
