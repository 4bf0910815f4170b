"""`fiador sync`: the index brought up to date with folders and record books."""

import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, contextmanager, suppress
from dataclasses import asdict

import click
from rich.console import Console
from rich.markup import escape

from indexes.keywords.index_folder import KeywordIndexError
from indexes.progress import show_progress
from indexes.sync import SyncProgress, SyncReport, SyncStep, sync_sources
from indexes.types import EmbedError
from indexes.watch import watch_changes
from proxy.app.assistants import LanguagePacks, load_language_packs
from proxy.app.evidence import EvidenceStores, list_folders, list_record_books, load_embedder, open_evidence
from proxy.commands.console import print_json
from proxy.commands.root import JSON_OPTION, load_context_settings, run_coroutine
from proxy.domain.errors import StoreError
from proxy.settings.tree import Settings

ReportPrinter = Callable[[SyncReport, str], None]
"""Says what a pass has done, and why there are no vectors ("": there are, or none are wanted)."""


async def sync_once(settings: Settings, print_report: ReportPrinter) -> int:
    """One pass over everything; 1 if anything could not be taken in."""
    async with AsyncExitStack() as stack:
        language_packs = load_language_packs()
        stores = await open_evidence(settings, language_packs.words, load_embedder(settings.embedding), stack)
        return await _run_pass(settings, stores, language_packs, print_report)


async def sync_on_changes(settings: Settings, print_report: ReportPrinter) -> None:
    """One pass at once, then one with every change of a folder or a record book, until it is interrupted."""
    roots = [folder.root for folder in list_folders(settings)] + [
        book.path for book in list_record_books(settings)
    ]
    async with AsyncExitStack() as stack:
        language_packs = load_language_packs()
        stores = await open_evidence(settings, language_packs.words, load_embedder(settings.embedding), stack)
        async for _ in watch_changes(roots):
            await _run_pass(settings, stores, language_packs, print_report)


async def sync_index(
    settings: Settings,
    stores: EvidenceStores,
    language_packs: LanguagePacks,
    progress: SyncProgress | None = None,
) -> SyncReport:
    """One pass over folders and books. Raises `StoreError` where the disk or the model fails."""
    try:
        return await sync_sources(
            stores.store,
            list_folders(settings),
            books=list_record_books(settings),
            embedder=stores.embedder,
            keyword_index=stores.keyword_index,
            packs=language_packs.words,
            progress=progress,
        )
    except (sqlite3.Error, EmbedError, KeywordIndexError) as fault:
        raise StoreError("The index could not be brought up to date.", detail=str(fault)) from fault


async def _run_pass(
    settings: Settings, stores: EvidenceStores, language_packs: LanguagePacks, print_report: ReportPrinter
) -> int:
    with _show_sync_progress() as bar:
        report = await sync_index(settings, stores, language_packs, bar)
    print_report(report, stores.degraded)
    return 1 if report.faults else 0


def print_report_json(report: SyncReport, degraded: str) -> None:
    """For programs: the counts, `faults` with `path` and `text`, and `degraded`."""
    print_json(asdict(report) | {"degraded": degraded})


def build_text_printer(out: Console | None = None) -> ReportPrinter:
    """For people, on `out` or the terminal."""
    screen = out or Console(highlight=False, soft_wrap=True)
    return lambda report, degraded: _print_sync_report(report, degraded, screen)


@contextmanager
def _show_sync_progress() -> Iterator[SyncProgress]:
    with show_progress() as bar:
        yield lambda step: bar(_label_step(step), _compute_share(step))


def _label_step(step: SyncStep) -> str:
    return step.name if step.name == "embedding" else f"reading {step.name}"


def _compute_share(step: SyncStep) -> float:
    return min(1.0, step.done / step.total) if step.total else 0.0


def _print_sync_report(report: SyncReport, degraded: str, out: Console) -> None:
    counts = (
        ("added", report.added),
        ("changed", report.changed),
        ("access changed", report.access),
        ("hidden", report.hidden),
        ("removed", report.removed),
        ("unchanged", report.unchanged),
        ("records", report.records),
        ("passages embedded", report.embedded),
    )
    out.print("Index: " + (", ".join(f"{count} {name}" for name, count in counts if count) or "nothing new"))
    if degraded:
        out.print(f"[yellow]Keywords alone: {escape(degraded)}[/]")
    for fault in report.faults:
        out.print(f"[yellow]{escape(str(fault))}[/]")


@click.command("sync")
@click.option("--watch", "watching", is_flag=True, help="Go on with every change, until Ctrl-C.")
@JSON_OPTION
@click.pass_context
def sync_command(context: click.Context, watching: bool, as_json: bool) -> None:
    """Bring the index up to date with the sources and record books."""
    settings, print_report = (
        load_context_settings(context),
        print_report_json if as_json else build_text_printer(),
    )
    if not watching:
        sys.exit(run_coroutine(sync_once(settings, print_report)))
    with suppress(KeyboardInterrupt):  # which is how it ends
        run_coroutine(sync_on_changes(settings, print_report))
