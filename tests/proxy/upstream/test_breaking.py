"""An exchange that breaks, falls silent or does not end has a decided ending, proved over a real socket."""

import asyncio
import gzip

import pytest

from proxy.domain.types import Usage
from proxy.upstream import http_upstream
from tests.fake_upstream import (
    FakeUpstream,
    ReceivedRequest,
    ResponsePlayer,
    make_chunk,
    make_openai_stream,
    script_reads,
)
from tests.proxy.upstream.single_attempt import CALL, CollectingSink, attempt_once, make_upstream


async def test_reset_before_any_byte_may_have_cost() -> None:
    async def play_reset(received: ReceivedRequest, player: ResponsePlayer) -> None:
        player.reset_connection()

    ending, _ = await attempt_once(play_reset)
    assert (ending.finish, ending.was_sent, ending.was_silent) == ("failed", True, False)


async def test_closing_without_a_word_may_have_cost() -> None:
    """The client library calls this a connect timeout; the body went out all the same."""

    async def play_close(received: ReceivedRequest, player: ResponsePlayer) -> None:
        player.close_early()

    ending, _ = await attempt_once(play_close)
    assert (ending.finish, ending.was_sent) == ("failed", True)


async def test_reset_in_the_middle_is_a_cut() -> None:
    async def play_text_then_reset(received: ReceivedRequest, player: ResponsePlayer) -> None:
        await player.send_head()
        await player.send_chunk(make_chunk({"content": "Ada"}))
        await asyncio.sleep(0.05)
        player.reset_connection()

    ending, sink = await attempt_once(play_text_then_reset)
    assert (ending.finish, sink.texts) == ("cut", ["Ada"])


async def test_silence_before_the_first_byte_is_not_asked_again() -> None:
    async def play_silence(received: ReceivedRequest, player: ResponsePlayer) -> None:
        await player.await_close()

    ending, _ = await attempt_once(play_silence, idle_s=0.3)
    assert (ending.finish, ending.was_sent, ending.was_silent) == ("failed", True, True)


async def test_silence_in_the_middle_is_a_cut() -> None:
    async def play_text_then_silence(received: ReceivedRequest, player: ResponsePlayer) -> None:
        await player.send_head()
        await player.send_chunk(make_chunk({"content": "Ada"}))
        await player.await_close()

    ending, sink = await attempt_once(play_text_then_silence, idle_s=1)
    assert (ending.finish, sink.texts) == ("cut", ["Ada"])


async def test_a_trickle_has_an_end() -> None:
    """Keep-alives hold the idle clock up, not the clock of the whole exchange."""

    async def play_trickle(received: ReceivedRequest, player: ResponsePlayer) -> None:
        await player.send_head()
        await player.send_chunk(make_chunk({"content": "Ada"}))
        while True:
            await player.send_chunk(b": still here\n\n")
            await asyncio.sleep(0.02)

    ending, sink = await attempt_once(play_trickle, total_s=1)
    assert (ending.finish, sink.texts) == ("cut", ["Ada"])


@pytest.mark.parametrize("cut", [-3, -1, 30])
async def test_a_cut_inside_an_event_is_a_cut(cut: int) -> None:
    """Also inside a character, and also when the body is ended politely."""
    ending, sink = await attempt_once(
        script_reads([make_chunk({"content": "Ada "}), "data: {…é".encode()[:cut]])
    )
    assert (ending.finish, sink.texts) == ("cut", ["Ada "])


async def test_a_body_shorter_than_announced_is_a_cut() -> None:
    async def play_short_body(received: ReceivedRequest, player: ResponsePlayer) -> None:
        await player.send_raw(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 9999\r\n\r\n"
        )
        await player.send_raw(make_chunk({"content": "Ada"}))
        player.close_early()

    ending, sink = await attempt_once(play_short_body)
    assert (ending.finish, sink.texts) == ("cut", ["Ada"])


