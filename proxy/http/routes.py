"""HTTP in and out: which paths there are, and who watches the client while it is answered.

Paths are exact, methods too; everything else gets an error in OpenAI's envelope that says what to do.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from urllib.parse import unquote

from starlette.types import ASGIApp, Receive, Scope, Send

from proxy.domain.errors import BusyError, FiadorError, RequestError
from proxy.domain.ports import ClientGone, HttpRequest, Reply
from proxy.domain.types import ChatRequest
from proxy.http.body import head, read
from proxy.http.replies import JsonReply, Line, SseReply
from proxy.settings import tree
from proxy.wire import openai_chat
from proxy.wire.openai_chat import ChunkEncoder, ReplyLabel

log = logging.getLogger("fiador.http")

OpenReply = Callable[[ChatRequest, str], Reply]
Answer = Callable[[HttpRequest, OpenReply], Awaitable[None]]
Models = Callable[[HttpRequest], Awaitable[Sequence[str]]]
"""The names of the models that this caller may use; raises `AuthError`."""
Ready = Callable[[], Awaitable[Sequence[str]]]
"""What is missing before requests can be served; nothing: ready."""
Told = Callable[[Exception], FiadorError]
"""What a client is told of a fault."""
Endpoint = Callable[[Scope, Receive, Line], Awaitable[None]]
"""Answers by `line.whole`, or raises a `FiadorError`."""
Paths = Mapping[str, Mapping[str, Endpoint]]
"""Path → method → endpoint. A path may end in `/{id}`: one more part, in `scope["path_params"]["id"]`."""

HINTS: Mapping[str, str] = {
    "/v1/responses": "The Responses API is not served here; use chat completions. Vercel AI SDK:"
    " `.chat(model)`; OpenAI Agents SDK: `set_default_openai_api('chat_completions')`; LangChain:"
    " `use_responses_api=False`.",
    "/v1/completions": "Legacy completions are not served here; send `messages` to"
    " POST /v1/chat/completions.",
    "/v1/embeddings": "Embeddings are not served here; documents are indexed by `fiador sync`.",
    "/v1/messages": "The Messages API is not served here; use an OpenAI client with"
    " POST /v1/chat/completions.",
    "/chat/completions": "The base URL must end in /v1: POST /v1/chat/completions.",
    "/models": "The base URL must end in /v1: GET /v1/models.",
    "/v1/v1/chat/completions": "The base URL must end in /v1 once: POST /v1/chat/completions.",
}


def build(
    answer: Answer,
    models: Models,
    ready: Ready,
    server: tree.Server,
    *,
    more: Paths | None = None,
    failed: Callable[[str], None] = lambda code: None,
) -> ASGIApp:
    """The whole HTTP surface; `more` adds endpoints, `failed` hears the code of every error that is told."""
    listing = _Listing(models)

    def told(fault: Exception) -> FiadorError:
        error = shown(fault)
        failed(error.code)
        return error

    return _Router(
        {
            "/v1/chat/completions": {"POST": _Chat(answer, server, told)},
            "/v1/models": {"GET": listing.all},
            "/v1/models/{id}": {"GET": listing.one},
            **probes(ready),
            **(more or {}),
        },
        server,
        told,
    )


def probes(ready: Ready) -> Paths:
    """What a supervisor asks: whether the process runs, and whether it can serve."""
    return {"/healthz": {"GET": _alive}, "/readyz": {"GET": _Readiness(ready)}}


def router(paths: Paths, server: tree.Server) -> ASGIApp:
    """An HTTP surface of `paths` alone."""
    return _Router(paths, server, shown)


class _Router:
    """Matches the path as it was sent, undecoded, and turns faults into responses."""

    def __init__(self, paths: Paths, server: tree.Server, told: Told):
        self._paths = paths
        self._server = server
        self._told = told

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise RuntimeError(f"{scope['type']} is not served here")
        line = Line(send, self._server.idle_s)
        with suppress(ClientGone):
            try:
                await self._endpoint(scope)(scope, receive, line)
            except (ClientGone, asyncio.CancelledError):
                raise
            except Exception as fault:
                if line.begun:
                    raise  # the server then tears the connection down: no clean end
                await line.fail(self._told(fault))

    def _endpoint(self, scope: Scope) -> Endpoint:
        path = scope.get("raw_path", scope["path"].encode()).decode("latin-1")
        methods = self._paths.get(path)
        if methods is None:
            folder, _, last = path.rpartition("/")
            methods = self._paths.get(f"{folder}/{{id}}") if last else None
            scope["path_params"] = {"id": _decoded(last)}
        if methods is None:
            there = f"There are: {', '.join(self._paths)}; a slash within an id is written %2F."
            text = HINTS.get(path) or f"There is no such path here. {there}"
            raise RequestError(text, code="unknown_path", status=404)
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        if method not in methods:
            raise RequestError(
                f"This path takes {' and '.join(methods)} only.", code="method_not_allowed", status=405
            )
        return methods[method]


def _decoded(part: str) -> str:
    """A part of a path as text. What is none is no name of anything: two such must not become one."""
    try:
        return unquote(part, errors="strict")
    except UnicodeDecodeError:
        raise RequestError(
            "The path is not UTF-8 where it is percent-encoded.", code="invalid_path"
        ) from None


def shown(fault: Exception) -> FiadorError:
    """What a client may see of a fault; the rest goes to the log."""
    if isinstance(fault, FiadorError):
        if fault.status >= 500:
            log.warning("%s: %s %s", fault.code, fault.text, fault.detail)
        elif fault.detail:  # whoever sets up an identity provider must be able to learn what is wrong
            log.debug("%s: %s %s", fault.code, fault.text, fault.detail)
        return fault
    log.error("request failed", exc_info=fault)
    return FiadorError("Something went wrong here. It has been written down; asking again may not help.")


class _Chat:
    """`POST /v1/chat/completions`: reads, answers, and watches for the client's going."""

    def __init__(self, answer: Answer, server: tree.Server, told: Told):
        self._answer = answer
        self._server = server
        self._told = told

    async def __call__(self, scope: Scope, receive: Receive, line: Line) -> None:
        ask = await read(scope, receive, self._server)
        replies: list[SseReply | JsonReply] = []

        def open_reply(request: ChatRequest, request_id: str) -> Reply:
            replies.append(_reply(line, request, request_id, self._server))
            return replies[-1]

        try:
            await _watched(self._answer(ask, open_reply), receive, line)
        except FiadorError as fault:
            if not replies:
                raise
            await replies[-1].fail(self._told(fault))
        finally:
            for reply in replies:
                reply.close()


