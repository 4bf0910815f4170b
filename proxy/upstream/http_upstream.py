"""Step 7 of an answer, over HTTP: post, read, push into the sink where bytes arrive. A fault is a value."""

import asyncio
import time
from abc import ABC, abstractmethod
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
from proxy.domain.types import UpstreamCall, UpstreamEnd, Usage
from proxy.settings import tree
from proxy.upstream.retry import parse_retry_after_s
from proxy.wire.response_reader import Dialect, ResponseReader, UpstreamEvent
from proxy.wire.upstream_events import AnswerText

KEEP_ALIVE_S = 4.0  # under the five seconds after which common servers close an idle connection
TAIL_S = 2.0  # usage comes at once behind the finish reason, an error's text behind its status, or never
DRAIN_S = 0.05  # a body that ends behind [DONE] leaves a connection that can be used again
DETAIL_BYTES_MAX = 2_000

_KEY_HINT = ": it does not take the key that `key_env` names"
STATUS_HINTS = {401: _KEY_HINT, 403: _KEY_HINT, 404: ": nothing is there, see `base_url`"}
"""What an operator can do about a list of models that is refused, by HTTP status."""

NETWORK_ERRORS = (httpx.HTTPError, httpx.InvalidURL, aiohttp.ClientError, OSError)
_UNSENT_ERRORS = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError, httpx.UnsupportedProtocol)


@dataclass(frozen=True, slots=True)
class UpstreamRequest:
    """What is sent. `headers` hold the key: never logged."""

    url: str
    headers: Mapping[str, str]
    body: bytes


class HttpUpstream(ABC):
    """What every `ports.Upstream` over HTTP shares: a pool of connections, made at the first request.

    A protocol adds its `name`, its headers (they hold the key), its body, the dialect of what comes back,
    and its paths below `base_url`. One whose path depends on the call, or whose list of models has another
    shape than OpenAI's `{"data": [{"id": …}]}`, overrides `run` or `list_models`.
    """

    name: str
    call_path: str
    models_path = "/models"

    def __init__(self, base_url: str, headers: Mapping[str, str], settings: tree.UpstreamSettings):
        self._base_url = base_url
        self._headers = headers
        self._total_s = settings.total_s
        # Without certifi's or the environment's say in it: no proxies, no .netrc, no cookies kept.
        self._http = httpx.AsyncClient(
            transport=AiohttpTransport(client=_make_session_factory(settings.connections_max)),
            headers={"accept-encoding": "identity", "user-agent": f"fiador/{version('fiador')}"},
            timeout=httpx.Timeout(settings.idle_s, connect=settings.connect_s, pool=settings.connect_s),
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            follow_redirects=False,
            trust_env=False,
        )

    @abstractmethod
    def encode_body(self, call: UpstreamCall) -> bytes:
        """The exact bytes that are sent."""

    @abstractmethod
    def open_dialect(self) -> Dialect:
        """A new reader of one reply's events: it may keep what it has read."""

    async def run(self, call: UpstreamCall, sink: UpstreamSink) -> UpstreamEnd:
        """One attempt. Cancelling the task closes the connection; what the sink raises comes through."""
        headers = {**self._headers, "content-type": "application/json"}
        request = UpstreamRequest(self._base_url + self.call_path, headers, self.encode_body(call))
        exchange = _UpstreamExchange(self._http, self.open_dialect(), sink)
        try:
            async with asyncio.timeout(self._total_s) as clock:
                return await exchange.run(request, clock)
        except TimeoutError as fault:
            if not clock.expired():
                return exchange.end_on_error(fault)
            return exchange.end_on_error(TimeoutError(f"no end after {self._total_s} s"))
        except NETWORK_ERRORS as fault:
            return exchange.end_on_error(fault)

    async def list_models(self) -> tuple[str, ...]:
        """The names in the upstream's own model list. Raises `BusyError` saying what went wrong."""
        url = self._base_url + self.models_path
        try:
            response = await self._http.get(url, headers=self._headers)
            if response.status_code != 200:
                hint = STATUS_HINTS.get(response.status_code, "")
                raise ValueError(f"HTTP {response.status_code} {response.reason_phrase}{hint}")
            return tuple(str(item["id"]) for item in response.json()["data"])
        except (*NETWORK_ERRORS, ValueError, LookupError, TypeError) as fault:
            raise BusyError(f"{url}: {fault}", code="upstream_failed") from fault

    async def aclose(self) -> None:
        """Closes all connections."""
        await self._http.aclose()


