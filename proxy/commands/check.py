"""`fiador check`: everything that serve does, up to opening the port."""

import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape

from indexes.embedding.model import ModelError, verify_model
from indexes.embedding.vectors import count_unembedded
from indexes.text.language import detect_language
from indexes.types import Query, Viewer
from proxy.app import Deployment, open_deployment
from proxy.app.evidence import list_folders
from proxy.commands.console import format_usd, print_json
from proxy.commands.root import JSON_OPTION, load_context_settings, run_coroutine
from proxy.domain.errors import BusyError, ConfigError
from proxy.guards.refusal.pack import RECORD_KINDS
from proxy.guards.threshold import has_enough_evidence
from proxy.pipeline.context import Assistant
from proxy.settings.tree import Settings
from proxy.upstream.http_upstream import HttpUpstream


@dataclass(frozen=True, slots=True)
class CheckReport:
    """Lines of what there is, what deserves a look, and which upstreams do not serve their model."""

    state: tuple[str, ...]
    warnings: tuple[str, ...]
    faults: tuple[str, ...]


async def check_configuration(settings: Settings, *, online: bool, as_json: bool) -> int:
    """0: it would serve. 1: an upstream does not know its model. Raises `ConfigError` where it would not."""
    if faults := [*_find_file_faults(settings)]:
        raise ConfigError(*faults)
    async with open_deployment(settings) as deployment:
        report = CheckReport(
            tuple([line async for line in _describe_deployment(deployment)]),
            tuple([line async for line in _find_warnings(deployment)]),
            tuple([line async for line in _find_unserved_models(deployment)] if online else []),
        )
    print_json(report) if as_json else _print_check_report(report)
    return 1 if report.faults else 0


def _print_check_report(report: CheckReport) -> None:
    out = Console(highlight=False, soft_wrap=True)
    for line in report.state:
        out.print(escape(line))
    for line in report.warnings:
        out.print(f"[yellow]warning:[/] {escape(line)}")
    for line in report.faults:
        out.print(f"[red]{escape(line)}[/]")
    bad = "[red]Not every upstream serves its model.[/]"
    out.print(bad if report.faults else "[green]The configuration is good.[/]")


def _find_file_faults(settings: Settings) -> Iterator[str]:
    """Models, folders and files that the configuration names and that cannot be used."""
    if isinstance(settings.embedding.model, Path):
        try:
            verify_model(settings.embedding.model)
        except ModelError as fault:
            yield f"embedding.model: {fault}"
    for folder in list_folders(settings):
        if not folder.root.is_dir():
            yield f"sources.{folder.name}.path: want a folder, got {folder.root}, which is none"
    for name, book in settings.records.items():
        if book.path and not book.path.is_file():
            yield f"records.{name}.path: want a file, got {book.path}, which is none"
    jwt = settings.auth.jwt if settings.auth.mode == "jwt" else None
    if jwt and "://" not in jwt.jwks and not Path(jwt.jwks).is_file():
        yield f"auth.jwt.jwks: want a file or an https address, got {jwt.jwks}, which is none"


async def _describe_deployment(deployment: Deployment) -> AsyncIterator[str]:
    counts = await deployment.evidence.store.count_contents()
    yield (
        f"index: {counts.documents} documents ({counts.hidden} hidden), {counts.passages} passages, "
        f"{counts.vectors} vectors, {counts.records} records"
    )
    embedder = deployment.evidence.embedder
    yield f"embedding: {embedder.name if embedder else 'none, keywords alone serve'}"
    for name, assistant in deployment.context.assistants.items():
        threshold = assistant.threshold_for(assistant.language)
        origin = _describe_threshold_origin(deployment, assistant)
        yield f"assistant {name}: threshold {threshold:g} ({origin})"
    for alias, model in deployment.context.models.items():
        prices = (model.prices.input_nanousd, model.prices.output_nanousd)
        input_price, output_price = (format_usd(price * 10**6) for price in prices)
        yield (
            f"model {alias}: {model.upstream.name}, a million tokens cost {input_price} in "
            f"and {output_price} out"
        )