def _reply(line: Line, request: ChatRequest, request_id: str, server: tree.Server) -> SseReply | JsonReply:
    label = ReplyLabel(f"chatcmpl-{request_id}", request.model, int(time.time()))
    if request.stream:
        return SseReply(line, ChunkEncoder(label, include_usage=request.include_usage), request_id, server)
    return JsonReply(line, label, request_id)


async def _watched(answer: Awaitable[None], receive: Receive, line: Line) -> None:
    """Runs `answer`; the client's going cancels it. Returns when it has wound up, whatever happens."""
    answering = asyncio.ensure_future(answer)
    watching = asyncio.create_task(_gone(receive))
    try:
        await asyncio.wait((answering, watching), return_when=asyncio.FIRST_COMPLETED)
        if line.ended:  # a server also says "disconnect" when the response is over; what is left is ours
            await asyncio.wait((answering,))
        line.gone = not answering.done()
    finally:
        watching.cancel()
        if not answering.done():
            answering.cancel()
            await asyncio.wait((answering,))
    if answering.cancelled():
        raise ClientGone
    answering.result()


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


class _Listing:
    """`GET /v1/models` and `/v1/models/{id}`: what the caller may name as `model`."""

    def __init__(self, models: Models):
        self._models = models
        self._created = int(time.time())

    async def all(self, scope: Scope, receive: Receive, line: Line) -> None:
        names = await self._models(head(scope))
        await line.whole(200, (), openai_chat.encode_model_list(names, self._created))

    async def one(self, scope: Scope, receive: Receive, line: Line) -> None:
        names = await self._models(head(scope))
        name = scope["path_params"]["id"]
        if name not in names:
            raise RequestError(
                f"There is no model of this name here. Models: {', '.join(names)}.",
                code="model_not_found",
                param="model",
                status=404,
            )
        await line.whole(200, (), openai_chat.encode_model(name, self._created))


async def _alive(scope: Scope, receive: Receive, line: Line) -> None:
    """`GET /healthz`: the process runs."""
    await line.whole(200, (), b'{"status":"ok"}')


class _Readiness:
    """`GET /readyz`: 200 when requests can be answered, 503 and what is missing otherwise."""

    def __init__(self, ready: Ready):
        self._ready = ready

    async def __call__(self, scope: Scope, receive: Receive, line: Line) -> None:
        if missing := await self._ready():
            raise BusyError(f"Not ready: {', '.join(missing)}.", code="not_ready")
        await _alive(scope, receive, line)
