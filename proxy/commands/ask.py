"""`fiador ask`: one question through the real pipeline, on this terminal."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import click

from proxy.app import open_deployment
from proxy.commands.console import print_json
from proxy.commands.explain import build_trace_data, print_trace
from proxy.commands.root import JSON_OPTION, load_context_settings, run_coroutine, split_names
from proxy.domain.errors import BusyError, ConfigError
from proxy.domain.ports import Model, UpstreamSink
from proxy.domain.types import UpstreamCall, UpstreamEnd
from proxy.pipeline.context import AnswerContext
from proxy.pipeline.in_process import CapturedAnswer, InProcessQuestion, ask_in_process
from proxy.settings.tree import Settings


@dataclass(frozen=True, slots=True)
class AskOptions:
    """As whom and of which model to ask; `output_format` is "", "explain" or "json"."""

    alias: str
    groups: frozenset[str]
    is_dry_run: bool
    output_format: str


async def ask_once(settings: Settings, text: str, options: AskOptions) -> None:
    """Asks and prints the answer as it is released. A model that fails is explained all the same.

    Raises `ConfigError` for an unknown model or an empty question, `FiadorError` where no answer came.
    """
    question, answer = _build_question(settings, text, options), CapturedAnswer()
    on_text = _ignore_piece if options.is_dry_run or options.output_format == "json" else _print_piece
    try:
        async with open_deployment(settings) as deployment:
            await (_ask_without_upstream if options.is_dry_run else _ask_and_record)(
                question, deployment.context, on_text, answer
            )
    except BusyError as fault:
        if answer.trace:
            fault.detail = answer.trace.detail
            _print_answer_details(answer, options)
        raise
    _print_answer_details(answer, options)


def _print_answer_details(answer: CapturedAnswer, options: AskOptions) -> None:
    """What stands behind the answer, or under --json all of it."""
    if options.output_format == "json":
        return print_json(
            {"answer": answer.text, "trace": build_trace_data(answer.trace) if answer.trace else None}
        )
    if answer.text and not options.is_dry_run:
        click.echo()
    if options.is_dry_run and answer.trace and not answer.trace.upstream_calls:
        click.echo(f"(dry run: ends before any model, {answer.trace.decision})", err=True)
    if options.output_format == "explain" and answer.trace:
        click.echo()
        print_trace(answer.trace)
    return None


def _build_question(settings: Settings, text: str, options: AskOptions) -> InProcessQuestion:
    model = options.alias or next(iter(settings.models))
    if model not in settings.models:
        raise ConfigError(f"--model: want one of {', '.join(settings.models)}, got `{model}`")
    if not text.strip():
        raise ConfigError("QUESTION: want a question, got an empty text")
    return InProcessQuestion(text, model, options.groups | settings.auth.public_groups)


async def _ask_and_record(
    question: InProcessQuestion,
    context: AnswerContext,
    on_text: Callable[[str], None],
    answer: CapturedAnswer,
) -> None:
    """Asked in earnest: whatever comes of it, `fiador decisions ID` opens it."""
    try:
        await ask_in_process(question, context, on_text, answer)
    finally:
        if answer.trace:
            await context.decisions.write(answer.trace)


async def _ask_without_upstream(
    question: InProcessQuestion,
    context: AnswerContext,
    on_text: Callable[[str], None],
    answer: CapturedAnswer,
) -> None:
    """Asked up to the upstream, which fails for not being called; leaves no row, so it has no id."""
    with suppress(BusyError):
        await ask_in_process(question, _build_dry_context(context), on_text, answer)
    if answer.trace:
        answer.trace = replace(answer.trace, id="")


def _print_piece(piece: str) -> None:
    click.echo(piece, nl=False)


def _ignore_piece(piece: str) -> None:
    pass


class _DryRunUpstream:
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


def _build_dry_context(context: AnswerContext) -> AnswerContext:
    """The context with a dry run behind every model, and without retries: it fails each time."""
    models = {
        alias: replace(model, upstream=_DryRunUpstream(model), retries=0)
        for alias, model in context.models.items()
    }
    return replace(context, models=MappingProxyType(models))


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
    output_format = "json" if options["as_json"] else "explain" if options["explain"] else ""
    ask_options = AskOptions(
        options["model"],
        split_names(options["groups"]),
        is_dry_run=options["dry_run"],
        output_format=output_format,
    )
    run_coroutine(ask_once(load_context_settings(context), question, ask_options))
