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

_OFFER = re.compile(rb"(?<=\r\n)upgrade(?=[ \t]*:)", re.IGNORECASE)
_LEFT_ASIDE = b"x-offer"


class Patient(HttpToolsProtocol):
    """uvicorn itself waits for ever for a request that never becomes whole.

    Here a connection is closed whose request has no whole head after `header_s` or 64 kB. The timer runs from
    the connection, or a further request's first byte, to the end of the head.

    Java's own client offers HTTP/2 with every request over plain text. A server may leave that aside, but the
    parser would stop behind the head and lose the body: so it never sees the header.
    """

    def __init__(self, *arguments: Any, header_s: float, **named: Any):
        super().__init__(*arguments, **named)
        self._header_s = header_s
        self._timer: asyncio.TimerHandle | None = None
        self._head_bytes = 0

    def data_received(self, data: bytes) -> None:
        super().data_received(data if self._answering() else _unoffered(data))
        self._head_bytes = self._head_bytes + len(data) if self._timer else 0
        if self._head_bytes > HEAD_BYTES_MAX:
            self._refuse(RequestError("The headers are too large.", code="headers_too_large", status=431))

    def send_400_response(self, msg: str) -> None:
        """In place of uvicorn's plain text."""
        self._refuse(RequestError("This is no valid HTTP/1.1 request.", code="invalid_http"))

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._start()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        self._start()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._stop()
        super().on_headers_complete()

    def _answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _refuse(self, fault: RequestError) -> None:
        """The last response of this connection, unless one is under way: nothing is written into that."""
        if not self.transport.is_closing() and not (self._answering() and self.cycle.response_started):
            body = openai_chat.encode_error(fault)
            status = f"HTTP/1.1 {fault.status} {HTTPStatus(fault.status).phrase}\r\n"
            kind = f"content-type: application/json\r\ncontent-length: {len(body)}\r\n"
            self.transport.write(f"{status}{kind}connection: close\r\n\r\n".encode() + body)
        self.transport.close()

    def _start(self) -> None:
        self._stop()
        self._timer = self.loop.call_later(self._header_s, self.transport.close)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _unoffered(data: bytes) -> bytes:
    """`data` without offers in its head: a body may begin in the same read, and a record is no header."""
    head, end, body = data.partition(b"\r\n\r\n")
    return _OFFER.sub(_LEFT_ASIDE, head) + end + body


def patient(header_s: float) -> type[asyncio.Protocol]:
    """What uvicorn takes as `http` and calls for each connection; it can be handed to worker processes."""
    return cast("type[asyncio.Protocol]", partial(Patient, header_s=header_s))
