"""One HTTP exchange with an upstream: post, read, push into the sink; every fault becomes an `Ending`."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass
from http.cookiejar import CookieJar, DefaultCookiePolicy
from importlib.metadata import version
from typing import cast

import aiohttp
import httpx
from httpx_aiohttp import AiohttpTransport

from proxy.domain.errors import BusyError
from proxy.domain.ports import UpstreamSink
from proxy.domain.types import UpstreamEnd, Usage
from proxy.upstream.retry import retry_after_s
from proxy.wire.response_reader import Dialect, ResponseReader, UpstreamEvent
from proxy.wire.upstream_events import AnswerText

KEEP_ALIVE_S = 4.0  # under the five seconds after which common servers close an idle connection
TAIL_S = 2.0  # usage comes at once behind the finish reason, an error's text behind its status, or never
DRAIN_S = 0.05  # a body that ends behind [DONE] leaves a connection that can be used again
DETAIL_BYTES_MAX = 2_000

_KEY = ": it does not take the key that `key_env` names"
REFUSALS = {401: _KEY, 403: _KEY, 404: ": nothing is there, see `base_url`"}
"""What an operator can do about a list of models that is refused, by HTTP status."""

FAULTS = (httpx.HTTPError, httpx.InvalidURL, aiohttp.ClientError, OSError)
_UNSENT = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError, httpx.UnsupportedProtocol)


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds: to connect, between two reads, and for the whole exchange."""

    connect_s: float
    idle_s: float
    total_s: float


@dataclass(frozen=True, slots=True)
class Post:
    """What is sent. `headers` hold the key: never logged."""

    url: str
    headers: Mapping[str, str]
    body: bytes


class Client:
    """A pool of connections to one upstream; made at the first request, closed by `aclose`."""

    def __init__(self, times: Times, connections_max: int):
        self._times = times
        # Without certifi's or the environment's say in it: no proxies, no .netrc, no cookies kept.
        self._http = httpx.AsyncClient(
            transport=AiohttpTransport(client=_session(connections_max)),
            headers={"accept-encoding": "identity", "user-agent": f"fiador/{version('fiador')}"},
            timeout=httpx.Timeout(times.idle_s, connect=times.connect_s, pool=times.connect_s),
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            follow_redirects=False,
            trust_env=False,
        )

    async def aclose(self) -> None:
        """Closes all connections."""
        await self._http.aclose()

    async def listed(self, url: str, headers: Mapping[str, str]) -> tuple[str, ...]:
        """The names in a list of models; both protocols write it alike. Raises `BusyError` saying why not."""
        try:
            response = await self._http.get(url, headers=headers)
            if response.status_code != 200:
                hint = REFUSALS.get(response.status_code, "")
                raise ValueError(f"HTTP {response.status_code} {response.reason_phrase}{hint}")
            return tuple(str(item["id"]) for item in response.json()["data"])
        except (*FAULTS, ValueError, LookupError, TypeError) as fault:
            raise BusyError(f"{url}: {fault}", code="upstream_failed") from fault

    async def attempt(self, post: Post, dialect: Dialect, sink: UpstreamSink) -> UpstreamEnd:
        """One exchange. Cancelling the task closes the connection; what the sink raises comes through."""
        exchange = _Exchange(self._http, dialect, sink)
        try:
            async with asyncio.timeout(self._times.total_s) as clock:
                return await exchange.run(post, clock)
        except TimeoutError as fault:
            if not clock.expired():
                return exchange.broken(fault)
            return exchange.broken(TimeoutError(f"no end after {self._times.total_s} s"))
        except FAULTS as fault:
            return exchange.broken(fault)


def _session(connections_max: int) -> Callable[[], aiohttp.ClientSession]:
    """Called at the first request, where the event loop runs."""
    return lambda: aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=connections_max, keepalive_timeout=KEEP_ALIVE_S),
        cookie_jar=aiohttp.DummyCookieJar(),
        trust_env=False,
    )


