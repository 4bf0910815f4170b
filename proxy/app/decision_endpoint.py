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
from proxy.app.admin_access import operates
from proxy.app.deployment import Services
from proxy.domain.errors import RequestError
from proxy.domain.trace import Trace
from proxy.domain.types import Caller
from proxy.gate.types import RULES
from proxy.guards.citations import clean_title, clean_url
from proxy.http.body import head
from proxy.http.replies import Line
from proxy.http.routes import Endpoint

PLAIN = (
    *("id", "started", "model", "question", "language", "decision", "layer", "topic"),
    *("mode", "best", "threshold", "released", "input_tokens", "output_tokens", "cost_nanousd", "timings_ms"),
)
"""Fields of a trace that are told as they are."""
SCORES = ("similarity", "coverage", "cosine")


def decided(services: Services) -> Endpoint:
    """The endpoint over opened services. A request of somebody else is as unknown as one that never was."""

    async def read(scope: Scope, receive: Receive, line: Line) -> None:
        ask = head(scope)
        caller = await services.desk.auth.authenticate(ask.headers, ask.peer)
        trace = await services.decisions.read(scope["path_params"]["id"])
        if trace is None or not _may(caller, trace):
            text = "This key has sent no request of this id, or it is forgotten by now."
            raise RequestError(text, code="unknown_decision", status=404)
        told = {name: getattr(trace, name) for name in PLAIN}
        told["rule"] = trace.rule if trace.rule in RULES else ""
        told["sources"] = [one async for one in _sources(trace, caller, services)]
        await line.whole(200, (), orjson.dumps(told))

    return read


def _may(caller: Caller, trace: Trace) -> bool:
    return operates(caller) or caller.key_id == trace.caller.key_id


async def _sources(trace: Trace, caller: Caller, services: Services) -> AsyncIterator[dict[str, object]]:
    """What was handed over, as far as `caller` may see it at this instant: a title can tell too much."""
    viewer = Viewer(caller.groups, services.desk.now(), frozenset())
    for source in trace.sources:
        access = await services.evidence.store.read_access(str(source.get("document") or source["id"]))
        if access is not None and is_visible(access, viewer):
            url = clean_url(str(source.get("url") or ""))
            told = {"number": source["number"], "title": clean_title(str(source["title"])), "url": url}
            yield told | {name: source.get(name) for name in SCORES}
