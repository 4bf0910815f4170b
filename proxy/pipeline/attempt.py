"""Steps 6 to 9 of one answer: reserve, upstream through the gate, settle; again only before a first byte."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, replace

from proxy.domain.ports import CostBound, Denial, Hold, Model
from proxy.domain.types import Decision, UpstreamCall, UpstreamEnd
from proxy.ledger.prices import compute_bound
from proxy.pipeline.context import AnswerContext, ServedRequest
from proxy.pipeline.exchange import Exchange
from proxy.pipeline.sink import GatedSink, open_sink
from proxy.upstream.retry import compute_pause_s


@dataclass(frozen=True, slots=True)
class AttemptResult:
    """The last attempt: what it released and how it ended. `is_free`: no attempt has cost anything."""

    call: UpstreamCall
    sink: GatedSink
    end: UpstreamEnd
    is_free: bool


@dataclass(frozen=True, slots=True)
class FundedAttempt:
    """One attempt that may begin: money is set aside for it."""

    call: UpstreamCall
    model: Model
    sink: GatedSink
    hold: Hold


async def run_attempts(
    call: UpstreamCall, served: ServedRequest, context: AnswerContext, exchange: Exchange
) -> AttemptResult | Denial:
    """Runs the upstream until it has said something or must not be asked again.

    Each attempt has its own hold, settled whatever happens: also when the task is cancelled under it.
    """
    model = served.model
    bound = bound_call(call, model)
    rules = served.assistant.gate_rules_for(call.language).copy_with_cap(call.output_cap)
    for number in range(1, model.retries + 2):
        # Before the hold: whatever fails here has set nothing aside.
        sink = open_sink(call, rules, exchange.reply, exchange.mark_moment)
        hold = await reserve_bound(served, bound, context, exchange)  # step 6
        if isinstance(hold, Denial):
            return hold
        end = await run_attempt(FundedAttempt(call, model, sink, hold), context, exchange)
        wait_s = None if sink.has_heard or number > model.retries else compute_pause_s(end, number)
        if wait_s is None:
            break
        await asyncio.sleep(wait_s)
    return AttemptResult(call, sink, end, is_free=exchange.parts.spending.cost_nanousd == 0)


async def run_attempt(attempt: FundedAttempt, context: AnswerContext, exchange: Exchange) -> UpstreamEnd:
    """Steps 7 to 9. Settled when it is over: by its end, by a fault, or torn off because every client left.

    Torn off there is no end, and the sink says what had come until then.
    """
    spending = exchange.parts.spending
    exchange.keep_spending(replace(spending, upstream_calls=spending.upstream_calls + 1))
    end: UpstreamEnd | None = None
    try:
        with exchange.measure_step("upstream"):
            end = await attempt.model.upstream.run(attempt.call, attempt.sink)  # steps 7 and 8
        await attempt.sink.close(end)
        return end
    finally:
        await wait_for_settlement(settle_attempt(attempt, end, context, exchange))  # step 9


def bound_call(call: UpstreamCall, model: Model) -> CostBound:
    """What the call can cost at most: the bytes of its body, and both caps."""
    return compute_bound(
        len(model.upstream.encode_body(call)),
        template_tokens=model.template_tokens,
        tokens_per_byte_max=model.tokens_per_byte_max,
        output_cap=call.output_cap,
        reasoning_cap=call.reasoning_cap,
        prices=model.prices,
    )


async def reserve_bound(
    served: ServedRequest, bound: CostBound, context: AnswerContext, exchange: Exchange
) -> Hold | Denial:
    """Step 6: sets the bound aside. Whatever goes wrong on the way to the money refuses."""
    model = served.model
    try:
        hold = await context.ledger.reserve(served.caller, model.alias, bound, model.prices)
    except Exception as fault:
        return Denial(Decision.LEDGER_DOWN, f"{type(fault).__name__}: {fault}")
    if isinstance(hold, Hold):
        exchange.keep_spending(replace(exchange.parts.spending, hold_nanousd=hold.nanousd))
    return hold


async def settle_attempt(
    attempt: FundedAttempt, end: UpstreamEnd | None, context: AnswerContext, exchange: Exchange
) -> None:
    """Step 9: replaces the hold by the real cost, and notes what was released and what it cost."""
    sentences = sum(bool(release.text.strip()) for release in attempt.sink.released)
    spending = exchange.parts.spending
    exchange.keep_spending(replace(spending, released=spending.released + sentences))
    cost = await context.ledger.settle(attempt.hold, attempt.sink.count_spent(end))
    spending = exchange.parts.spending
    exchange.keep_spending(
        replace(
            spending,
            input_tokens=spending.input_tokens + cost.input_tokens,
            output_tokens=spending.output_tokens + cost.output_tokens,
            cost_nanousd=spending.cost_nanousd + cost.nanousd,
        )
    )


async def wait_for_settlement(settling: Coroutine[None, None, None]) -> None:
    """Waits for a settlement, also where the client leaves meanwhile: its cost belongs in the row."""
    task = asyncio.ensure_future(settling)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise
