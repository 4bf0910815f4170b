"""An exchange that breaks, falls silent or does not end has a decided ending, proved over a real socket."""

import asyncio
import gzip

import pytest

from proxy.domain.types import Usage
from proxy.upstream import http_upstream
from tests.fakes import (
    FakeUpstream,
    Player,
    Received,
    chunk,
    openai_stream,
    replays,
)
from tests.proxy.upstream.kit import CALL, Collect, ran, upstream


async def test_reset_before_any_byte_may_have_cost() -> None:
    async def play(received: Received, player: Player) -> None:
        player.reset()

    ending, _ = await ran(play)
    assert (ending.finish, ending.was_sent, ending.was_silent) == ("failed", True, False)


async def test_closing_without_a_word_may_have_cost() -> None:
    """The client library calls this a connect timeout; the body went out all the same."""

    async def play(received: Received, player: Player) -> None:
        player.cut()

    ending, _ = await ran(play)
    assert (ending.finish, ending.was_sent) == ("failed", True)


async def test_reset_in_the_middle_is_a_cut() -> None:
    async def play(received: Received, player: Player) -> None:
        await player.head()
        await player.read(chunk({"content": "Ada"}))
        await asyncio.sleep(0.05)
        player.reset()

    ending, sink = await ran(play)
    assert (ending.finish, sink.texts) == ("cut", ["Ada"])


async def test_silence_before_the_first_byte_is_not_asked_again() -> None:
    async def play(received: Received, player: Player) -> None:
        await player.gone()

    ending, _ = await ran(play, idle_s=0.3)
    assert (ending.finish, ending.was_sent, ending.was_silent) == ("failed", True, True)


async def test_silence_in_the_middle_is_a_cut() -> None:
    async def play(received: Received, player: Player) -> None:
        await player.head()
        await player.read(chunk({"content": "Ada"}))
        await player.gone()

    ending, sink = await ran(play, idle_s=1)
    assert (ending.finish, sink.texts) == ("cut", ["Ada"])


async def test_a_trickle_has_an_end() -> None:
    """Keep-alives hold the idle clock up, not the clock of the whole exchange."""

    async def play(received: Received, player: Player) -> None:
        await player.head()
        await player.read(chunk({"content": "Ada"}))
        while True:
            await player.read(b": still here\n\n")
            await asyncio.sleep(0.02)

    ending, sink = await ran(play, total_s=1)
    assert (ending.finish, sink.texts) == ("cut", ["Ada"])


@pytest.mark.parametrize("cut", [-3, -1, 30])
async def test_a_cut_inside_an_event_is_a_cut(cut: int) -> None:
    """Also inside a character, and also when the body is ended politely."""
    ending, sink = await ran(replays([chunk({"content": "Ada "}), "data: {…é".encode()[:cut]]))
    assert (ending.finish, sink.texts) == ("cut", ["Ada "])


async def test_a_body_shorter_than_announced_is_a_cut() -> None:
    async def play(received: Received, player: Player) -> None:
        await player.raw(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 9999\r\n\r\n"
        )
        await player.raw(chunk({"content": "Ada"}))
        player.cut()

    ending, sink = await ran(play)
    assert (ending.finish, sink.texts) == ("cut", ["Ada"])


def framed(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    """A response in one chunk; `headers` stand before the framing's own."""
    lines = [f"HTTP/1.1 {status}", "content-type: text/event-stream", *headers, "transfer-encoding: chunked"]
    return "\r\n".join([*lines, "", ""]).encode() + b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)


WHOLE = b"".join(openai_stream(["Yes."]))
PACKED = gzip.compress(WHOLE)


@pytest.mark.parametrize(
    ("reply", "finish"),
    [
        (b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n" + framed(WHOLE), "stop"),
        (b"HTTP/1.1 100 Continue\r\n\r\n" * 20 + framed(WHOLE), "stop"),
        (framed(WHOLE).removesuffix(b"\r\n") + b"x-trailer: x\r\n\r\n", "stop"),
        (framed(WHOLE, "content-encoding: x-unknown"), "stop"),
        (framed(WHOLE, "content-encoding: gzip"), "failed"),
        (framed(PACKED[:40], "content-encoding: gzip"), "failed"),
        (framed(WHOLE, "content-length: 5"), "failed"),
        (framed(WHOLE, "x-long: " + "x" * 100_000), "failed"),
        (framed(WHOLE, "no colon"), "failed"),
        (framed(WHOLE, status="201 Created"), "failed"),
        (framed(WHOLE, status="206 Partial Content"), "failed"),
        (framed(WHOLE, status="abc"), "failed"),
        (framed(WHOLE, "content-type: text/html"), "failed"),
        (framed(WHOLE).replace(b"0\r\n\r\n", b"zz\r\n\r\n"), "failed"),
        (b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n" + WHOLE, "failed"),
        (b"HTTP/1.0 200 OK\r\n\r\n" + WHOLE, "stop"),
        (b"SSH-2.0-server\r\n", "failed"),
        (b"Yes.", "failed"),
    ],
)
async def test_only_sound_http_with_a_whole_answer_ends_well(reply: bytes, finish: str) -> None:
    async def play(received: Received, player: Player) -> None:
        await player.raw(reply)
        player.cut()

    ending, sink = await ran(play)
    assert ending.finish == finish
    assert sink.texts in ([], ["Yes."])


async def test_garbage_behind_done_changes_nothing() -> None:
    ending, sink = await ran(replays([*openai_stream(["Yes."]), b"LEAK", chunk({"content": "LEAK"})]))
    assert (ending.finish, sink.texts) == ("stop", ["Yes."])


async def test_a_body_that_never_ends_is_left_behind_done() -> None:
    async def play(received: Received, player: Player) -> None:
        await player.head()
        await player.read(b"".join(openai_stream(["Yes."])))
        while True:
            await player.read(chunk({"content": "LEAK"}))
            await asyncio.sleep(0.01)

    async with FakeUpstream(play) as fake:
        model, sink = upstream(fake.url), Collect()
        ending = await asyncio.wait_for(model.run(CALL, sink), 1)
        await asyncio.wait_for(fake.departed.wait(), 1)
        await model.aclose()
    assert (ending.finish, sink.texts) == ("stop", ["Yes."])


async def test_usage_behind_the_finish_is_awaited_only_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_upstream, "TAIL_S", 0.1)

    async def play(received: Received, player: Player) -> None:
        await player.head()
        await player.read(chunk({"content": "Yes."}) + chunk({}, "stop"))
        await player.gone()

    ending, sink = await ran(play, idle_s=5, total_s=5)
    assert (ending.finish, sink.texts, sink.last) == ("stop", ["Yes."], Usage())
