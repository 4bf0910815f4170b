"""Reads the body of a request: bounded in size and time, plain JSON only."""

import asyncio

from starlette.types import Message, Receive, Scope

from proxy.domain.errors import RequestError
from proxy.domain.ports import ClientGone, HttpRequest
from proxy.settings import tree

BYTES_PER_S_MIN = 1_000
"""A body that comes more slowly than this, after `header_s` of grace, holds a place that others wait for."""


async def read_request(scope: Scope, receive: Receive, server: tree.ServerSettings) -> HttpRequest:
    """The request with its body. Raises `RequestError` (408, 413, 415) or `ClientGone`."""
    request = read_request_head(scope)
    _check_content_headers(request, server.body_bytes_max)
    body = bytearray()
    more = True
    clock = asyncio.get_running_loop().time
    started_s = clock()
    while more:
        deadline_s = started_s + server.header_s + len(body) / BYTES_PER_S_MIN
        message = await _receive_message(receive, deadline_s - clock())
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > server.body_bytes_max:
            raise _make_size_error(server.body_bytes_max)
    return HttpRequest(request.headers, request.peer, bytes(body))


def read_request_head(scope: Scope) -> HttpRequest:
    """The request without its body."""
    headers: dict[str, str] = {}
    for raw_name, raw_value in scope["headers"]:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    client = scope.get("client")
    return HttpRequest(headers, client[0] if client else "", b"")


def _check_content_headers(request: HttpRequest, bytes_max: int) -> None:
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding != "identity":
        raise RequestError(
            f"Send the body as it is, without content-encoding {encoding[:40]}.",
            code="unsupported_content_encoding",
            status=415,
        )
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":  # a web page can post other types, or none, without anybody being asked
        raise RequestError(
            "Send JSON, with the header content-type: application/json.",
            code="unsupported_content_type",
            status=415,
        )
    if int(request.headers.get("content-length", "0")) > bytes_max:
        raise _make_size_error(bytes_max)


def _make_size_error(bytes_max: int) -> RequestError:
    return RequestError(
        f"The body is larger than {bytes_max} bytes. Send fewer or shorter messages.",
        code="body_too_large",
        status=413,
    )


async def _receive_message(receive: Receive, wait_s: float) -> Message:
    try:
        async with asyncio.timeout(wait_s):
            message = await receive()
    except TimeoutError as fault:
        raise RequestError("The body came too slowly.", code="body_timeout", status=408) from fault
    if message["type"] == "http.disconnect":
        raise ClientGone
    return message