def frame_body(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    """A response in one chunk; `headers` stand before the framing's own."""
    lines = [f"HTTP/1.1 {status}", "content-type: text/event-stream", *headers, "transfer-encoding: chunked"]
    return "\r\n".join([*lines, "", ""]).encode() + b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)


WHOLE = b"".join(make_openai_stream(["Yes."]))
PACKED = gzip.compress(WHOLE)


@pytest.mark.parametrize(
    ("reply", "finish"),
    [
        (b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n" + frame_body(WHOLE), "stop"),
        (b"HTTP/1.1 100 Continue\r\n\r\n" * 20 + frame_body(WHOLE), "stop"),
        (frame_body(WHOLE).removesuffix(b"\r\n") + b"x-trailer: x\r\n\r\n", "stop"),
        (frame_body(WHOLE, "content-encoding: x-unknown"), "stop"),
        (frame_body(WHOLE, "content-encoding: gzip"), "failed"),
        (frame_body(PACKED[:40], "content-encoding: gzip"), "failed"),
        (frame_body(WHOLE, "content-length: 5"), "failed"),
        (frame_body(WHOLE, "x-long: " + "x" * 100_000), "failed"),
        (frame_body(WHOLE, "no colon"), "failed"),
        (frame_body(WHOLE, status="201 Created"), "failed"),
        (frame_body(WHOLE, status="206 Partial Content"), "failed"),
        (frame_body(WHOLE, status="abc"), "failed"),
        (frame_body(WHOLE, "content-type: text/html"), "failed"),
        (frame_body(WHOLE).replace(b"0\r\n\r\n", b"zz\r\n\r\n"), "failed"),
        (b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n" + WHOLE, "failed"),
        (b"HTTP/1.0 200 OK\r\n\r\n" + WHOLE, "stop"),
        (b"SSH-2.0-server\r\n", "failed"),
        (b"Yes.", "failed"),
    ],
)
async def test_only_sound_http_with_a_whole_answer_ends_well(reply: bytes, finish: str) -> None:
    async def play_raw_reply(received: ReceivedRequest, player: ResponsePlayer) -> None:
        await player.send_raw(reply)
        player.close_early()

    ending, sink = await attempt_once(play_raw_reply)
    assert ending.finish == finish
    assert sink.texts in ([], ["Yes."])


async def test_garbage_behind_done_changes_nothing() -> None:
    ending, sink = await attempt_once(
        script_reads([*make_openai_stream(["Yes."]), b"LEAK", make_chunk({"content": "LEAK"})])
    )
    assert (ending.finish, sink.texts) == ("stop", ["Yes."])


async def test_a_body_that_never_ends_is_left_behind_done() -> None:
    async def play_endless_body(received: ReceivedRequest, player: ResponsePlayer) -> None:
        await player.send_head()
        await player.send_chunk(b"".join(make_openai_stream(["Yes."])))
        while True:
            await player.send_chunk(make_chunk({"content": "LEAK"}))
            await asyncio.sleep(0.01)

    async with FakeUpstream(play_endless_body) as fake:
        model, sink = make_upstream(fake.url), CollectingSink()
        ending = await asyncio.wait_for(model.run(CALL, sink), 1)
        await asyncio.wait_for(fake.departed.wait(), 1)
        await model.aclose()
    assert (ending.finish, sink.texts) == ("stop", ["Yes."])


async def test_usage_behind_the_finish_is_awaited_only_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_upstream, "TAIL_S", 0.1)

    async def play_late_usage(received: ReceivedRequest, player: ResponsePlayer) -> None:
        await player.send_head()
        await player.send_chunk(make_chunk({"content": "Yes."}) + make_chunk({}, "stop"))
        await player.await_close()

    ending, sink = await attempt_once(play_late_usage, idle_s=5, total_s=5)
    assert (ending.finish, sink.texts, sink.last) == ("stop", ["Yes."], Usage())
