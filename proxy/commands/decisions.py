"""`fiador decisions [ID]`: what became of requests, and why."""

from rich.console import Console

from proxy.app import paths
from proxy.commands.explain import explain, fields
from proxy.commands.shown import directed, moment, money, say_json
from proxy.observe.decisions import Decisions
from proxy.settings.tree import Settings
from proxy.types import Decision

QUESTION_CHARS = 70


async def recent(settings: Settings, count: int, *, decision: Decision | None, as_json: bool) -> None:
    """The newest requests, each with its question below it."""
    async with Decisions(paths(settings).decisions) as log:
        traces = await log.recent(count, decision=decision)
    if as_json:
        return say_json([fields(trace) for trace in traces])
    out = Console(highlight=False, markup=False, soft_wrap=True)
    for trace in traces:
        why = f" ({trace.topic or trace.rule})" if trace.topic or trace.rule else ""
        cost = money(trace.cost_nanousd)
        out.print(f"{moment(trace.started)}  {trace.id}  {trace.decision}{why}  {trace.model}  {cost}")
        if trace.question:
            out.print(f"    {directed(' '.join(trace.question.split())[:QUESTION_CHARS])}")
    if not traces:
        out.print("no decisions yet" if decision is None else f"no decision was {decision}")
    return None


async def one(settings: Settings, id: str, *, as_json: bool) -> bool:
    """One request in full; False: the log has no such id."""
    async with Decisions(paths(settings).decisions) as log:
        trace = await log.read(id)
    if trace is None:
        return False
    say_json(fields(trace)) if as_json else explain(trace)
    return True
