"""What is sent to an upstream, and what its answer or its error amounts to."""

import asyncio
import gzip

import pytest

from proxy.domain.types import UpstreamEnd, Usage
from proxy.upstream import http_upstream
from tests.fake_upstream import (
    DONE,
    FakeUpstream,
    ReceivedRequest,
    ResponsePlayer,
    make_chunk,
    make_openai_stream,
    script_answer,
    script_error,
    script_reads,
)
from tests.proxy.upstream.single_attempt import CALL, CollectingSink, attempt_once, make_upstream


async def test_a_whole_answer_ends_well() -> None:
    ending, sink = await attempt_once(script_answer("Ada ", "wrote it."))
    assert ending == UpstreamEnd("stop", status=200)
    assert (sink.texts, sink.last) == (["Ada ", "wrote it."], Usage(10, 5))


async def test_a_cap_reached_is_told_as_such() -> None:
    ending, _ = await attempt_once(script_answer("Ada", finish="length"))
    assert ending.finish == "length"


async def test_a_second_request_uses_the_same_connection() -> None:
    """The end of the body may come a moment behind [DONE]."""

    async def play_late_end(received: ReceivedRequest, player: ResponsePlayer) -> None:
        await player.send_head()
        await player.send_chunk(b"".join(make_openai_stream(["Yes."])))
        await asyncio.sleep(0.01)
        await player.end_body()

    async with FakeUpstream(play_late_end) as fake:
        model = make_upstream(fake.url)
        for _ in range(3):
            await model.run(CALL, CollectingSink())
        assert (len(fake.calls), fake.connections) == (3, 1)
        await model.aclose()


async def test_nothing_of_the_environment_gets_in(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    async with FakeUpstream(script_answer("Yes.")) as fake:
        model = make_upstream(fake.url)
        await model.run(CALL, CollectingSink())
        await model.run(CALL, CollectingSink())
        await model.aclose()
    headers = fake.calls[1].headers
    assert headers["accept-encoding"] == "identity"
    assert headers["authorization"] == "Bearer sk-test"
    assert "cookie" not in headers


async def test_cookies_of_an_upstream_are_not_kept() -> None:
    async def play_cookie(received: ReceivedRequest, player: ResponsePlayer) -> None:
        await player.send_head(set_cookie="session=other-caller; Path=/")
        await player.send_chunk(b"".join(make_openai_stream(["Yes."])))
        await player.end_body()

    async with FakeUpstream(play_cookie) as fake:
        model = make_upstream(fake.url)
        await model.run(CALL, CollectingSink())
        await model.run(CALL, CollectingSink())
        await model.aclose()
    assert "cookie" not in fake.calls[1].headers


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500, 503, 529])
async def test_an_http_error_is_a_failure_with_its_status(status: int) -> None:
    ending, sink = await attempt_once(script_error(status, b'{"error":{"message":"LEAK-no"}}'))
    assert (ending.finish, ending.status, sink.texts) == ("failed", status, [])
    assert "LEAK-no" in ending.detail


async def test_an_http_error_whose_body_does_not_come_is_known_by_its_status(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(http_upstream, "TAIL_S", 0.05)

    async def play_unfinished_error(received: ReceivedRequest, player: ResponsePlayer) -> None:
        await player.send_head(503, retry_after="7")
        await player.send_chunk(b"sorry")
        await player.await_close()

    ending, _ = await attempt_once(play_unfinished_error)
    assert (ending.finish, ending.status, ending.detail, ending.retry_after_s) == ("failed", 503, "sorry", 7)


async def test_retry_after_is_read() -> None:
    ending, _ = await attempt_once(script_error(429, retry_after="7"))
    assert ending.retry_after_s == 7


async def test_a_redirect_is_not_followed() -> None:
    async with FakeUpstream(script_error(307, location="/elsewhere")) as fake:
        model = make_upstream(fake.url)
        ending = await model.run(CALL, CollectingSink())
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
    ending, sink = await attempt_once(script_reads([body], content_type=content_type))
    assert (ending.finish, sink.texts) == ("failed", [])


async def test_an_answer_in_one_json_body_is_read() -> None:
    body = b'\n\n{"choices":[{"index":0,"message":{"content":"Yes."},"finish_reason":"stop"}]}'
    ending, sink = await attempt_once(script_reads([body], content_type="application/json; charset=utf-8"))
    assert (ending.finish, sink.texts) == ("stop", ["Yes."])


async def test_a_compressed_answer_is_read_though_none_was_asked_for() -> None:
    async def play_gzip(received: ReceivedRequest, player: ResponsePlayer) -> None:
        await player.send_head(content_encoding="gzip")
        await player.send_chunk(gzip.compress(b"".join(make_openai_stream(["Yes."]))))
        await player.end_body()

    ending, sink = await attempt_once(play_gzip)
    assert (ending.finish, sink.texts) == ("stop", ["Yes."])


async def test_thinking_is_billed_and_never_text() -> None:
    reads = [make_chunk({"reasoning_content": "hm"}), *make_openai_stream(["<thi", "nk>hm</th", "ink>Yes."])]
    _, sink = await attempt_once(script_reads(reads))
    assert ("".join(sink.texts), sink.thoughts) == ("Yes.", ["hm", "hm"])


async def test_a_tool_call_is_no_whole_answer() -> None:
    reads = [
        make_chunk({"content": "Let me see."}),
        make_chunk({"tool_calls": [{"function": {"name": "x"}}]}),
    ]
    ending, _ = await attempt_once(script_reads([*reads, make_chunk({}, "stop"), DONE]))
    assert ending.finish == "cut"
