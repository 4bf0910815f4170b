"""auth.jwks: a provider's keys are fetched when they must be, and outlast a provider that fails."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path

import pytest

from proxy.auth.jwks import REFETCH_MIN_S, STALE_MAX_S
from proxy.auth.tokens import JwtTokenChecker
from proxy.domain.errors import AuthError, StoreError
from tests.proxy.auth.signing import OTHER, make_jwt_settings, make_key_set, sign_token
from tests.waiting import wait_until


class KeySetProvider:
    """A loopback server that counts how often its key set is fetched; `keys` None: it answers 500."""

    def __init__(self) -> None:
        self.keys: dict[str, object] | None = make_key_set("rsa")
        self.hits = 0
        self.hold: Callable[[], Awaitable[object]] | None = None
        """What it waits for before it answers."""

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        self.hits += 1
        if self.hold:
            await self.hold()
        body = json.dumps(self.keys).encode()
        status = "200 OK" if self.keys else "500 No"
        head = f"HTTP/1.1 {status}\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
        writer.write(head.encode() + body)
        await writer.drain()


@asynccontextmanager
async def serve_key_set(provider: KeySetProvider) -> AsyncIterator[str]:
    """The address of a provider's key set; its connections are closed at the end."""
    tasks: list[asyncio.Task[None] | None] = []

    async def accept_connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.append(asyncio.current_task())
        with suppress(ConnectionError, asyncio.CancelledError), closing(writer):
            await provider(reader, writer)

    async with await asyncio.start_server(accept_connection, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/jwks"
        running = [task for task in tasks if task]
        for task in running:
            task.cancel()
        await asyncio.gather(*running)


@pytest.fixture
async def provider() -> AsyncIterator[tuple[KeySetProvider, str]]:
    served = KeySetProvider()
    async with serve_key_set(served) as url:
        yield served, url


async def test_keys_are_fetched_once_again_when_old_and_when_a_new_name_comes(
    provider: tuple[KeySetProvider, str],
) -> None:
    served, url = provider
    now = [1_000.0]
    found = JwtTokenChecker(make_jwt_settings(url, cache_s=300), clock=lambda: now[0])
    for _ in range(3):
        await found.check_token(sign_token())
    assert served.hits == 1
    now[0] += 301
    await found.check_token(sign_token())
    assert served.hits == 2
    served.keys = make_key_set("rsa", "other")
    now[0] += REFETCH_MIN_S + 1
    await found.check_token(sign_token(OTHER, "other"))
    assert served.hits == 3


async def test_made_up_key_names_do_not_become_requests(provider: tuple[KeySetProvider, str]) -> None:
    served, url = provider
    found = JwtTokenChecker(make_jwt_settings(url), clock=lambda: 1_000.0)
    for number in range(20):
        with pytest.raises(AuthError):
            await found.check_token(sign_token(OTHER, f"made-up-{number}"))
    assert served.hits == 1


async def test_the_last_good_keys_serve_for_a_while_and_then_no_more(
    provider: tuple[KeySetProvider, str],
) -> None:
    served, url = provider
    now = [1_000.0]
    found = JwtTokenChecker(make_jwt_settings(url, cache_s=300), clock=lambda: now[0])
    await found.check_token(sign_token())
    served.keys = None
    now[0] += 600
    await found.check_token(sign_token())
    now[0] += STALE_MAX_S
    with pytest.raises(StoreError):
        await found.check_token(sign_token())


class SlowProvider(KeySetProvider):
    """Answers byte by byte for ever, and never whole."""

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        self.hits += 1
        writer.write(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n")
        while True:
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(0.01)


class HugeProvider(SlowProvider):
    """Answers more than any key set holds, and does not end."""

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n")
        while True:
            writer.write(b" " * 65_536)
            await writer.drain()


@pytest.mark.parametrize(
    ("served", "why"), [(SlowProvider(), "TimeoutError"), (HugeProvider(), "larger than 1000000 bytes")]
)
async def test_a_provider_that_never_ends_is_left(
    served: KeySetProvider, why: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("proxy.auth.jwks.FETCH_S", 0.3 if type(served) is SlowProvider else 60)
    async with serve_key_set(served) as url:
        with pytest.raises(StoreError):
            await JwtTokenChecker(make_jwt_settings(url), clock=lambda: 1_000.0).check_token(sign_token())
    assert why in caplog.text


async def test_who_has_a_known_key_does_not_wait_for_a_slow_provider() -> None:
    served = KeySetProvider()
    async with serve_key_set(served) as url:
        now = [1_000.0]
        found = JwtTokenChecker(make_jwt_settings(url), clock=lambda: now[0])
        await found.check_token(sign_token())
        hung = asyncio.Event()
        served.hold = hung.wait
        now[0] += REFETCH_MIN_S + 1
        stranger = asyncio.create_task(found.check_token(sign_token(OTHER, "made-up")))
        await wait_until(lambda: served.hits == 2)
        assert (await found.check_token(sign_token())).name == "u1"
        assert not stranger.done()
        hung.set()
        with pytest.raises(AuthError):
            await stranger


async def test_one_who_leaves_does_not_end_the_fetch_that_others_need() -> None:
    served, hung = KeySetProvider(), asyncio.Event()
    served.hold = hung.wait
    async with serve_key_set(served) as url:
        found = JwtTokenChecker(make_jwt_settings(url), clock=lambda: 1_000.0)
        leaving = asyncio.create_task(found.check_token(sign_token()))
        await wait_until(lambda: served.hits == 1)
        staying = asyncio.create_task(found.check_token(sign_token()))
        leaving.cancel()
        hung.set()
        assert (await staying).name == "u1"
        assert served.hits == 1


@pytest.mark.parametrize("odd", [{"kid": ["x"]}, {"kid": "x", "alg": ["x"]}, {"kid": "x", "e": "AA"}])
async def test_an_odd_key_in_the_set_does_not_cost_the_others(tmp_path: Path, odd: dict[str, object]) -> None:
    good = make_key_set("rsa")["keys"]
    assert isinstance(good, list)
    path = tmp_path / "jwks.json"
    path.write_text(json.dumps({"keys": [good[0] | odd, 7, *good]}))
    assert (await JwtTokenChecker(make_jwt_settings(path)).check_token(sign_token())).name == "u1"