def _describe_threshold_origin(deployment: Deployment, assistant: Assistant) -> str:
    """Where an assistant's threshold for its own language comes from."""
    settings = deployment.settings.assistants[assistant.name]
    if settings.threshold is not None or assistant.language in settings.thresholds:
        return "set in the configuration"
    calibrated = (
        deployment.threshold_lock.find_threshold(assistant.name, assistant.language)
        if deployment.threshold_lock
        else None
    )
    return "default, not calibrated" if calibrated is None else "calibrated"


async def _find_warnings(deployment: Deployment) -> AsyncIterator[str]:
    counts = await deployment.evidence.store.count_contents()
    if not counts.documents and not counts.records:
        yield "the index is empty, every question will be refused: run `fiador sync`"
    if deployment.evidence.degraded:
        yield f"keywords alone serve: {deployment.evidence.degraded}"
    if unread := await _count_without_vectors(deployment):
        yield f"passages that only keywords find, for want of a vector: {unread}; `fiador sync` makes them"
    for line in deployment.warnings:
        yield line
    for book, kind in await deployment.evidence.records.list_kinds():
        if kind not in RECORD_KINDS:
            asked_kinds = ", ".join(RECORD_KINDS)
            yield f"records.{book}: no question asks for the kind `{kind}`; they ask for {asked_kinds}"
    if counts.documents or counts.records:
        async for line in _find_refused_suggestions(deployment):
            yield line
    for model, why in (await deployment.ledger.list_closed_models()).items():
        yield f"models.{model} is closed: {why}; `fiador spend acknowledge {model}` opens it"
    if deployment.ledger.fault:
        yield f"the ledger is down: {deployment.ledger.fault}"


async def _count_without_vectors(deployment: Deployment) -> int:
    """How many passages the embedder that serves has not read: it came after them, or in place of another."""
    store, embedder = deployment.evidence.store, deployment.evidence.embedder
    return await store.run_read(partial(count_unembedded, model=embedder.name)) if embedder else 0


async def _find_refused_suggestions(deployment: Deployment) -> AsyncIterator[str]:
    """Questions that are offered to people, and that an anonymous caller would see refused."""
    for name, assistant in deployment.context.assistants.items():
        for text in deployment.settings.assistants[name].suggestions:
            if why := await _explain_refusal(text, assistant, deployment):
                yield f"assistants.{name}.suggestions: {text!r} would be refused ({why})"


async def _explain_refusal(text: str, assistant: Assistant, deployment: Deployment) -> str:
    """Why layer 1 or 2 would refuse a question of the public; "" if neither does."""
    if refusal := assistant.refuser.find_refusal(text):
        return f"topic {refusal.topic}"
    if assistant.records and assistant.router.find_overview_kinds(text):
        return ""
    context = deployment.context
    viewer = Viewer(deployment.settings.auth.public_groups, context.now(), assistant.sources)
    evidence = await context.evidence_finder.find_evidence(
        Query((text,), subject_names=assistant.name_words), viewer
    )
    threshold = assistant.threshold_for(detect_language(text, context.word_packs) or assistant.language)
    return (
        ""
        if has_enough_evidence(evidence, threshold)
        else f"similarity {evidence.best_similarity:.2f} below {threshold:g}"
    )


async def _find_unserved_models(deployment: Deployment) -> AsyncIterator[str]:
    """Models that their upstream does not list, and upstreams that cannot be asked."""
    for alias, model in deployment.context.models.items():
        if not isinstance(model.upstream, HttpUpstream):
            continue
        try:
            served_models = await model.upstream.list_models()
        except BusyError as fault:
            yield f"models.{alias}: {fault.text}"
            continue
        if model.upstream_model not in served_models:
            yield f"models.{alias}.model: the upstream has no `{model.upstream_model}`"


@click.command("check")
@click.option("--online", is_flag=True, help="Also ask each upstream for its list of models.")
@JSON_OPTION
@click.pass_context
def check_command(context: click.Context, online: bool, as_json: bool) -> None:
    """Do all that serve does, up to opening the port."""
    sys.exit(
        run_coroutine(check_configuration(load_context_settings(context), online=online, as_json=as_json))
    )
