"""`fiador decisions [ID]`: what became of requests, and why."""

from typing import Any

import click
from rich.console import Console

from proxy.app import build_data_paths
from proxy.commands.console import format_instant, format_usd, isolate_direction, print_json
from proxy.commands.explain import build_trace_data, print_trace
from proxy.commands.root import JSON_OPTION, load_context_settings, run_coroutine
from proxy.domain.types import Decision
from proxy.observe.decisions import SqliteDecisionLog
from proxy.settings.tree import Settings

QUESTION_CHARS_MAX = 70
"""Of a question in the list; `fiador decisions ID` shows it whole."""


async def print_recent_decisions(
    settings: Settings, count: int, *, decision: Decision | None, as_json: bool
) -> None:
    """The newest requests, each with its question below it."""
    async with SqliteDecisionLog(build_data_paths(settings).decisions) as log:
        traces = await log.list_recent_traces(count, decision=decision)
    if as_json:
        return print_json([build_trace_data(trace) for trace in traces])
    out = Console(highlight=False, markup=False, soft_wrap=True)
    for trace in traces:
        reason = f" ({trace.topic or trace.rule})" if trace.topic or trace.rule else ""
        cost = format_usd(trace.cost_nanousd)
        out.print(
            f"{format_instant(trace.started)}  {trace.id}  {trace.decision}{reason}  {trace.model}  {cost}"
        )
        if trace.question:
            out.print(f"    {isolate_direction(' '.join(trace.question.split())[:QUESTION_CHARS_MAX])}")
    if not traces:
        out.print("no decisions yet" if decision is None else f"no decision was {decision}")
    return None


async def print_decision(settings: Settings, id: str, *, as_json: bool) -> bool:
    """One request in full; False: the log has no such id."""
    async with SqliteDecisionLog(build_data_paths(settings).decisions) as log:
        trace = await log.read_trace(id)
    if trace is None:
        return False
    print_json(build_trace_data(trace)) if as_json else print_trace(trace)
    return True


@click.command("decisions")
@click.argument("id", required=False)
@click.option(
    "-n", "--last", type=click.IntRange(1), default=20, show_default=True, help="How many, newest first."
)
@click.option("--decision", type=click.Choice([str(d) for d in Decision]), help="Only these.")
@JSON_OPTION
@click.pass_context
def decisions_command(context: click.Context, /, id: str | None, **options: Any) -> None:
    """What became of requests, and why; ID opens one of them."""
    settings, as_json = load_context_settings(context), options["as_json"]
    if id is None:
        decision = Decision(options["decision"]) if options["decision"] else None
        return run_coroutine(
            print_recent_decisions(settings, options["last"], decision=decision, as_json=as_json)
        )
    if not run_coroutine(print_decision(settings, id, as_json=as_json)):
        raise click.UsageError(f"no decision {id} in the log")
    return None
