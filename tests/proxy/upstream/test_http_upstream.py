"""What is sent to an upstream, and what its answer or its error amounts to."""

import asyncio
import gzip

import pytest

from proxy.domain.types import UpstreamEnd, Usage
from proxy.upstream import http_upstream
from tests.fakes import (
    DONE,
    FakeUpstream,
    Player,
    Received,
    chunk,
    openai_stream,
    refuses,
    replays,
    says,
)
from tests.proxy.upstream.kit import CALL, Collect, ran, upstream


async def test_a_whole_answer_ends_well() -> None:
    ending, sink = await ran(says("Ada ", "wrote it."))
    assert ending == UpstreamEnd("stop", status=200)
    assert (sink.texts, sink.last) == (["Ada ", "wrote it."], Usage(10, 5))


async def test_a_cap_reached_is_told_as_such() -> None:
    ending, _ = await ran(says("Ada", finish="length"))
    assert ending.finish == "length"


async def test_a_second_request_uses_the_same_connection() -> None:
    """The end of the body may come a moment behind [DONE]."""

    async def play(received: Received, player: Player) -> None:
        await player.head()
        await player.read(b"".join(openai_stream(["Yes."])))
        await asyncio.sleep(0.01)
        await player.end()

    async with FakeUpstream(play) as fake:
        model = upstream(fake.url)
        for _ in range(3):
            await model.run(CALL, Collect())
        assert (len(fake.calls), fake.connections) == (3, 1)
        await model.aclose()


async def test_nothing_of_the_environment_gets_in(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    async with FakeUpstream(says("Yes.")) as fake:
        model = upstream(fake.url)
        await model.run(CALL, Collect())
        await model.run(CALL, Collect())
        await model.aclose()
    headers = fake.calls[1].headers
    assert headers["accept-encoding"] == "identity"
    assert headers["authorization"] == "Bearer sk-test"
    assert "cookie" not in headers


async def test_cookies_of_an_upstream_are_not_kept() -> None:
    async def play(received: Received, player: Player) -> None:
        await player.head(set_cookie="session=other-caller; Path=/")
        await player.read(b"".join(openai_stream(["Yes."])))
        await player.end()

    async with FakeUpstream(play) as fake:
        model = upstream(fake.url)
        await model.run(CALL, Collect())
        await model.run(CALL, Collect())
        await model.aclose()
    assert "cookie" not in fake.calls[1].headers


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500, 503, 529])
async def test_an_http_error_is_a_failure_with_its_status(status: int) -> None:
    ending, sink = await ran(refuses(status, b'{"error":{"message":"LEAK-no"}}'))
    assert (ending.finish, ending.status, sink.texts) == ("failed", status, [])
    assert "LEAK-no" in ending.detail


async def test_an_http_error_whose_body_does_not_come_is_known_by_its_status(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(http_upstream, "TAIL_S", 0.05)

    async def play(received: Received, player: Player) -> None:
        await player.head(503, retry_after="7")
        await player.read(b"sorry")
        await player.gone()

    ending, _ = await ran(play)
    assert (ending.finish, ending.status, ending.detail, ending.retry_after_s) == ("failed", 503, "sorry", 7)


async def test_retry_after_is_read() -> None:
    ending, _ = await ran(refuses(429, retry_after="7"))
    assert ending.retry_after_s == 7


async def test_a_redirect_is_not_followed() -> None:
    async with FakeUpstream(refuses(307, location="/elsewhere")) as fake:
        model = upstream(fake.url)
        ending = await model.run(CALL, Collect())
        await model.aclose()
    assert (ending.finish, ending.status, len(fake.calls)) == ("failed", 307, 1)


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b'{"error":{"message":"no"}}', "application/json"),
        (b'[{"error":{"message":"no"}}]', "application/json"),
        (b'data: {"error":"no"}\n\n', "text/event-stream"),
        (b"<html>Maintenance</html>", "text/html"),
        (b"", "text/event-stream"),
        (b"", "application/json"),
        (b"not json", "application/json"),
        (b"data: \n\ndata: nonsense\n\n", "text/event-stream"),
    ],
)
async def test_a_200_without_an_answer_is_a_failure(body: bytes, content_type: str) -> None:
    ending, sink = await ran(replays([body], content_type=content_type))
    assert (ending.finish, sink.texts) == ("failed", [])


async def test_an_answer_in_one_json_body_is_read() -> None:
    body = b'\n\n{"choices":[{"index":0,"message":{"content":"Yes."},"finish_reason":"stop"}]}'
    ending, sink = await ran(replays([body], content_type="application/json; charset=utf-8"))
    assert (ending.finish, sink.texts) == ("stop", ["Yes."])


async def test_a_compressed_answer_is_read_though_none_was_asked_for() -> None:
    async def play(received: Received, player: Player) -> None:
        await player.head(content_encoding="gzip")
        await player.read(gzip.compress(b"".join(openai_stream(["Yes."]))))
        await player.end()

    ending, sink = await ran(play)
    assert (ending.finish, sink.texts) == ("stop", ["Yes."])


async def test_thinking_is_billed_and_never_text() -> None:
    reads = [chunk({"reasoning_content": "hm"}), *openai_stream(["<thi", "nk>hm</th", "ink>Yes."])]
    _, sink = await ran(replays(reads))
    assert ("".join(sink.texts), sink.thoughts) == ("Yes.", ["hm", "hm"])


async def test_a_tool_call_is_no_whole_answer() -> None:
    reads = [chunk({"content": "Let me see."}), chunk({"tool_calls": [{"function": {"name": "x"}}]})]
    ending, _ = await ran(replays([*reads, chunk({}, "stop"), DONE]))
    assert ending.finish == "cut"
