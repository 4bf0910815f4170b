"""Every fault of an upstream has a decided ending, proved over a real socket."""

import asyncio
import gzip
import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from proxy.settings import tree
from proxy.types import Call, Ending, Message, Usage
from proxy.upstream import client
from proxy.upstream.openai import OpenAIUpstream
from tests.fakes import (
    DONE,
    FakeUpstream,
    Play,
    Player,
    Received,
    chunk,
    openai_stream,
    refuses,
    replays,
    says,
)

CALL = Call(model="m", messages=(Message("user", "Who?"),), output_cap=100)


class Collect:
    """A sink that keeps everything; `enough` is the number of text events after which it wants no more."""

    def __init__(self, enough: int = 10**9) -> None:
        self.texts: list[str] = []
        self.thoughts: list[str] = []
        self.last = Usage()
        self.flushes = 0
        self.enough = enough
        self.arrived = asyncio.Event()

    def text(self, piece: str) -> bool:
        self.texts.append(piece)
        self.arrived.set()
        return len(self.texts) < self.enough

    def billed(self, piece: str) -> bool:
        self.thoughts.append(piece)
        return len(self.thoughts) < self.enough

    def usage(self, usage: Usage) -> None:
        self.last = usage

    async def flush(self) -> None:
        self.flushes += 1


def upstream(url: str, **settings: object) -> OpenAIUpstream:
    fields = {"protocol": "openai", "base_url": url, "idle_s": 60, "total_s": 90, "connect_s": 60} | settings
    return OpenAIUpstream(tree.Upstream.model_validate(fields), key="sk-test")


async def ran(play: Play, sink: Collect | None = None, **settings: object) -> tuple[Ending, Collect]:
    """One attempt against a fake that plays `play`."""
    sink = sink or Collect()
    async with FakeUpstream(play) as fake:
        model = upstream(fake.url, **settings)
        try:
            return await model.run(CALL, sink), sink
        finally:
            await model.aclose()


async def test_a_whole_answer_ends_well() -> None:
    ending, sink = await ran(says("Ada ", "wrote it."))
    assert ending == Ending("stop", status=200)
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


async def test_refused_connection_is_certain_to_have_cost_nothing() -> None:
    model = upstream("http://127.0.0.1:9")
    ending = await model.run(CALL, Collect())
    await model.aclose()
    assert (ending.finish, ending.sent, ending.silent) == ("failed", False, False)


async def test_an_unknown_host_is_certain_to_have_cost_nothing() -> None:
    model = upstream("http://nowhere.invalid")
    ending = await model.run(CALL, Collect())
    await model.aclose()
    assert (ending.finish, ending.sent) == ("failed", False)


async def test_a_tls_error_sends_nothing() -> None:
    """The fake speaks plain HTTP where TLS is expected."""
    async with FakeUpstream(says("Yes.")) as fake:
        model = upstream(fake.url.replace("http:", "https:"), connect_s=1)
        ending = await model.run(CALL, Collect())
        await model.aclose()
    assert (ending.finish, ending.sent, fake.calls) == ("failed", False, [])


