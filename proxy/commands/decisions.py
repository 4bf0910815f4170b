"""`fiador decisions [ID]`: what became of requests, and why."""

from rich.console import Console
from rich.table import Table

from proxy.app import paths
from proxy.commands.explain import explain, fields
from proxy.commands.shown import directed, moment, money, say_json
from proxy.observe.decisions import Decisions
from proxy.settings.tree import Settings
from proxy.types import Decision


async def recent(settings: Settings, count: int, *, decision: Decision | None, as_json: bool) -> None:
    """A line for each of the newest requests."""
    async with Decisions(paths(settings).decisions) as log:
        traces = await log.recent(count, decision=decision)
    if as_json:
        return say_json([fields(trace) for trace in traces])
    table = Table("when", "id", "decision", "why", "model", "question", "cost")
    for trace in traces:
        table.add_row(
            moment(trace.started),
            trace.id,
            str(trace.decision),
            trace.topic or trace.rule,
            trace.model,
            directed(trace.question[:60]),
            money(trace.cost_nanousd),
        )
    Console().print(table)
    return None


async def one(settings: Settings, id: str, *, as_json: bool) -> bool:
    """One request in full; False: the log has no such id."""
    async with Decisions(paths(settings).decisions) as log:
        trace = await log.read(id)
    if trace is None:
        return False
    say_json(fields(trace)) if as_json else explain(trace)
    return True
