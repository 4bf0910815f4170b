"""answer(): one request, top to bottom. Early returns are answers, not errors."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

from proxy.domain.errors import BusyError, LimitError
from proxy.domain.ports import Ask, ClientGone, Denial, Model, Reply
from proxy.domain.types import Call, Caller, ChatRequest, Decision, Trace, Turn
from proxy.gate import Gate
from proxy.guards import citations, prompt
from proxy.guards.neutralize import strip_own
from proxy.pipeline.attempt import Attempted, attempt
from proxy.pipeline.context import Desk, Persona
from proxy.pipeline.exchange import Heard, Visit
from proxy.pipeline.retrieve import Handed, answering, gather
from proxy.pipeline.sink import releases
from proxy.pipeline.verdict import Terms, judge
from proxy.wire.request import task

OpenReply = Callable[[ChatRequest, str], Reply]
JOINED = "joined an equal request that was running"


async def answer(ask: Ask, desk: Desk, open_reply: OpenReply) -> None:
    """Answers one HTTP request through the five layers (DESIGN §2).

    Raises `FiadorError` before the reply has begun; afterwards every outcome is told through the reply.
    A cancelled task (the client left) closes the upstream, settles, and is written down as `left`.
    """
    caller = await desk.auth.authenticate(ask.headers, ask.peer)
    try:
        async with desk.limits.enter(caller, caller.address):
            request = desk.parse(ask.body)
            model = desk.model(request.model)
            trace = Trace(desk.new_id(), caller, model.alias, request.question, desk.now().timestamp())
            await _once(ask.body, (request, model), desk, Heard(open_reply(request, trace.id), trace))
    except LimitError as fault:
        await desk.decisions.write(_limited(fault, caller, desk))
        raise


async def _once(body: bytes, served: tuple[ChatRequest, Model], desk: Desk, client: Heard) -> None:
    """Runs the request, or listens to an equal one that runs; who only listened leaves a row of its own."""
    ran = False

    async def work(joined: Reply) -> None:
        nonlocal ran
        ran = True
        await _answered(*served, desk, Visit(joined, client.trace))

    try:
        await desk.joins.run((_hearing(client.trace.caller), body), client, work)
    except (ClientGone, asyncio.CancelledError):
        client.decision = Decision.LEFT
        raise
    finally:
        if not ran:
            client.trace.decision, client.trace.detail = client.decision, JOINED
            await desk.decisions.write(client.trace)


def _limited(fault: LimitError, caller: Caller, desk: Desk) -> Trace:
    """What is known of a request of which nothing was read."""
    trace = Trace(desk.new_id(), caller, "", "", desk.now().timestamp())
    trace.decision, trace.layer, trace.detail = Decision.LIMITED, "limits", fault.text
    return trace


def _hearing(caller: Caller) -> str:
    """Who may hear one and the same answer: two tokens of one account need not hold the same groups."""
    return f"{caller.key_id} {sorted(caller.groups)}"


async def _answered(request: ChatRequest, model: Model, desk: Desk, visit: Visit) -> None:
    """One run, written down whatever becomes of it: equal requests that joined it hear it too."""
    persona = desk.personas[model.assistant]
    try:
        with visit.timed("total"):
            await _guarded(_cleaned(request, persona), (persona, model), desk, visit)
    except (ClientGone, asyncio.CancelledError):
        visit.note(Decision.LEFT)
        raise
    finally:
        await asyncio.shield(desk.decisions.write(visit.trace))


async def _guarded(request: ChatRequest, served: tuple[Persona, Model], desk: Desk, visit: Visit) -> None:
    """The layers in their order; each early return has told the client and the trace."""
    persona, _ = served
    language = visit.trace.language = desk.language(request, persona.language)

    if errand := task(request):  # a chat window wants a title or tags: no guarded answer could be one
        visit.note(Decision.REFUSED, "1", topic="tasks", rule=f"background task: {errand}")
        silent = desk.background_tasks == "empty"
        return await visit.fixed("" if silent else persona.texts.get("background", language))

    with visit.timed("refuse"):
        before = persona.reader.before(request, persona.content)
        refusal = persona.refuser.find(request.question, before)  # layer 1
    if refusal:
        visit.note(Decision.REFUSED, "1", topic=refusal.topic, rule=refusal.pattern, offending=refusal.piece)
        return await visit.fixed(persona.texts.get(f"refused.{refusal.topic}", language))

    with visit.timed("retrieve"), answering():
        handed = await gather(request, persona, desk, visit.trace)  # layer 2
    if not handed.sources:
        visit.note(Decision.NO_EVIDENCE, "2")
        return await visit.fixed(_not_found("no_evidence", persona, language, handed))

    call = _call(request, served, handed, language)  # layer 3
    done = await attempt(call, served, desk, visit)  # money, upstream, layers 4 and 5, settled
    if isinstance(done, Denial):
        visit.note(done.decision, "spend", detail=done.detail)
        return await visit.fixed(persona.texts.get("over_budget", language))
    return await _told(done, (persona, handed), desk, visit)


async def _told(done: Attempted, served: tuple[Persona, Handed], desk: Desk, visit: Visit) -> None:
    """Says how the attempt ended: behind the released text, or as a whole where nothing was released."""
    persona, handed = served
    call, sink = done.call, done.sink
    if done.ending.finish == "failed" and not sink.heard and done.free:
        visit.note(Decision.UPSTREAM_FAILED, detail=done.ending.why)
        raise BusyError("The model cannot be reached now. Please try again.", code="upstream_failed")
    verdict = judge(sink.stop, done.ending, Terms(call.own_cap, sink.spoken, desk.stop_finish))
    visit.judged(verdict, sink.stop, done.ending)
    if verdict.decision is Decision.NOT_IN_SOURCES:
        return await visit.fixed(_not_found(verdict.notice, persona, call.language, handed))
    cited = citations.annotate(sink.released, call.sources)
    tail = persona.texts.get(verdict.notice, call.language) if verdict.notice else ""
    if tail and sink.spoken:
        tail = f"\n\n{tail}"
    if persona.answer.sources in ("both", "list"):
        tail += citations.listing(cited, persona.texts.get("sources", call.language))
    linked = tuple(citation for citation in cited if citation.url)
    shown = linked if persona.answer.sources in ("both", "annotations") else ()
    return await visit.close(tail, shown, verdict.finish)


def _cleaned(request: ChatRequest, persona: Persona) -> ChatRequest:
    """The request without our own fixed texts and lists of sources in the earlier assistant turns."""
    forms = persona.texts.forms()
    turns = (
        Turn(turn.role, strip_own(turn.text, forms)) if turn.role == "assistant" else turn
        for turn in request.turns
    )
    return replace(request, turns=tuple(turn for turn in turns if turn.text))


def _not_found(key: str, persona: Persona, language: str, handed: Handed) -> str:
    """The refusal, and where it looked: names of sources that the caller can see into."""
    text = persona.texts.get(key, language)
    if not handed.searched:
        return text
    looked = persona.texts.get("looked_in", language, sources=", ".join(handed.searched))
    return f"{text} {looked}"


def _call(request: ChatRequest, served: tuple[Persona, Model], handed: Handed, language: str) -> Call:
    """What goes upstream: rebuilt from our prompt, the sources and what the client was allowed to say."""
    persona, model = served
    rules = persona.rules(language)

    asked = request.output_cap or model.output_cap
    return Call(
        model=model.upstream_model,
        messages=persona.prompt.build(request, handed.sources, language, handed.item),
        output_cap=min(asked, model.output_cap),
        own_cap=asked < model.output_cap,
        reasoning_cap=model.reasoning_cap,
        sampling=request.sampling,
        stop=request.stop,
        sources=handed.sources,
        question=request.question,
        wanted=tuple(persona.content(handed.asked or request.question)),
        language=language,
        overview=handed.overview,
        token=prompt.TOKEN,
        passes=lambda text: releases(Gate(handed.sources, language, rules), text),
        structured=persona.answer.mode == "structured",
    )
