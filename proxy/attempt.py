"""Steps 6 to 9 of one answer: reserve, upstream through the gate, settle; again only before a first byte."""

import asyncio
from dataclasses import dataclass

from proxy.desk import Desk, Persona
from proxy.guards.gate import Gate
from proxy.guards.stops import Stops
from proxy.ledger.prices import bound
from proxy.release import Releasing
from proxy.services import Bound, Denial, Hold, Model
from proxy.types import Call, ChatRequest, Decision, Ending, Trace
from proxy.upstream.retry import pause_s
from proxy.visit import Visit


@dataclass(frozen=True, slots=True)
class Attempted:
    """The last attempt: what it released and how it ended. `free`: no attempt has cost anything."""

    sink: Releasing
    ending: Ending
    free: bool


async def attempt(
    call: Call, request: ChatRequest, served: tuple[Persona, Model], desk: Desk, visit: Visit
) -> Attempted | Denial:
    """Runs the upstream until it has said something or must not be asked again.

    Each attempt has its own hold, settled whatever happens: also when the task is cancelled under it.
    """
    persona, model = served
    limit = _bound(call, model)
    rules = persona.rules(call.language).capped(call.output_cap)
    for number in range(1, model.retries + 2):
        hold = await _reserve(model, limit, desk, visit.trace)
        if isinstance(hold, Denial):
            return hold
        sink = Releasing(Gate(call.sources, call.language, rules), Stops(request.stop), visit.reply)
        ending = await _run(call, model, (hold, sink), desk, visit)
        wait_s = None if sink.heard or number > model.retries else pause_s(ending, number)
        if wait_s is None:
            break
        await asyncio.sleep(wait_s)
    return Attempted(sink, ending, free=visit.trace.cost_nanousd == 0)


def _bound(call: Call, model: Model) -> Bound:
    return bound(
        len(model.upstream.body(call)),
        template_tokens=model.template_tokens,
        byte_tokens=model.byte_tokens,
        output_cap=call.output_cap,
        reasoning_cap=call.reasoning_cap,
        prices=model.prices,
    )


async def _reserve(model: Model, limit: Bound, desk: Desk, trace: Trace) -> Hold | Denial:
    """Sets the bound aside. Whatever goes wrong on the way to the money refuses."""
    try:
        hold = await desk.ledger.reserve(trace.caller, model.alias, limit, model.prices)
    except Exception as fault:
        return Denial(Decision.LEDGER_DOWN, f"{type(fault).__name__}: {fault}")
    if isinstance(hold, Hold):
        trace.hold_nanousd = hold.nanousd
    return hold


async def _run(call: Call, model: Model, on: tuple[Hold, Releasing], desk: Desk, visit: Visit) -> Ending:
    hold, sink = on
    ending: Ending | None = None
    visit.trace.upstream_calls += 1
    try:
        with visit.timed("upstream"):
            ending = await model.upstream.run(call, sink)
        await sink.close(ending)
        visit.trace.released += sum(bool(said.text.strip()) for said in sink.released)
        return ending
    finally:
        settled = await asyncio.shield(desk.ledger.settle(hold, sink.spent(ending)))
        visit.trace.input_tokens += settled.input_tokens
        visit.trace.output_tokens += settled.output_tokens
        visit.trace.cost_nanousd += settled.nanousd
