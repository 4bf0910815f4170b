"""A trace in words: layers, sources and scores, the verdict, the money."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict

from rich.console import Console
from rich.markup import escape

from proxy.commands.console import format_usd, isolate_direction, print_table
from proxy.domain.trace import Trace

LAYER_TEXTS = {
    "1": "layer 1: refused by pattern, nothing searched or called",
    "2": "layer 2: no evidence above the threshold, model not called",
    "3": "layer 3: the model said that the sources do not cover it",
    "4": "layer 4: the gate stopped a sentence",
    "5": "layer 5: how the assistant may speak",
    "spend": "no money could be set aside, model not called",
}


def print_trace(trace: Trace, console: Console | None = None) -> None:
    """Prints one trace for a person."""
    out = console or Console()
    for name, value in _describe_trace(trace):
        out.print(f"[bold]{name:>12}[/]  {escape(value)}", highlight=False, soft_wrap=True)
    if trace.sources:
        columns = ("n", "source", "similarity", "coverage", "cosine")
        print_table(columns, map(_format_source_row, trace.sources), out, title="sources handed over")


def build_trace_data(trace: Trace) -> dict[str, object]:
    """One trace for a program; of the caller only what says who it was."""
    trace_data = asdict(trace)
    caller = trace_data.pop("caller")
    trace_data["caller"] = {
        "key_id": caller["key_id"],
        "name": caller["name"],
        "groups": sorted(trace.caller.groups),
    }
    return trace_data


def _describe_trace(trace: Trace) -> Iterator[tuple[str, str]]:
    yield (
        "decision",
        str(trace.decision) + (f" ({LAYER_TEXTS[trace.layer]})" if trace.layer in LAYER_TEXTS else ""),
    )
    if trace.id:
        yield "id", trace.id
    yield "caller", f"{trace.caller.name} in {', '.join(sorted(trace.caller.groups)) or 'no group'}"
    if trace.question:
        yield "question", isolate_direction(trace.question)
    yield "language", trace.language or "unknown"
    for name in ("topic", "rule", "detail", "degraded"):
        if value := getattr(trace, name):
            yield name, str(value)
    if trace.offending:
        looked = ", ".join(map(str, trace.looked))
        yield (
            "offending",
            isolate_direction(trace.offending) + (f"  (looked for in source {looked})" if looked else ""),
        )
    if trace.best is not None:
        sign = "≥" if trace.best >= (trace.threshold or 0) else "<"
        yield "similarity", f"{trace.best:.3f} {sign} threshold {trace.threshold:.3f}, by {trace.mode}"
    yield "model calls", f"{trace.upstream_calls}; question embedded: {'yes' if trace.embedded else 'no'}"
    if trace.upstream_calls:
        yield "released", f"{trace.released} sentences"
        yield (
            "money",
            f"held {format_usd(trace.hold_nanousd)}, charged {format_usd(trace.cost_nanousd)} "
            f"({trace.input_tokens} tokens in, {trace.output_tokens} out)",
        )
    yield "time", ", ".join(f"{part} {elapsed_ms:.1f} ms" for part, elapsed_ms in trace.timings_ms.items())


def _format_source_row(source: Mapping[str, object]) -> tuple[str, ...]:
    scores = (source.get(name) for name in ("similarity", "coverage", "cosine"))
    cells = ("" if score is None else f"{score:.3f}" for score in scores)
    id = source.get("document") or source["id"]
    return str(source["number"]), isolate_direction(f"{source['title']}  {id}"), *cells
