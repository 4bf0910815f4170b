"""answer(): one request, top to bottom. Early returns are answers, not errors."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

from proxy.domain.errors import BusyError, LimitError
from proxy.domain.ports import ClientGone, Denial, HttpRequest, Model, Reply
from proxy.domain.types import Caller, ChatRequest, Decision, Trace, Turn, UpstreamCall
from proxy.gate import Gate
from proxy.guards import citations, prompt
from proxy.guards.neutralize import strip_own
from proxy.pipeline.attempt import AttemptResult, run_attempts
from proxy.pipeline.context import AnswerContext, Assistant
from proxy.pipeline.exchange import Exchange, RecordingReply
from proxy.pipeline.retrieve import Grounding, retrieve_sources, translate_store_faults
from proxy.pipeline.sink import is_released_whole
from proxy.pipeline.verdict import VerdictContext, judge_attempt
from proxy.wire.request import task

OpenReply = Callable[[ChatRequest, str], Reply]
JOINED = "joined an equal request that was running"


async def answer(ask: HttpRequest, desk: AnswerContext, open_reply: OpenReply) -> None:
    """Answers one HTTP request through the five layers (DESIGN §2).

    Raises `FiadorError` before the reply has begun; afterwards every outcome is told through the reply.
    A cancelled task (the client left) closes the upstream, settles, and is written down as `left`.
    """
    caller = await desk.auth.authenticate(ask.headers, ask.peer)
    try:
        async with desk.limits.enter(caller, caller.address):
            request = desk.parse_request(ask.body)
            model = desk.choose_model(request.model)
            trace = Trace(desk.new_id(), caller, model.alias, request.question, desk.now().timestamp())
            await _once(
                ask.body, (request, model), desk, RecordingReply(open_reply(request, trace.id), trace)
            )
    except LimitError as fault:
        await desk.decisions.write(_limited(fault, caller, desk))
        raise


async def _once(
    body: bytes, served: tuple[ChatRequest, Model], desk: AnswerContext, client: RecordingReply
) -> None:
    """Runs the request, or listens to an equal one that runs; who only listened leaves a row of its own."""
    ran = False

    async def work(joined: Reply) -> None:
        nonlocal ran
        ran = True
        await _answered(*served, desk, Exchange(joined, client.trace))

    try:
        await desk.coalescer.run((_hearing(client.trace.caller), body), client, work)
    except (ClientGone, asyncio.CancelledError):
        client.decision = Decision.LEFT
        raise
    finally:
        if not ran:
            client.trace.decision, client.trace.detail = client.decision, JOINED
            await desk.decisions.write(client.trace)


def _limited(fault: LimitError, caller: Caller, desk: AnswerContext) -> Trace:
    """What is known of a request of which nothing was read."""
    trace = Trace(desk.new_id(), caller, "", "", desk.now().timestamp())
    trace.decision, trace.layer, trace.detail = Decision.LIMITED, "limits", fault.text
    return trace


def _hearing(caller: Caller) -> str:
    """Who may hear one and the same answer: two tokens of one account need not hold the same groups."""
    return f"{caller.key_id} {sorted(caller.groups)}"


async def _answered(request: ChatRequest, model: Model, desk: AnswerContext, visit: Exchange) -> None:
    """One run, written down whatever becomes of it: equal requests that joined it hear it too."""
    persona = desk.assistants[model.assistant]
    try:
        with visit.timed("total"):
            await _guarded(_cleaned(request, persona), (persona, model), desk, visit)
    except (ClientGone, asyncio.CancelledError):
        visit.note(Decision.LEFT)
        raise
    finally:
        await asyncio.shield(desk.decisions.write(visit.trace))


async def _guarded(
    request: ChatRequest, served: tuple[Assistant, Model], desk: AnswerContext, visit: Exchange
) -> None:
    """The layers in their order; each early return has told the client and the trace."""
    persona, _ = served
    language = visit.trace.language = desk.detect_language(request, persona.language)

    if errand := task(request):  # a chat window wants a title or tags: no guarded answer could be one
        visit.note(Decision.REFUSED, "1", topic="tasks", rule=f"background task: {errand}")
        silent = desk.background_tasks == "empty"
        return await visit.fixed("" if silent else persona.texts.get("background", language))

    with visit.timed("refuse"):
        before = persona.followup_reader.before(request, persona.find_content_words)
        refusal = persona.refuser.find(request.question, before)  # layer 1
    if refusal:
        visit.note(Decision.REFUSED, "1", topic=refusal.topic, rule=refusal.pattern, offending=refusal.piece)
        return await visit.fixed(persona.texts.get(f"refused.{refusal.topic}", language))

    with visit.timed("retrieve"), translate_store_faults():
        handed = await retrieve_sources(request, persona, desk, visit.trace)  # layer 2
    if not handed.sources:
        visit.note(Decision.NO_EVIDENCE, "2")
        return await visit.fixed(_not_found("no_evidence", persona, language, handed))

    call = _call(request, served, handed, language)  # layer 3
    done = await run_attempts(call, served, desk, visit)  # money, upstream, layers 4 and 5, settled
    if isinstance(done, Denial):
        visit.note(done.decision, "spend", detail=done.detail)
        return await visit.fixed(persona.texts.get("over_budget", language))
    return await _told(done, (persona, handed), desk, visit)


async def _told(
    done: AttemptResult, served: tuple[Assistant, Grounding], desk: AnswerContext, visit: Exchange
) -> None:
    """Says how the attempt ended: behind the released text, or as a whole where nothing was released."""
    persona, handed = served
    call, sink = done.call, done.sink
    if done.ending.finish == "failed" and not sink.has_heard and done.free:
        visit.note(Decision.UPSTREAM_FAILED, detail=done.ending.explanation)
        raise BusyError("The model cannot be reached now. Please try again.", code="upstream_failed")
    verdict = judge_attempt(
        sink.stop, done.ending, VerdictContext(call.is_client_cap, sink.has_released, desk.stop_finish)
    )
    visit.judged(verdict, sink.stop, done.ending)
    if verdict.decision is Decision.NOT_IN_SOURCES:
        return await visit.fixed(_not_found(verdict.notice, persona, call.language, handed))
    cited = citations.annotate(sink.released, call.sources)
    tail = persona.texts.get(verdict.notice, call.language) if verdict.notice else ""
    if tail and sink.has_released:
        tail = f"\n\n{tail}"
    if persona.answer_settings.sources in ("both", "list"):
        tail += citations.listing(cited, persona.texts.get("sources", call.language))
    linked = tuple(citation for citation in cited if citation.url)
    shown = linked if persona.answer_settings.sources in ("both", "annotations") else ()
    return await visit.close(tail, shown, verdict.finish)


def _cleaned(request: ChatRequest, persona: Assistant) -> ChatRequest:
    """The request without our own fixed texts and lists of sources in the earlier assistant turns."""
    forms = persona.texts.forms()
    turns = (
        Turn(turn.role, strip_own(turn.text, forms)) if turn.role == "assistant" else turn
        for turn in request.turns
    )
    return replace(request, turns=tuple(turn for turn in turns if turn.text))


def _not_found(key: str, persona: Assistant, language: str, handed: Grounding) -> str:
    """The refusal, and where it looked: names of sources that the caller can see into."""
    text = persona.texts.get(key, language)
    if not handed.searched:
        return text
    looked = persona.texts.get("looked_in", language, sources=", ".join(handed.searched))
    return f"{text} {looked}"


def _call(
    request: ChatRequest, served: tuple[Assistant, Model], handed: Grounding, language: str
) -> UpstreamCall:
    """What goes upstream: rebuilt from our prompt, the sources and what the client was allowed to say."""
    persona, model = served
    rules = persona.gate_rules(language)

    asked = request.output_cap or model.output_cap
    return UpstreamCall(
        model=model.upstream_model,
        messages=persona.prompt.build(request, handed.sources, language, handed.item),
        output_cap=min(asked, model.output_cap),
        is_client_cap=asked < model.output_cap,
        reasoning_cap=model.reasoning_cap,
        sampling=request.sampling,
        stop=request.stop,
        sources=handed.sources,
        question=request.question,
        content_words=tuple(persona.find_content_words(handed.asked or request.question)),
        language=language,
        is_overview=handed.overview,
        token=prompt.TOKEN,
        would_release=lambda text: is_released_whole(Gate(handed.sources, language, rules), text),
        is_structured=persona.answer_settings.mode == "structured",
    )
