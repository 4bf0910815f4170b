"""uvicorn's HTTP protocol, with bounded patience, errors in the envelope, and no offer to upgrade taken."""

import asyncio
import re
from functools import partial
from http import HTTPStatus
from typing import Any, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from proxy.domain.errors import RequestError
from proxy.wire import openai_chat

HEAD_BYTES_MAX = 64_000
"""Of a request that is not whole yet: its headers are kept in memory before anybody knows who sends them."""

_UPGRADE_HEADER = re.compile(rb"(?<=\r\n)upgrade(?=[ \t]*:)", re.IGNORECASE)
_HIDDEN_HEADER = b"x-offer"


class BoundedHttpProtocol(HttpToolsProtocol):
    """uvicorn itself waits for ever for a request that never becomes whole.

    Here a connection is closed whose request has no whole head after `header_s` or `HEAD_BYTES_MAX`. The
    timer runs from the connection, or a further request's first byte, to the end of the head.

    Java's own client offers HTTP/2 with every request over plain text. A server may leave that aside, but the
    parser would stop behind the head and lose the body: so it never sees the header.
    """

    def __init__(self, *arguments: Any, header_s: float, **named: Any):
        super().__init__(*arguments, **named)
        self._header_s = header_s
        self._timer: asyncio.TimerHandle | None = None
        self._head_bytes = 0

    def data_received(self, data: bytes) -> None:
        super().data_received(data if self._is_answering() else _hide_upgrade_header(data))
        self._head_bytes = self._head_bytes + len(data) if self._timer else 0
        if self._head_bytes > HEAD_BYTES_MAX:
            self._reject_request(
                RequestError("The headers are too large.", code="headers_too_large", status=431)
            )

    def send_400_response(self, msg: str) -> None:
        """In place of uvicorn's plain text."""
        self._reject_request(RequestError("This is no valid HTTP/1.1 request.", code="invalid_http"))

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._start_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        self._start_timer()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._stop_timer()
        super().on_headers_complete()

    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _reject_request(self, error: RequestError) -> None:
        """The last response of this connection, unless one is under way: nothing is written into that."""
        if not self.transport.is_closing() and not (self._is_answering() and self.cycle.response_started):
            body = openai_chat.encode_error(error)
            status = f"HTTP/1.1 {error.status} {HTTPStatus(error.status).phrase}\r\n"
            kind = f"content-type: application/json\r\ncontent-length: {len(body)}\r\n"
            self.transport.write(f"{status}{kind}connection: close\r\n\r\n".encode() + body)
        self.transport.close()

    def _start_timer(self) -> None:
        self._stop_timer()
        self._timer = self.loop.call_later(self._header_s, self.transport.close)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _hide_upgrade_header(data: bytes) -> bytes:
    """`data` without offers in its head; a body that begins in the same read comes as it is."""
    head, end, body = data.partition(b"\r\n\r\n")
    return _UPGRADE_HEADER.sub(_HIDDEN_HEADER, head) + end + body


def make_http_protocol(header_s: float) -> type[asyncio.Protocol]:
    """What uvicorn takes as `http` and calls for each connection; it can be handed to worker processes."""
    return cast("type[asyncio.Protocol]", partial(BoundedHttpProtocol, header_s=header_s))
