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
from proxy.domain.ports import ClientGone, HttpRequest, Reply, ReplyOpener
from proxy.domain.types import ChatRequest
from proxy.http.body import read_request, read_request_head
from proxy.http.replies import JsonReply, ResponseWriter, SseReply
from proxy.settings import tree
from proxy.wire import openai_chat
from proxy.wire.openai_chat import ChunkEncoder, ReplyLabel

log = logging.getLogger("fiador.http")

AnswerHandler = Callable[[HttpRequest, ReplyOpener], Awaitable[None]]
ModelLister = Callable[[HttpRequest], Awaitable[Sequence[str]]]
"""The names of the models that this caller may use; raises `AuthError`."""
ReadinessCheck = Callable[[], Awaitable[Sequence[str]]]
"""What is missing before requests can be served; nothing: ready."""
ErrorRedactor = Callable[[Exception], FiadorError]
"""What a client is told of a fault."""
Endpoint = Callable[[Scope, Receive, ResponseWriter], Awaitable[None]]
"""Answers through the writer, or raises a `FiadorError`."""
RouteTable = Mapping[str, Mapping[str, Endpoint]]
"""Path → method → endpoint. A path may end in `/{id}`: one more part, in `scope["path_params"]["id"]`."""

PATH_HINTS: Mapping[str, str] = {
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


def build_app(
    answer_request: AnswerHandler,
    list_models: ModelLister,
    list_obstacles: ReadinessCheck,
    server: tree.ServerSettings,
    *,
    extra_routes: RouteTable | None = None,
    count_error: Callable[[str], None] = lambda code: None,
) -> ASGIApp:
    """The whole HTTP surface. `count_error` gets the code of every error that a client is told."""
    model_endpoints = _ModelEndpoints(list_models)

    def redact_and_count(error: Exception) -> FiadorError:
        redacted = redact_error(error)
        count_error(redacted.code)
        return redacted

    return _PathRouter(
        {
            "/v1/chat/completions": {"POST": _ChatEndpoint(answer_request, server, redact_and_count)},
            "/v1/models": {"GET": model_endpoints.show_models},
            "/v1/models/{id}": {"GET": model_endpoints.show_model},
            **build_probes(list_obstacles),
            **(extra_routes or {}),
        },
        server,
        redact_and_count,
    )


def build_probes(list_obstacles: ReadinessCheck) -> RouteTable:
    """What a supervisor asks: whether the process runs, and whether it can serve."""
    return {"/healthz": {"GET": _report_alive}, "/readyz": {"GET": _ReadinessEndpoint(list_obstacles)}}


def build_router(routes: RouteTable, server: tree.ServerSettings) -> ASGIApp:
    """An HTTP surface of `routes` alone."""
    return _PathRouter(routes, server, redact_error)


class _PathRouter:
    """Matches the path as it was sent, undecoded, and turns faults into responses."""

    def __init__(self, routes: RouteTable, server: tree.ServerSettings, redact_error: ErrorRedactor):
        self._routes = routes
        self._server = server
        self._redact_error = redact_error

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise RuntimeError(f"{scope['type']} is not served here")
        writer = ResponseWriter(send, self._server.idle_s)
        with suppress(ClientGone):
            try:
                await self._resolve_endpoint(scope)(scope, receive, writer)
            except (ClientGone, asyncio.CancelledError):
                raise
            except Exception as fault:
                if writer.is_started:
                    raise  # the server then tears the connection down: no clean end
                await writer.write_error(self._redact_error(fault))

    def _resolve_endpoint(self, scope: Scope) -> Endpoint:
        """Leaves what stands for `{id}` in the scope. Raises `RequestError` (404, 405)."""
        path = scope.get("raw_path", scope["path"].encode()).decode("latin-1")
        methods = self._routes.get(path)
        if methods is None:
            folder, _, last_part = path.rpartition("/")
            methods = self._routes.get(f"{folder}/{{id}}") if last_part else None
            scope["path_params"] = {"id": _decode_part(last_part)}
        if methods is None:
            paths = f"There are: {', '.join(self._routes)}; a slash within an id is written %2F."
            text = PATH_HINTS.get(path) or f"There is no such path here. {paths}"
            raise RequestError(text, code="unknown_path", status=404)
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        if method not in methods:
            raise RequestError(
                f"This path takes {' and '.join(methods)} only.", code="method_not_allowed", status=405
            )
        return methods[method]


def _decode_part(part: str) -> str:
    """A part of a path as text. Bytes that are none name nothing, and no two of them may become one name."""
    try:
        return unquote(part, errors="strict")
    except UnicodeDecodeError:
        raise RequestError(
            "The path is not UTF-8 where it is percent-encoded.", code="invalid_path"
        ) from None


def redact_error(error: Exception) -> FiadorError:
    """What a client may see of a fault; the rest goes to the log."""
    if isinstance(error, FiadorError):
        if error.status >= 500:
            log.warning("%s: %s %s", error.code, error.text, error.detail)
        elif error.detail:  # whoever sets up an identity provider must be able to learn what is wrong
            log.debug("%s: %s %s", error.code, error.text, error.detail)
        return error
    log.error("request failed", exc_info=error)
    return FiadorError("Something went wrong here. It has been written down; asking again may not help.")


class _ChatEndpoint:
    """`POST /v1/chat/completions`: reads, answers, and watches for the client's going."""

    def __init__(
        self, answer_request: AnswerHandler, server: tree.ServerSettings, redact_error: ErrorRedactor
    ):
        self._answer_request = answer_request
        self._server = server
        self._redact_error = redact_error

    async def __call__(self, scope: Scope, receive: Receive, writer: ResponseWriter) -> None:
        http_request = await read_request(scope, receive, self._server)
        replies: list[SseReply | JsonReply] = []  # the reply, once the answer has opened it

        def open_reply(request: ChatRequest, request_id: str) -> Reply:
            replies.append(_build_reply(writer, request, request_id, self._server))
            return replies[-1]

        try:
            await _run_until_disconnect(self._answer_request(http_request, open_reply), receive, writer)
        except FiadorError as fault:
            if not replies:
                raise
            await replies[-1].fail_reply(self._redact_error(fault))
        finally:
            for reply in replies:
                reply.close()


def _build_reply(
    writer: ResponseWriter, request: ChatRequest, request_id: str, server: tree.ServerSettings
) -> SseReply | JsonReply:
    label = ReplyLabel(f"chatcmpl-{request_id}", request.model, int(time.time()))
    if request.stream:
        return SseReply(writer, ChunkEncoder(label, include_usage=request.include_usage), request_id, server)
    return JsonReply(writer, label, request_id)


async def _run_until_disconnect(answer: Awaitable[None], receive: Receive, writer: ResponseWriter) -> None:
    """Runs `answer`; the client's going cancels it. Returns when it has wound up, whatever happens."""
    answer_task = asyncio.ensure_future(answer)
    watch_task = asyncio.create_task(_wait_for_disconnect(receive))
    try:
        await asyncio.wait((answer_task, watch_task), return_when=asyncio.FIRST_COMPLETED)
        if writer.is_ended:  # a server also says "disconnect" when the response is over; what is left is ours
            await asyncio.wait((answer_task,))
        writer.is_client_gone = not answer_task.done()
    finally:
        watch_task.cancel()
        if not answer_task.done():
            answer_task.cancel()
            await asyncio.wait((answer_task,))
    if answer_task.cancelled():
        raise ClientGone
    answer_task.result()


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


class _ModelEndpoints:
    """`GET /v1/models` and `/v1/models/{id}`: what the caller may name as `model`."""

    def __init__(self, list_models: ModelLister):
        self._list_models = list_models
        self._created_s = int(time.time())

    async def show_models(self, scope: Scope, receive: Receive, writer: ResponseWriter) -> None:
        names = await self._list_models(read_request_head(scope))
        await writer.write_json(200, (), openai_chat.encode_model_list(names, self._created_s))

    async def show_model(self, scope: Scope, receive: Receive, writer: ResponseWriter) -> None:
        names = await self._list_models(read_request_head(scope))
        name = scope["path_params"]["id"]
        if name not in names:
            raise RequestError(
                f"There is no model of this name here. Models: {', '.join(names)}.",
                code="model_not_found",
                param="model",
                status=404,
            )
        await writer.write_json(200, (), openai_chat.encode_model(name, self._created_s))


async def _report_alive(scope: Scope, receive: Receive, writer: ResponseWriter) -> None:
    """`GET /healthz`: the process runs."""
    await writer.write_json(200, (), b'{"status":"ok"}')


class _ReadinessEndpoint:
    """`GET /readyz`: 200 when requests can be answered, 503 and what is missing otherwise."""

    def __init__(self, list_obstacles: ReadinessCheck):
        self._list_obstacles = list_obstacles

    async def __call__(self, scope: Scope, receive: Receive, writer: ResponseWriter) -> None:
        if obstacles := await self._list_obstacles():
            raise BusyError(f"Not ready: {', '.join(obstacles)}.", code="not_ready")
        await _report_alive(scope, receive, writer)