async def test_a_certificate_of_unknown_issue_sends_nothing(tmp_path: Path) -> None:
    """The body, with the documents in it, goes to nobody who cannot prove the name."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*self_signed(tmp_path))
    async with FakeUpstream(says("Yes."), tls=context) as fake:
        model = upstream(fake.url)
        ending = await model.run(CALL, Collect())
        await model.aclose()
    assert (ending.finish, ending.sent, fake.calls) == ("failed", False, [])


async def test_reset_before_any_byte_may_have_cost() -> None:
    async def play(received: Received, player: Player) -> None:
        player.reset()

    ending, _ = await ran(play)
    assert (ending.finish, ending.sent, ending.silent) == ("failed", True, False)


async def test_closing_without_a_word_may_have_cost() -> None:
    """The client library calls this a connect timeout; the body went out all the same."""

    async def play(received: Received, player: Player) -> None:
        player.cut()

    ending, _ = await ran(play)
    assert (ending.finish, ending.sent) == ("failed", True)


async def test_reset_in_the_middle_is_a_cut() -> None:
    async def play(received: Received, player: Player) -> None:
        await player.head()
        await player.read(chunk({"content": "Ada"}))
        await asyncio.sleep(0.05)
        player.reset()

    ending, sink = await ran(play)
    assert (ending.finish, sink.texts) == ("cut", ["Ada"])


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500, 503, 529])
async def test_an_http_error_is_a_failure_with_its_status(status: int) -> None:
    ending, sink = await ran(refuses(status, b'{"error":{"message":"LEAK-no"}}'))
    assert (ending.finish, ending.status, sink.texts) == ("failed", status, [])
    assert "LEAK-no" in ending.detail


async def test_an_http_error_whose_body_does_not_come_is_known_by_its_status(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(client, "TAIL_S", 0.05)

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


async def test_silence_before_the_first_byte_is_not_asked_again() -> None:
    async def play(received: Received, player: Player) -> None:
        await player.gone()

    ending, _ = await ran(play, idle_s=0.3)
    assert (ending.finish, ending.sent, ending.silent) == ("failed", True, True)


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
    monkeypatch.setattr(client, "TAIL_S", 0.1)

    async def play(received: Received, player: Player) -> None:
        await player.head()
        await player.read(chunk({"content": "Yes."}) + chunk({}, "stop"))
        await player.gone()

    ending, sink = await ran(play, idle_s=5, total_s=5)
    assert (ending.finish, sink.texts, sink.last) == ("stop", ["Yes."], Usage())


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


async def endless(received: Received, player: Player) -> None:
    """An answer without end, with keep-alive pooling on."""
    await player.head()
    while True:
        await player.read(chunk({"content": "word "}))
        await asyncio.sleep(0.01)


@pytest.fixture
async def busy() -> AsyncIterator[FakeUpstream]:
    async with FakeUpstream(endless) as fake:
        yield fake


async def test_a_sink_that_has_enough_of_thinking_closes_the_connection() -> None:
    async def play(received: Received, player: Player) -> None:
        await player.head()
        while True:
            await player.read(chunk({"reasoning_content": "hm "}))
            await asyncio.sleep(0.01)

    async with FakeUpstream(play) as fake:
        model = upstream(fake.url)
        ending = await model.run(CALL, Collect(enough=3))
        await asyncio.wait_for(fake.departed.wait(), 1)
        await model.aclose()
    assert ending.finish == "cancelled"


async def test_a_sink_that_has_enough_closes_the_connection(busy: FakeUpstream) -> None:
    model = upstream(busy.url)
    ending = await model.run(CALL, Collect(enough=3))
    await asyncio.wait_for(busy.departed.wait(), 1)
    await model.aclose()
    assert ending.finish == "cancelled"


async def test_a_cancelled_task_closes_the_connection(busy: FakeUpstream) -> None:
    model, sink = upstream(busy.url), Collect()
    running = asyncio.create_task(model.run(CALL, sink))
    await sink.arrived.wait()
    running.cancel()
    await asyncio.wait_for(busy.departed.wait(), 1)
    with pytest.raises(asyncio.CancelledError):
        await running
    await model.aclose()


async def test_a_task_cancelled_before_the_first_byte_closes_the_connection() -> None:
    called = asyncio.Event()

    async def play(received: Received, player: Player) -> None:
        called.set()
        await player.gone()

    async with FakeUpstream(play) as fake:
        model = upstream(fake.url, idle_s=5)
        running = asyncio.create_task(model.run(CALL, Collect()))
        await called.wait()
        running.cancel()
        await asyncio.wait_for(fake.departed.wait(), 1)
        with pytest.raises(asyncio.CancelledError):
            await running
        await model.aclose()


async def test_what_the_sink_raises_comes_through_and_closes(busy: FakeUpstream) -> None:
    class Gone(Exception):
        pass

    class Leaving(Collect):
        async def flush(self) -> None:
            raise Gone

    model = upstream(busy.url)
    with pytest.raises(Gone):
        await model.run(CALL, Leaving())
    await asyncio.wait_for(busy.departed.wait(), 1)
    await model.aclose()


def self_signed(folder: Path) -> tuple[Path, Path]:
    """A certificate that nobody vouches for, and its key."""
    from datetime import UTC, datetime, timedelta

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    paths = folder / "certificate.pem", folder / "key.pem"
    paths[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    paths[1].write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return paths
