"""`GET /v1/decisions/{id}`: what became of a request, for whoever sent it and for keys of the scope `admin`.

An allow-list of figures, names and the question. Not in it are words of a model that the gate has not
released, patterns, and faults in their own words: those are for the operator's terminal. Sources are those
that the reader may see now.
"""

from collections.abc import AsyncIterator

import orjson
from starlette.types import Receive, Scope

from indexes.grants import is_visible
from indexes.types import Viewer
from proxy.app.admin_access import is_operator
from proxy.app.deployment import Deployment
from proxy.domain.errors import RequestError
from proxy.domain.trace import Trace
from proxy.domain.types import Caller
from proxy.gate.types import GateRule
from proxy.guards.citations import clean_title, clean_url
from proxy.http.body import read_request_head
from proxy.http.replies import ResponseWriter

TRACE_FIELDS = (
    *("id", "started", "model", "question", "language", "decision", "layer", "topic"),
    *("mode", "best", "threshold", "released", "input_tokens", "output_tokens", "cost_nanousd", "timings_ms"),
)
"""Fields of a trace that are told as they are."""
SCORE_FIELDS = ("similarity", "coverage", "cosine")


async def show_decision(
    deployment: Deployment, scope: Scope, receive: Receive, writer: ResponseWriter
) -> None:
    """The endpoint. A request of somebody else is as unknown as one that never was."""
    request = read_request_head(scope)
    caller = await deployment.context.auth.authenticate(request.headers, request.peer)
    trace = await deployment.decisions.read_trace(scope["path_params"]["id"])
    if trace is None or not _may_read(caller, trace):
        text = "This key has sent no request of this id, or it is forgotten by now."
        raise RequestError(text, code="unknown_decision", status=404)
    fields = {name: getattr(trace, name) for name in TRACE_FIELDS}
    fields["rule"] = trace.rule if trace.rule in set(GateRule) else ""
    fields["sources"] = [source async for source in _each_visible_source(trace, caller, deployment)]
    await writer.write_json(200, (), orjson.dumps(fields))


def _may_read(caller: Caller, trace: Trace) -> bool:
    return is_operator(caller) or caller.key_id == trace.caller.key_id


async def _each_visible_source(
    trace: Trace, caller: Caller, deployment: Deployment
) -> AsyncIterator[dict[str, object]]:
    """What was handed over, as far as `caller` may see it at this instant: a title can tell too much."""
    viewer = Viewer(caller.groups, deployment.context.now(), frozenset())
    for source in trace.sources:
        access = await deployment.evidence.store.read_access(str(source.get("document") or source["id"]))
        if access is not None and is_visible(access, viewer):
            url = clean_url(str(source.get("url") or ""))
            fields = {"number": source["number"], "title": clean_title(str(source["title"])), "url": url}
            yield fields | {name: source.get(name) for name in SCORE_FIELDS}
