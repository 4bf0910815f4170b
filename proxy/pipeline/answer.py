"""answer(): one request, top to bottom. Early returns are answers, not errors.

Its steps, in the order in which a request meets them:

1. authenticate, limit, parse; join an equal request       `answer`, `run_or_join`
2. refuse chat windows' errands, and by pattern (layer 1)  `run_layers`, `guards.refusal`
3. route a question about the whole work to records        `retrieve_sources`
4. retrieve what the caller may see (layer 2)              `retrieve_sources`
5. prompt (layer 3)                                        `build_call`, `guards.prompt`
6. reserve the bound of the cost                           `run_attempts`
7. call the upstream, which pushes into a sink             `run_attempt`, `proxy.upstream`
8. gate each sentence (layers 4 and 5)                     `GatedSink`, `proxy.gate`
9. settle; again from 6 only while nothing was said        `settle_attempt`, `upstream.retry`
10. say how it ended, and record the decision              `finish_reply`, `run_recorded`
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from proxy.domain.errors import BusyError, LimitError
from proxy.domain.ports import ClientGone, Denial, HttpRequest, Reply, ReplyOpener
from proxy.domain.trace import RequestTrace, Ruling, Trace, TraceParts
from proxy.domain.types import Caller, ChatRequest, Citation, Decision, Layer, Turn, UpstreamCall
from proxy.gate import Gate
from proxy.guards import citations, prompt
from proxy.guards.neutralize import strip_fixed_texts
from proxy.guards.refusal.refuser import Refusal
from proxy.pipeline.attempt import AttemptResult, run_attempts
from proxy.pipeline.context import AnswerContext, Assistant, ServedRequest
from proxy.pipeline.exchange import Exchange, RecordingReply
from proxy.pipeline.retrieve import Grounding, retrieve_sources, translate_store_faults
from proxy.pipeline.sink import GatedSink, is_released_whole
from proxy.pipeline.verdict import Verdict, VerdictContext, build_attempt_ruling, judge_attempt
from proxy.wire.background_tasks import match_background_task

JOINED_DETAIL = "joined an equal request that was running"
"""What the log says of a request that only listened."""


async def answer(http_request: HttpRequest, open_reply: ReplyOpener, context: AnswerContext) -> None:
    """Answers one HTTP request through the five layers.

    Raises `FiadorError` before the reply has begun; afterwards every outcome is told through the reply.
    A cancelled task (the client left) closes the upstream, settles, and is written down as `left`.
    """
    caller = await context.auth.authenticate(http_request.headers, http_request.peer)  # step 1
    try:
        async with context.limits.enter(caller, caller.address):
            request = context.parse_request(http_request.body)
            model = context.choose_model(request.model)
            opening = open_trace(caller, context, model.alias, request.question)
            listener = RecordingReply(open_reply(request, opening.id))
            await run_or_join(Exchange(opening, request, model), http_request.body, context, listener)
    except LimitError as fault:
        await context.decisions.write(trace_limited(fault, caller, context))
        raise


async def run_or_join(
    exchange: Exchange, body: bytes, context: AnswerContext, listener: RecordingReply
) -> None:
    """Runs the request, or listens to an equal one that runs; who only listened leaves a row of its own."""
    key = (identify_audience(exchange.parts.request.caller), body)
    try:
        await context.coalescer.run(key, listener, partial(run_and_record, exchange, context))
    except (ClientGone, asyncio.CancelledError):
        listener.decision = Decision.LEFT
        raise
    finally:
        if not exchange.has_begun:
            exchange.keep_ruling(Ruling(listener.decision, detail=JOINED_DETAIL))
            await context.decisions.write(exchange.join_trace())


async def run_and_record(exchange: Exchange, context: AnswerContext, reply: Reply) -> None:
    """One run, written down whatever becomes of it: equal requests that joined it hear it too."""
    exchange.begin(reply)
    try:
        with exchange.measure_step("total"):
            await run_layers(exchange, context)
    except (ClientGone, asyncio.CancelledError):
        exchange.keep_departure()
        raise
    finally:
        await asyncio.shield(context.decisions.write(exchange.join_trace()))  # step 10


async def run_layers(exchange: Exchange, context: AnswerContext) -> None:
    """The layers in their order; each early return has told the client, and what the log will say."""
    served = prepare_request(exchange, context)
    texts, language = served.assistant.texts, served.language
    exchange.keep_language(language)

    if errand := match_background_task(served.request):  # step 2
        # A chat window wants a title or tags: no guarded answer could be one.
        rule = f"background task: {errand}"
        exchange.keep_ruling(Ruling(Decision.REFUSED, Layer.REFUSAL, topic="tasks", rule=rule))
        is_empty = context.background_tasks == "empty"
        return await exchange.reply_fixed_text("" if is_empty else texts.render_text("background", language))

    with exchange.measure_step("refuse"):
        refusal = find_refusal(served)  # step 2, layer 1
    if refusal:
        exchange.keep_ruling(build_refusal_ruling(refusal))
        return await exchange.reply_fixed_text(texts.render_text(f"refused.{refusal.topic}", language))

    with exchange.measure_step("retrieve"), translate_store_faults():
        grounding = await retrieve_sources(served, context)  # steps 3 and 4, layer 2
    exchange.keep_retrieval(grounding.trace)
    if not grounding.sources:
        exchange.keep_ruling(Ruling(Decision.NO_EVIDENCE, Layer.EVIDENCE))
        return await exchange.reply_fixed_text(render_not_found("no_evidence", served, grounding))

    call = build_call(served, grounding)  # step 5, layer 3
    result = await run_attempts(call, served, context, exchange)  # steps 6 to 9, layers 4 and 5
    if isinstance(result, Denial):
        exchange.keep_ruling(Ruling(result.decision, Layer.SPEND, detail=result.detail))
        return await exchange.reply_fixed_text(texts.render_text("over_budget", language))
    return await finish_reply(result, served, grounding, exchange, stop_finish=context.stop_finish)


def open_trace(caller: Caller, context: AnswerContext, alias: str, question: str) -> RequestTrace:
    """The first part of a trace: a new id, who asks, and when."""
    return RequestTrace(context.new_id(), caller, alias, question, context.now().timestamp())


def trace_limited(fault: LimitError, caller: Caller, context: AnswerContext) -> Trace:
    """What is known of a request of which nothing was read."""
    ruling = Ruling(Decision.LIMITED, Layer.LIMITS, detail=fault.text)
    return TraceParts(open_trace(caller, context, "", ""), ruling=ruling).join_trace({})


def identify_audience(caller: Caller) -> str:
    """Who may hear one and the same answer: two tokens of one account need not hold the same groups."""
    return f"{caller.key_id} {sorted(caller.groups)}"


def prepare_request(exchange: Exchange, context: AnswerContext) -> ServedRequest:
    """The request with the assistant that its model means, and the language of the question."""
    assistant = context.assistants[exchange.model.assistant]
    request = clean_earlier_turns(exchange.request, assistant)
    language = context.choose_language(request, assistant.language)
    return ServedRequest(request, exchange.parts.request.caller, exchange.model, assistant, language)


def clean_earlier_turns(request: ChatRequest, assistant: Assistant) -> ChatRequest:
    """The request without our own fixed texts and lists of sources in the earlier assistant turns."""
    forms = assistant.texts.list_text_forms()
    turns = (
        Turn(turn.role, strip_fixed_texts(turn.text, forms)) if turn.role == "assistant" else turn
        for turn in request.turns
    )
    return replace(request, turns=tuple(turn for turn in turns if turn.text))


def find_refusal(served: ServedRequest) -> Refusal | None:
    """Step 2: why the question is refused by pattern, also as a follow-up to the one before it."""
    request, assistant = served.request, served.assistant
    previous = assistant.followup_reader.find_previous_question(request, assistant.find_content_words)
    return assistant.refuser.find_refusal(request.question, previous)


def build_refusal_ruling(refusal: Refusal) -> Ruling:
    """The refusal for the log: the pattern, and the folded words that it hit."""
    rule, piece = refusal.pattern, refusal.piece
    return Ruling(Decision.REFUSED, Layer.REFUSAL, topic=refusal.topic, rule=rule, offending=piece)


def render_not_found(key: str, served: ServedRequest, grounding: Grounding) -> str:
    """The refusal, and where it looked: names of sources that the caller can see into."""
    texts, language = served.assistant.texts, served.language
    text = texts.render_text(key, language)
    if not grounding.searched:
        return text
    return f"{text} {texts.render_text('looked_in', language, sources=', '.join(grounding.searched))}"


def build_call(served: ServedRequest, grounding: Grounding) -> UpstreamCall:
    """Step 5: what goes upstream, from our prompt, the sources and what the client was allowed to say."""
    request, model, assistant, language = served.request, served.model, served.assistant, served.language
    rules = assistant.gate_rules_for(language)
    wanted_cap = request.output_cap or model.output_cap
    return UpstreamCall(
        model=model.upstream_model,
        messages=assistant.prompt.build_messages(request, grounding.sources, language, grounding.item),
        output_cap=min(wanted_cap, model.output_cap),
        is_client_cap=wanted_cap < model.output_cap,
        reasoning_cap=model.reasoning_cap,
        sampling=request.sampling,
        stop=request.stop,
        sources=grounding.sources,
        question=request.question,
        content_words=tuple(assistant.find_content_words(grounding.question or request.question)),
        language=language,
        is_overview=grounding.is_overview,
        token=prompt.NOT_IN_SOURCES_TOKEN,
        would_release=lambda text: is_released_whole(Gate(grounding.sources, language, rules), text),
        is_structured=assistant.answer_settings.mode == "structured",
    )


async def finish_reply(
    result: AttemptResult,
    served: ServedRequest,
    grounding: Grounding,
    exchange: Exchange,
    *,
    stop_finish: str,
) -> None:
    """Step 10: how the attempt ended, behind the released text or as a whole where nothing was released.

    Raises `BusyError` where the upstream failed without a word and without a cost.
    """
    sink, end = result.sink, result.end
    if end.finish == "failed" and not sink.has_heard and result.is_free:
        exchange.keep_ruling(Ruling(Decision.UPSTREAM_FAILED, detail=end.explanation))
        raise BusyError("The model cannot be reached now. Please try again.", code="upstream_failed")
    terms = VerdictContext(result.call.is_client_cap, sink.has_released, stop_finish)
    verdict = judge_attempt(sink.stop, end, terms)
    exchange.keep_ruling(build_attempt_ruling(verdict, sink.stop, end))
    if verdict.decision is Decision.NOT_IN_SOURCES:
        return await exchange.reply_fixed_text(render_not_found(verdict.notice, served, grounding))
    cited = citations.build_citations(sink.released, result.call.sources)
    tail = render_notice(verdict, sink, served) + render_sources(cited, served)
    return await exchange.close_reply(tail, choose_annotations(cited, served), verdict.finish)


def render_notice(verdict: Verdict, sink: GatedSink, served: ServedRequest) -> str:
    """What is said behind the released text of how the answer ended; "" for a good end."""
    if not verdict.notice:
        return ""
    notice = served.assistant.texts.render_text(verdict.notice, served.language)
    return f"\n\n{notice}" if notice and sink.has_released else notice


def render_sources(cited: Sequence[Citation], served: ServedRequest) -> str:
    """The list below the answer, where the assistant shows one."""
    if served.assistant.answer_settings.sources not in ("both", "list"):
        return ""
    return citations.render_source_list(cited, served.assistant.texts.render_text("sources", served.language))


def choose_annotations(cited: Sequence[Citation], served: ServedRequest) -> tuple[Citation, ...]:
    """The citations that go out as annotations: they need an address."""
    if served.assistant.answer_settings.sources not in ("both", "annotations"):
        return ()
    return tuple(citation for citation in cited if citation.url)
