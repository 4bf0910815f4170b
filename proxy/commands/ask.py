"""`fiador ask`: one question through the real pipeline, on this terminal."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import click

from proxy.app import open_deployment
from proxy.commands.console import say_json
from proxy.commands.explain import explain, fields
from proxy.commands.root import JSON_OPTION, load_context_settings, run_coroutine, split_names
from proxy.domain.errors import BusyError, ConfigError
from proxy.domain.ports import Model, UpstreamSink
from proxy.domain.types import UpstreamCall, UpstreamEnd
from proxy.pipeline.context import AnswerContext
from proxy.pipeline.in_process import CapturedAnswer, InProcessQuestion, ask_in_process
from proxy.settings.tree import Settings


@dataclass(frozen=True, slots=True)
class How:
    """As whom and of which model to ask; `told` is "", "explain" or "json"."""

    alias: str
    groups: frozenset[str]
    dry: bool
    told: str


async def once(settings: Settings, text: str, how: How) -> None:
    """Asks and prints the answer as it is released. A model that fails is explained all the same."""
    question, seen = _question(settings, text, how), CapturedAnswer()
    hear = _hush if how.dry or how.told == "json" else _say
    try:
        async with open_deployment(settings) as services:
            await (_rehearsed if how.dry else _asked)(question, services.desk, hear, seen)
    except BusyError as fault:
        if seen.trace:
            fault.detail = seen.trace.detail
            _told(seen, how)
        raise
    _told(seen, how)


def _told(seen: CapturedAnswer, how: How) -> None:
    """What stands behind the answer, or under --json all of it."""
    if how.told == "json":
        return say_json({"answer": seen.text, "trace": fields(seen.trace) if seen.trace else None})
    if seen.text and not how.dry:
        click.echo()
    if how.dry and seen.trace and not seen.trace.upstream_calls:
        click.echo(f"(dry run: ends before any model, {seen.trace.decision})", err=True)
    if how.told == "explain" and seen.trace:
        click.echo()
        explain(seen.trace)
    return None


def _question(settings: Settings, text: str, how: How) -> InProcessQuestion:
    model = how.alias or next(iter(settings.models))
    if model not in settings.models:
        raise ConfigError(f"--model: want one of {', '.join(settings.models)}, got `{model}`")
    if not text.strip():
        raise ConfigError("QUESTION: want a question, got an empty text")
    return InProcessQuestion(text, model, how.groups | settings.auth.public_groups)


async def _asked(
    question: InProcessQuestion, desk: AnswerContext, hear: Callable[[str], None], seen: CapturedAnswer
) -> None:
    """Asked in earnest: whatever comes of it, `fiador decisions ID` opens it."""
    try:
        await ask_in_process(question, desk, hear, seen)
    finally:
        if seen.trace:
            await desk.decisions.write(seen.trace)


async def _rehearsed(
    question: InProcessQuestion, desk: AnswerContext, hear: Callable[[str], None], seen: CapturedAnswer
) -> None:
    """Asked up to the upstream, which fails for not being called; leaves no row, so it has no id."""
    with suppress(BusyError):
        await ask_in_process(question, _dry(desk), hear, seen)
    if seen.trace:
        seen.trace = replace(seen.trace, id="")


def _say(piece: str) -> None:
    click.echo(piece, nl=False)


def _hush(piece: str) -> None:
    pass


class _NotCalled:
    """The upstream of a dry run: everything happens up to it, and nothing behind it."""

    name = "dry run"

    def __init__(self, model: Model):
        self._model = model

    def encode_body(self, call: UpstreamCall) -> bytes:
        return self._model.upstream.encode_body(call)

    async def run(self, call: UpstreamCall, sink: UpstreamSink) -> UpstreamEnd:
        size = len(self.encode_body(call))
        upstream = self._model.upstream.name
        click.echo(f"(dry run: {size} bytes, {len(call.sources)} sources would go to `{upstream}`)", err=True)
        return UpstreamEnd("failed", "dry run", was_sent=False, was_silent=True)


def _dry(desk: AnswerContext) -> AnswerContext:
    models = {
        alias: replace(model, upstream=_NotCalled(model), retries=0) for alias, model in desk.models.items()
    }
    return replace(desk, models=MappingProxyType(models))


@click.command("ask")
@click.argument("question")
@click.option("--as", "groups", default="", help="Ask as a caller with these groups (a,b).")
@click.option("--model", default="", help="An alias of [models]; the first one if not said.")
@click.option("--dry-run", is_flag=True, help="Stop before the upstream.")
@click.option("--explain", is_flag=True, help="Show layers, scores, sources and verdicts.")
@JSON_OPTION
@click.pass_context
def ask_command(context: click.Context, /, question: str, **options: Any) -> None:
    """Ask one question through the real pipeline, without HTTP.

    What it costs is booked, and the decision log keeps a row of it; a dry run leaves nothing.
    """
    told = "json" if options["as_json"] else "explain" if options["explain"] else ""
    how = How(options["model"], split_names(options["groups"]), dry=options["dry_run"], told=told)
    run_coroutine(once(load_context_settings(context), question, how))
