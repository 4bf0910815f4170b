"""What the HTTP surface does with requests, with answers and with clients who leave, over a real socket."""

import asyncio
import json
from contextlib import suppress

import httpx
import pytest

from proxy.domain.errors import AuthError, BusyError, LimitError, RequestError
from proxy.domain.ports import ClientGone, ReplyOpener
from proxy.domain.types import ChatRequest
from tests.proxy.http.http_surface import (
    BODY,
    DONE,
    STREAM,
    open_surface,
    parse_stream_events,
    send_raw_request,
    write_ordinary_answer,
)


async def test_a_stream_has_one_role_one_finish_one_usage_one_done() -> None:
    async with open_surface() as client:
        response = await client.post("/v1/chat/completions", json=STREAM)
    said = [event["choices"][0] for event in parse_stream_events(response.text) if event["choices"]]  # type: ignore[index]
    assert [choice["delta"] for choice in said] == [
        {"role": "assistant", "content": ""},
        {"content": "Ada "},
        {"content": "wrote it."},
        {
            "annotations": [
                {
                    "type": "url_citation",
                    "url_citation": {
                        "start_index": 0,
                        "end_index": 4,
                        "title": "Notes",
                        "url": "https://example.org/n",
                    },
                }
            ]
        },
        {},
    ]
    assert [choice["finish_reason"] for choice in said] == [None, None, None, None, "stop"]
    assert [e["usage"] for e in parse_stream_events(response.text) if "usage" in e] == [
        {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    ]


async def test_a_stream_says_what_proxies_and_logs_need_in_its_headers() -> None:
    async with open_surface() as client:
        headers = (await client.post("/v1/chat/completions", json=STREAM)).headers
    assert headers["content-type"] == "text/event-stream; charset=utf-8"
    assert headers["x-accel-buffering"] == "no"
    assert headers["cache-control"] == "no-cache"
    assert headers["x-fiador-id"] == "r1"
    assert headers["x-fiador-decision"] == "answered"


async def test_usage_is_sent_only_if_asked_for() -> None:
    async with open_surface() as client:
        response = await client.post("/v1/chat/completions", json=BODY | {"stream": True})
    assert all("usage" not in event for event in parse_stream_events(response.text))


async def test_without_streaming_the_answer_is_one_body() -> None:
    async with open_surface() as client:
        response = await client.post("/v1/chat/completions", json=BODY)
    body = response.json()
    assert body["choices"][0]["message"]["content"] == "Ada wrote it."
    assert len(body["choices"][0]["message"]["annotations"]) == 1
    assert body["usage"]["total_tokens"] == 15
    assert (body["id"], body["model"]) == ("chatcmpl-r1", "ada")
    assert response.headers["x-fiador-decision"] == "answered"


async def test_a_held_sentence_is_covered_by_comments() -> None:
    """The head goes out after `first_byte_s`, then comments without an id, then the text."""

    covered = asyncio.Event()

    async def write_answer(request: ChatRequest, open_reply: ReplyOpener) -> None:
        reply = open_reply(request, "r1")
        await covered.wait()
        await reply.write_text("Late.")
        await reply.end_reply(DONE)

    body = ""
    async with (
        open_surface(write_answer, first_byte_s=0.1, keep_alive_s=0.1) as client,
        client.stream("POST", "/v1/chat/completions", json=STREAM) as response,
    ):
        async for text in response.aiter_text():
            body += text
            if body.count(": keep-alive") == 2:
                covered.set()
    assert body.startswith(": keep-alive\n\n: keep-alive\n\n")
    assert "id:" not in body.replace('"id":', "")
    assert parse_stream_events(body)[1]["choices"][0]["delta"] == {"content": "Late."}  # type: ignore[index]


@pytest.mark.parametrize("stream", [True, False])
async def test_a_client_that_leaves_cancels_the_answer(stream: bool) -> None:
    begun, cancelled = asyncio.Event(), asyncio.Event()

    async def write_answer(request: ChatRequest, open_reply: ReplyOpener) -> None:
        await open_reply(request, "r1").write_text("Ada ")
        begun.set()
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    async with open_surface(write_answer) as client:
        asking = asyncio.create_task(client.post("/v1/chat/completions", json=BODY | {"stream": stream}))
        await begun.wait()
        asking.cancel()
        await asyncio.wait_for(cancelled.wait(), 1)
        with suppress(asyncio.CancelledError):
            await asking


async def test_writing_to_a_client_that_left_raises() -> None:
    """An answer that shields itself from cancelling still cannot talk to nobody."""
    raised = asyncio.Event()
    begun = asyncio.Event()

    async def write_answer(request: ChatRequest, open_reply: ReplyOpener) -> None:
        reply = open_reply(request, "r1")
        await reply.write_text("Ada ")
        begun.set()
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(30)
        try:
            await reply.write_text("wrote it.")
        except ClientGone:
            raised.set()
            raise

    async with open_surface(write_answer) as client:
        asking = asyncio.create_task(client.post("/v1/chat/completions", json=STREAM))
        await begun.wait()
        asking.cancel()
        await asyncio.wait_for(raised.wait(), 1)
        with suppress(asyncio.CancelledError):
            await asking


async def test_what_is_left_to_do_after_the_last_byte_is_not_cancelled() -> None:
    """A server reports "disconnect" for a finished response as well; the log is still being written then."""
    written = asyncio.Event()

    async def write_answer(request: ChatRequest, open_reply: ReplyOpener) -> None:
        await write_ordinary_answer(request, open_reply)
        await asyncio.sleep(0.1)
        written.set()

    async with open_surface(write_answer) as client:
        await client.post("/v1/chat/completions", json=STREAM)
        await asyncio.wait_for(written.wait(), 1)


@pytest.mark.parametrize(
    ("fault", "status", "headers"),
    [
        (RequestError("No.", code="bad", param="model"), 400, {}),
        (AuthError("No."), 401, {"www-authenticate": "Bearer"}),
        (
            LimitError("Slowly.", limit="key", retry_after_s=1.2),
            429,
            {"retry-after": "2", "x-fiador-decision": "limited"},
        ),
        (LimitError("Slowly.", limit="key", retry_after_s=3600), 429, {"x-should-retry": "false"}),
        (
            BusyError("Down.", code="upstream_failed"),
            503,
            {"retry-after": "1", "x-fiador-decision": "upstream_failed"},
        ),
    ],
)
@pytest.mark.parametrize("opened", [True, False])
async def test_a_fault_before_the_first_byte_is_a_status(
    fault: Exception, status: int, headers: dict[str, str], opened: bool
) -> None:
    async def write_answer(request: ChatRequest, open_reply: ReplyOpener) -> None:
        if opened:
            open_reply(request, "r1")
        raise fault

    async with open_surface(write_answer) as client:
        for body in (BODY, STREAM):
            response = await client.post("/v1/chat/completions", json=body)
            assert response.status_code == status
            assert response.json()["error"].keys() == {"message", "type", "param", "code"}
            assert headers.items() <= dict(response.headers).items()
            assert ("x-fiador-id" in response.headers) == opened


async def test_why_a_token_is_refused_is_for_the_log_alone(caplog: pytest.LogCaptureFixture) -> None:
    async def write_answer(request: ChatRequest, open_reply: ReplyOpener) -> None:
        raise AuthError("The token is not valid.", detail="InvalidIssuerError")

    caplog.set_level("DEBUG", "fiador.http")
    async with open_surface(write_answer) as client:
        response = await client.post("/v1/chat/completions", json=BODY)
    assert "InvalidIssuerError" not in response.text
    assert "InvalidIssuerError" in caplog.text


async def test_a_fault_after_the_first_byte_is_an_event_and_no_clean_end() -> None:
    async def write_answer(request: ChatRequest, open_reply: ReplyOpener) -> None:
        await open_reply(request, "r1").write_text("Ada ")
        raise BusyError("Down.")

    async with open_surface(write_answer) as client:
        body = (await client.post("/v1/chat/completions", json=STREAM)).text
    assert json.loads(body.split("\n\n")[-2].removeprefix("data: "))["error"]["message"] == "Down."
    assert "[DONE]" not in body


async def test_a_bug_shows_nothing_of_itself() -> None:
    async def write_answer(request: ChatRequest, open_reply: ReplyOpener) -> None:
        raise ZeroDivisionError("LEAK-secret")

    async with open_surface(write_answer) as client:
        response = await client.post("/v1/chat/completions", json=BODY)
    assert (response.status_code, response.headers["x-should-retry"]) == (500, "false")
    assert "LEAK" not in response.text


async def test_a_bug_in_the_middle_tears_the_connection() -> None:
    async def write_answer(request: ChatRequest, open_reply: ReplyOpener) -> None:
        await open_reply(request, "r1").write_text("Ada ")
        raise ZeroDivisionError

    async with open_surface(write_answer) as client:
        with pytest.raises(httpx.RemoteProtocolError):
            await client.post("/v1/chat/completions", json=STREAM)


@pytest.mark.parametrize(
    "path",
    [
        "/v1/responses",
        "/v1/completions",
        "/v1/embeddings",
        "/v1/messages",
        "/chat/completions",
        "/v1/chat/completions/",
        "/v1//chat/completions",
        "/v1/chat%2Fcompletions",
        "/v1/chat/completions;x",
        "/v1/x/../chat/completions",
        "/V1/chat/completions",
        "/",
    ],
)
async def test_other_paths_say_what_to_do(path: str) -> None:
    async with open_surface() as client:
        got = await send_raw_request(client, f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n")
    assert " 404 " in got.split("\r\n")[0]
    assert "/v1/chat/completions" in got or "use" in got or "fiador" in got


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/v1/chat/completions"), ("DELETE", "/v1/models"), ("OPTIONS", "/v1/chat/completions")],
)
async def test_other_methods_are_refused(method: str, path: str) -> None:
    async with open_surface() as client:
        response = await client.request(method, path, headers={"x-http-method-override": "POST"})
    assert (response.status_code, response.json()["error"]["code"]) == (405, "method_not_allowed")


async def test_models_are_listed_to_those_who_have_a_key() -> None:
    async with open_surface() as client:
        assert (await client.get("/v1/models")).status_code == 401
        key = {"authorization": "Bearer sk-good"}
        listed = (await client.get("/v1/models", headers=key)).json()
        assert [model["id"] for model in listed["data"]] == ["ada", "bee"]
        assert (await client.get("/v1/models/bee", headers=key)).json()["id"] == "bee"
        assert (await client.get("/v1/models/cee", headers=key)).status_code == 404


async def test_health_and_readiness_are_two_things() -> None:
    async with open_surface(missing=["no documents"]) as client:
        assert (await client.get("/healthz")).status_code == 200
        response = await client.get("/readyz")
        assert (response.status_code, "no documents" in response.text) == (503, True)
    async with open_surface() as client:
        assert (await client.head("/readyz")).status_code == 200