class _Exchange:
    """The state of one exchange: enough to tell, when it breaks, what it had come to."""

    def __init__(self, http: httpx.AsyncClient, dialect: Dialect, sink: UpstreamSink):
        self._http = http
        self._dialect = dialect
        self._sink = sink
        self._reader: ResponseReader | None = None

    async def run(self, post: Post, clock: asyncio.Timeout) -> UpstreamEnd:
        async with self._http.stream(
            "POST", post.url, content=post.body, headers=dict(post.headers)
        ) as response:
            if response.status_code != 200:
                return await _refused(response)
            self._reader = ResponseReader(self._dialect, response.headers.get("content-type", ""))
            async with aclosing(_reads(response)) as reads:
                return await self._read(reads, self._reader, clock)

    async def _read(
        self, reads: AsyncIterator[bytes], reader: ResponseReader, clock: asyncio.Timeout
    ) -> UpstreamEnd:
        async for data in reads:
            finished = reader.is_finished
            if not self._push(reader.feed(data)):
                return UpstreamEnd("sink_stopped")  # leaving closes the connection, which is the cancel
            await self._sink.flush()
            if reader.end:
                await _drain(reads)
                break
            if reader.is_finished and not finished:
                clock.reschedule(asyncio.get_running_loop().time() + TAIL_S)
        return await self._over(reader)

    async def _over(self, reader: ResponseReader) -> UpstreamEnd:
        if not self._push(reader.finish()):
            return UpstreamEnd("sink_stopped")
        await self._sink.flush()
        return _ending(reader)

    def _push(self, heard: Iterable[UpstreamEvent]) -> bool:
        for item in heard:
            if isinstance(item, Usage):
                self._sink.push_usage(item)
            elif not (self._sink.push_text if isinstance(item, AnswerText) else self._sink.push_thought)(
                item.text
            ):
                return False
        return True

    def broken(self, fault: Exception) -> UpstreamEnd:
        """The exchange broke; behind a finish reason nothing of the answer is missing."""
        reader = self._reader
        if reader and reader.is_finished and not reader.end:
            reader.finish()
            return _ending(reader)
        cause = fault.__cause__ or fault
        detail = f"{type(cause).__name__}: {cause}"[:300]
        if reader and reader.has_output:
            return UpstreamEnd("cut", detail, 200)
        silent = isinstance(cause, TimeoutError) and not isinstance(cause, _UNSENT)
        return UpstreamEnd("failed", detail, was_sent=not isinstance(cause, _UNSENT), was_silent=silent)


def _ending(reader: ResponseReader) -> UpstreamEnd:
    """The reader's end in the pipeline's words; only a whole answer ends well."""
    end = reader.end
    if end is None:
        raise AssertionError("a reader that is finished has an end")
    if end.kind in ("done", "eof") and end.reason in ("stop", "length"):
        return UpstreamEnd(end.reason, status=200)
    detail = " ".join(part for part in (end.kind, end.reason, end.detail) if part)
    return UpstreamEnd("cut" if reader.has_output else "failed", detail, 200)


def _reads(response: httpx.Response) -> AsyncGenerator[bytes, None]:
    """The body as it arrives; what came compressed against our wish is unpacked."""
    return cast(AsyncGenerator[bytes, None], response.aiter_bytes())


async def _refused(response: httpx.Response) -> UpstreamEnd:
    """An HTTP error or a redirect; its body goes to our log only, and only its beginning."""
    body = b""
    with suppress(TimeoutError, *FAULTS):  # the status says enough
        async with asyncio.timeout(TAIL_S), aclosing(_reads(response)) as reads:
            async for data in reads:
                body += data
                if len(body) >= DETAIL_BYTES_MAX:
                    break
    return UpstreamEnd(
        "failed",
        body[:DETAIL_BYTES_MAX].decode("utf-8", "replace"),
        response.status_code,
        retry_after_s(response.headers, time.time()),
    )


async def _drain(reads: AsyncIterator[bytes]) -> None:
    """Waits a moment for the body's end; who goes on sending loses the connection."""
    try:
        async with asyncio.timeout(DRAIN_S):
            async for _ in reads:
                pass
    except (TimeoutError, *FAULTS):
        return
