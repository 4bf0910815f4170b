"""Steps 6 to 9 of one answer: reserve, upstream through the gate, settle; again only before a first byte."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass

from proxy.domain.ports import CostBound, Denial, Hold, Ledger, Model, Spent
from proxy.domain.types import Decision, Trace, UpstreamCall, UpstreamEnd
from proxy.ledger.prices import bound
from proxy.pipeline.context import AnswerContext, Assistant
from proxy.pipeline.exchange import Exchange
from proxy.pipeline.sink import GatedSink, open_sink
from proxy.upstream.retry import pause_s


@dataclass(frozen=True, slots=True)
class AttemptResult:
    """The last attempt: what it released and how it ended. `free`: no attempt has cost anything."""

    call: UpstreamCall
    sink: GatedSink
    ending: UpstreamEnd
    free: bool


async def run_attempts(
    call: UpstreamCall, served: tuple[Assistant, Model], desk: AnswerContext, visit: Exchange
) -> AttemptResult | Denial:
    """Runs the upstream until it has said something or must not be asked again.

    Each attempt has its own hold, settled whatever happens: also when the task is cancelled under it.
    """
    persona, model = served
    limit = _bound(call, model)
    rules = persona.gate_rules(call.language).capped(call.output_cap)
    for number in range(1, model.retries + 2):
        # Before the hold: whatever fails here has set nothing aside.
        ear = open_sink(call, rules, visit.reply, visit.mark)
        hold = await _reserve(model, limit, desk, visit.trace)
        if isinstance(hold, Denial):
            return hold
        ending = await _run(call, model, ear, _Bill(hold, desk.ledger, visit))
        wait_s = None if ear.has_heard or number > model.retries else pause_s(ending, number)
        if wait_s is None:
            break
        await asyncio.sleep(wait_s)
    return AttemptResult(call, ear, ending, free=visit.trace.cost_nanousd == 0)


def _bound(call: UpstreamCall, model: Model) -> CostBound:
    return bound(
        len(model.upstream.encode_body(call)),
        template_tokens=model.template_tokens,
        byte_tokens=model.tokens_per_byte_max,
        output_cap=call.output_cap,
        reasoning_cap=call.reasoning_cap,
        prices=model.prices,
    )


async def _reserve(model: Model, limit: CostBound, desk: AnswerContext, trace: Trace) -> Hold | Denial:
    """Sets the bound aside. Whatever goes wrong on the way to the money refuses."""
    try:
        hold = await desk.ledger.reserve(trace.caller, model.alias, limit, model.prices)
    except Exception as fault:
        return Denial(Decision.LEDGER_DOWN, f"{type(fault).__name__}: {fault}")
    if isinstance(hold, Hold):
        trace.hold_nanousd = hold.nanousd
    return hold


@dataclass(frozen=True, slots=True)
class _Bill:
    """A hold to be settled, and where the cost is written down."""

    hold: Hold
    ledger: Ledger
    visit: Exchange

    async def settle(self, spent: Spent) -> None:
        settled = await self.ledger.settle(self.hold, spent)
        trace = self.visit.trace
        trace.input_tokens += settled.input_tokens
        trace.output_tokens += settled.output_tokens
        trace.cost_nanousd += settled.nanousd


async def _run(call: UpstreamCall, model: Model, ear: GatedSink, bill: _Bill) -> UpstreamEnd:
    """One attempt, settled when it is over: by its end, by a fault, or torn off because the client left."""
    trace = bill.visit.trace
    trace.upstream_calls += 1
    ending: UpstreamEnd | None = None
    try:
        with bill.visit.timed("upstream"):
            ending = await model.upstream.run(call, ear)
        await ear.close(ending)
        return ending
    finally:
        trace.released += sum(bool(said.text.strip()) for said in ear.released)
        await _whole(bill.settle(ear.count_spent(ending)))


async def _whole(settling: Coroutine[None, None, None]) -> None:
    """Waits for a settlement, also where the client leaves meanwhile: its cost belongs in the row."""
    task = asyncio.ensure_future(settling)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise
