"""From an upstream's socket to a client's: with no gate at all, nothing but content gets through the wire."""

import asyncio
from collections.abc import Sequence

import httpx
import pytest
from hypothesis import given, settings
from openai.types.chat import ChatCompletionChunk

from proxy.domain.ports import HttpRequest, Reply, ReplyEnd, ReplyOpener
from proxy.domain.types import Decision, Message, UpstreamCall, Usage
from proxy.http import routes
from proxy.settings import tree
from proxy.upstream.openai import OpenAIUpstream
from proxy.wire.chat_request import RequestPolicy, parse_chat_request
from tests.fake_upstream import DONE, FakeUpstream, make_chunk, script_error, script_reads
from tests.loopback_server import serve_app
from tests.proxy.wire.canaries import CANARY, fill_model, set_answer_text
from tests.proxy.wire.openai_replies import STOP, make_sse_event


class OpenSink:
    """A sink that releases everything."""

    def __init__(self, reply: Reply):
        self._reply = reply
        self._held = ""

    def push_text(self, piece: str) -> bool:
        self._held += piece
        return True

    def push_thought(self, piece: str) -> bool:
        return True

    def push_usage(self, usage: Usage) -> None:
        pass

    async def flush(self) -> None:
        if self._held:
            text, self._held = self._held, ""
            await self._reply.write_text(text)


async def relay_answer(fake: FakeUpstream, stream: bool) -> bytes:
    """Everything that a client gets, headers included, through a proxy that checks nothing."""
    upstream = OpenAIUpstream(
        tree.UpstreamSettings(protocol="openai", base_url=fake.url), key="sk-upstream-secret"
    )

    async def answer_request(http_request: HttpRequest, open_reply: ReplyOpener) -> None:
        request = parse_chat_request(http_request.body, RequestPolicy())
        reply = open_reply(request, "r1")
        sink = OpenSink(reply)
        await upstream.run(UpstreamCall("m", (Message("user", request.question),), 100), sink)
        await reply.end_reply(ReplyEnd(Decision.ANSWERED, "stop"))

    async def list_no_models(request: HttpRequest) -> Sequence[str]:
        return ()

    async def list_nothing_missing() -> Sequence[str]:
        return ()

    body = {"model": "ada", "messages": [{"role": "user", "content": "Who?"}], "stream": stream}
    async with (
        serve_app(
            routes.build_app(answer_request, list_no_models, list_nothing_missing, tree.ServerSettings())
        ) as url,
        httpx.AsyncClient(base_url=url, trust_env=False, verify=False) as client,
    ):
        response = await client.post("/v1/chat/completions", json=body)
    await upstream.aclose()
    return repr(response.headers.raw).encode() + response.content


def relay_reads(play_reads: list[bytes], stream: bool) -> bytes:
    async def relay_once() -> bytes:
        async with FakeUpstream(script_reads(play_reads)) as fake:
            return await relay_answer(fake, stream)

    return asyncio.run(relay_once())


@pytest.mark.parametrize("stream", [True, False])
@settings(max_examples=6, deadline=None)
@given(value=fill_model(ChatCompletionChunk))
def test_no_canary_reaches_the_client(stream: bool, value: object) -> None:
    """A chunk with a canary in every field of the package's types; only the content of choice 0 is plain."""
    got = relay_reads(
        [make_chunk({"content": "so "}), make_sse_event(set_answer_text(value, "it is ")), STOP, DONE], stream
    )
    assert CANARY.encode() not in got
    assert b"so " in got


@pytest.mark.parametrize("stream", [True, False])
async def test_no_header_comment_or_error_text_reaches_the_client(stream: bool) -> None:
    async with FakeUpstream(
        script_error(500, b'{"error":{"message":"CANARY"}}', x_request_id="CANARY")
    ) as fake:
        assert CANARY.encode() not in await relay_answer(fake, stream)
    async with FakeUpstream(
        script_reads(
            [b": CANARY\n\nid: CANARY\n\n", make_chunk({"content": "x"}), make_sse_event({"error": "CANARY"})]
        )
    ) as fake:
        assert CANARY.encode() not in await relay_answer(fake, stream)


def test_the_canary_would_sing() -> None:
    assert CANARY.encode() in relay_reads([make_chunk({"content": CANARY}), STOP, DONE], True)