def _make_session_factory(connections_max: int) -> Callable[[], aiohttp.ClientSession]:
    """Called at the first request, where the event loop runs."""
    return lambda: aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=connections_max, keepalive_timeout=KEEP_ALIVE_S),
        cookie_jar=aiohttp.DummyCookieJar(),
        trust_env=False,
    )


class _UpstreamExchange:
    """The state of one exchange: enough to tell, when it breaks, what it had come to."""

    def __init__(self, http: httpx.AsyncClient, dialect: Dialect, sink: UpstreamSink):
        self._http = http
        self._dialect = dialect
        self._sink = sink
        self._reader: ResponseReader | None = None

    async def run(self, request: UpstreamRequest, clock: asyncio.Timeout) -> UpstreamEnd:
        """Posts, and pushes what comes back into the sink as it arrives."""
        headers = dict(request.headers)
        async with self._http.stream("POST", request.url, content=request.body, headers=headers) as response:
            if response.status_code != 200:
                return await _read_error_response(response)
            reader = self._reader = ResponseReader(self._dialect, response.headers.get("content-type", ""))
            async with aclosing(_iterate_chunks(response)) as chunks:
                async for data in chunks:
                    was_finished = reader.is_finished
                    if not self._push_events(reader.feed(data)):
                        return UpstreamEnd("sink_stopped")  # leaving closes the connection: the cancel
                    await self._sink.flush()
                    if reader.end:
                        await _drain_chunks(chunks)
                        break
                    if reader.is_finished and not was_finished:
                        clock.reschedule(asyncio.get_running_loop().time() + TAIL_S)
                return await self._finish_reading(reader)

    async def _finish_reading(self, reader: ResponseReader) -> UpstreamEnd:
        if not self._push_events(reader.finish()):
            return UpstreamEnd("sink_stopped")
        await self._sink.flush()
        return _build_upstream_end(reader)

    def _push_events(self, events: Iterable[UpstreamEvent]) -> bool:
        """False: the sink wants no more."""
        for event in events:
            if isinstance(event, Usage):
                self._sink.push_usage(event)
                continue
            push = self._sink.push_text if isinstance(event, AnswerText) else self._sink.push_thought
            if not push(event.text):
                return False
        return True

    def end_on_error(self, error: Exception) -> UpstreamEnd:
        """The exchange broke; behind a finish reason nothing of the answer is missing."""
        reader = self._reader
        if reader and reader.is_finished and not reader.end:
            reader.finish()
            return _build_upstream_end(reader)
        cause = error.__cause__ or error
        detail = f"{type(cause).__name__}: {cause}"[:300]
        if reader and reader.has_output:
            return UpstreamEnd("cut", detail, 200)
        was_sent = not isinstance(cause, _UNSENT_ERRORS)
        was_silent = was_sent and isinstance(cause, TimeoutError)
        return UpstreamEnd("failed", detail, was_sent=was_sent, was_silent=was_silent)


def _build_upstream_end(reader: ResponseReader) -> UpstreamEnd:
    """The reader's end in the pipeline's words; only a whole answer ends well."""
    end = reader.end
    if end is None:
        raise AssertionError("a reader that is finished has an end")
    if end.kind in ("done", "eof") and end.reason in ("stop", "length"):
        return UpstreamEnd(end.reason, status=200)
    detail = " ".join(part for part in (end.kind, end.reason, end.detail) if part)
    return UpstreamEnd("cut" if reader.has_output else "failed", detail, 200)


def _iterate_chunks(response: httpx.Response) -> AsyncGenerator[bytes, None]:
    """The body as it arrives; what came compressed against our wish is unpacked."""
    return cast(AsyncGenerator[bytes, None], response.aiter_bytes())


async def _read_error_response(response: httpx.Response) -> UpstreamEnd:
    """An HTTP error or a redirect; its body goes to our log only, and only its beginning."""
    body = b""
    with suppress(TimeoutError, *NETWORK_ERRORS):  # the status says enough
        async with asyncio.timeout(TAIL_S), aclosing(_iterate_chunks(response)) as chunks:
            async for data in chunks:
                body += data
                if len(body) >= DETAIL_BYTES_MAX:
                    break
    return UpstreamEnd(
        "failed",
        body[:DETAIL_BYTES_MAX].decode("utf-8", "replace"),
        response.status_code,
        parse_retry_after_s(response.headers, time.time()),
    )


async def _drain_chunks(chunks: AsyncIterator[bytes]) -> None:
    """Waits a moment for the body's end; who goes on sending loses the connection."""
    try:
        async with asyncio.timeout(DRAIN_S):
            async for _ in chunks:
                pass
    except (TimeoutError, *NETWORK_ERRORS):
        return
