"""The HTTP surface over answers that a test gives, and a client of it."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

import httpx

from proxy.domain.errors import AuthError
from proxy.domain.ports import HttpRequest, ReplyEnd, ReplyOpener
from proxy.domain.types import ChatRequest, Citation, Decision
from proxy.http import routes
from proxy.settings import tree
from proxy.wire.chat_request import RequestPolicy, parse_chat_request
from tests.loopback_server import serve_app

BODY = {"model": "ada", "messages": [{"role": "user", "content": "Who?"}]}
STREAM = BODY | {"stream": True, "stream_options": {"include_usage": True}}
DONE = ReplyEnd(Decision.ANSWERED, "stop", (Citation(0, 4, "Notes", "https://example.org/n"),), (10, 5))
AnswerFunction = Callable[[ChatRequest, ReplyOpener], Awaitable[None]]


async def write_ordinary_answer(request: ChatRequest, open_reply: ReplyOpener) -> None:
    """The ordinary answer."""
    reply = open_reply(request, "r1")
    await reply.announce_decision(Decision.ANSWERED)
    await reply.write_text("Ada ")
    await reply.write_text("wrote it.")
    await reply.end_reply(DONE)


async def list_known_models(request: HttpRequest) -> Sequence[str]:
    if request.headers.get("authorization") != "Bearer sk-good":
        raise AuthError("Unknown key.")
    return ["ada", "bee"]


@asynccontextmanager
async def open_surface(
    write_answer: AnswerFunction = write_ordinary_answer, missing: Sequence[str] = (), **settings: object
) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a server whose answers `tell` gives."""

    async def answer_request(request: HttpRequest, open_reply: ReplyOpener) -> None:
        await write_answer(parse_chat_request(request.body, RequestPolicy()), open_reply)

    async def list_missing() -> Sequence[str]:
        return missing

    server = tree.ServerSettings.model_validate({"first_byte_s": 5} | settings)
    async with (
        serve_app(routes.build_app(answer_request, list_known_models, list_missing, server)) as url,
        httpx.AsyncClient(base_url=url, trust_env=False, verify=False) as client,
    ):
        yield client


async def send_raw_request(client: httpx.AsyncClient, request: str) -> str:
    """The first response to bytes that no client library would send."""
    reader, writer = await asyncio.open_connection(client.base_url.host, client.base_url.port)
    writer.write(request.encode())
    got = await asyncio.wait_for(reader.readuntil(b"}}"), 2)
    writer.close()
    return got.decode()


def parse_stream_events(body: str) -> list[dict[str, object]]:
    """The JSON events of a stream that ends as it should."""
    *events, done, rest = body.split("\n\n")
    assert (done, rest) == ("data: [DONE]", "")
    return [json.loads(event.removeprefix("data: ")) for event in events if not event.startswith(":")]
