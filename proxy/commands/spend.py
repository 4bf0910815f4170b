"""`fiador spend`: what was spent, the proof that the books add up, and changes by hand."""

import getpass
import sys
from collections.abc import Callable
from datetime import date, datetime
from typing import Any

import click
from rich.console import Console

from proxy.app import make_ledger
from proxy.commands.console import format_instant, format_usd, print_json, print_table
from proxy.commands.root import (
    JSON_OPTION,
    USD_MAX,
    BoundedNumber,
    load_context_settings,
    require_text,
    run_coroutine,
)
from proxy.ledger.audit import InvoiceLine, SpendGrouping, SpendTotal
from proxy.ledger.transactions import Adjustment
from proxy.settings.tree import Settings

REASON_OPTION = click.option("--reason", required=True, callback=require_text, help="Kept in the books.")


def build_date_callback(date_format: str) -> Callable[[click.Context, click.Parameter, str], str]:
    """Takes an empty text, or a day or month in this form, which is how the books write it."""

    def parse_date(_: click.Context, __: click.Parameter, text: str) -> str:
        try:
            return datetime.strptime(text, date_format).strftime(date_format) if text else ""
        except ValueError as fault:
            raise click.BadParameter(
                f"want {date(2026, 11, 1):{date_format}}, as an example, got {text}"
            ) from fault

    return parse_date


@click.group("spend", invoke_without_command=True)
@click.option("--by", type=click.Choice(["key", "model", "day"]), default="model", show_default=True)
@click.option(
    "--since", default="", callback=build_date_callback("%Y-%m-%d"), help="From this day on (2026-11-01)."
)
@click.option("--verify", is_flag=True, help="Prove that balances are what settled and held add up to.")
@click.option(
    "--report",
    "month",
    default="",
    callback=build_date_callback("%Y-%m"),
    help="One month (2026-11), to lay beside the invoice.",
)
@JSON_OPTION
@click.pass_context
def spend_command(context: click.Context, /, by: Any, since: str, **options: Any) -> None:
    """What was spent."""
    if context.invoked_subcommand:
        return None
    settings, as_json = load_context_settings(context), options["as_json"]
    if options["verify"]:
        sys.exit(run_coroutine(verify_balances(settings, as_json=as_json)))
    if options["month"]:
        return run_coroutine(print_month_report(settings, options["month"], as_json=as_json))
    return run_coroutine(print_spend(settings, by, since, as_json=as_json))


async def print_spend(settings: Settings, grouping: SpendGrouping, since: str, *, as_json: bool) -> None:
    """Totals by key, model or day."""
    async with make_ledger(settings) as ledger:
        rows = await ledger.list_spend_totals(grouping, since)
    if as_json:
        return print_json(rows)
    return print_table(
        (grouping, "requests", "tokens in", "tokens out", "settled", "held"), map(_format_spend_row, rows)
    )


def _format_spend_row(row: SpendTotal) -> tuple[str, ...]:
    counts = map(str, (row.requests, row.input_tokens, row.output_tokens))
    return row.name, *counts, format_usd(row.settled_nanousd), format_usd(row.held_nanousd)


async def verify_balances(settings: Settings, *, as_json: bool) -> int:
    """Proves balance = settled + open holds; 1 if it does not hold."""
    async with make_ledger(settings) as ledger:
        proof = await ledger.verify_balances()
    if as_json:
        print_json(proof)
        return 1 if proof.faults else 0
    out = Console(highlight=False)
    held = f"held {format_usd(proof.held_nanousd)} in {len(proof.holds)} holds"
    out.print(f"settled {format_usd(proof.settled_nanousd)}, {held}")
    for hold in proof.holds:
        until = format_instant(hold.expires)
        out.print(f"  {hold.id}  {hold.model}  key {hold.key_id}  {format_usd(hold.nanousd)}  until {until}")
    for fault in proof.faults:
        out.print(f"[red]{fault}[/]")
    summary = f"{proof.balances} balances add up"
    out.print(
        f"[red]{len(proof.faults)} balances do not add up[/]" if proof.faults else f"[green]{summary}[/]"
    )
    return 1 if proof.faults else 0


async def print_month_report(settings: Settings, month: str, *, as_json: bool) -> None:
    """One month by day and model, to lay beside the provider's invoice."""
    async with make_ledger(settings) as ledger:
        rows = await ledger.list_invoice_lines(month)
    if as_json:
        return print_json(rows)
    columns = ("day", "model", "figures from", "entries", "tokens in", "tokens out", "cost")
    return print_table(columns, map(_format_invoice_row, rows))


def _format_invoice_row(row: InvoiceLine) -> tuple[str, ...]:
    counts = map(str, (row.entries, row.input_tokens, row.output_tokens))
    return row.day, row.model, row.basis, *counts, format_usd(row.nanousd)


@spend_command.command("audit")
@JSON_OPTION
@click.pass_context
def audit_command(context: click.Context, as_json: bool) -> None:
    """What was done to the books by hand, by whom, and why."""
    run_coroutine(print_audit(load_context_settings(context), as_json=as_json))


async def print_audit(settings: Settings, *, as_json: bool) -> None:
    """Everything that was done by hand, oldest first: who, when, what, and why."""
    async with make_ledger(settings) as ledger:
        acts = await ledger.list_operator_acts()
    if as_json:
        return print_json(acts)
    return print_table(
        ("when", "by", "act", "what", "reason"),
        ((format_instant(act.at), act.by, act.act, act.subject, act.reason) for act in acts),
    )


@spend_command.command("adjust", context_settings={"ignore_unknown_options": True})
@click.argument("usd", type=BoundedNumber(-USD_MAX, USD_MAX))
@REASON_OPTION
@click.option("--key", default="", help="Of this key; otherwise of the deployment alone.")
@click.option("--model", default="")
@click.pass_context
def adjust_command(context: click.Context, /, usd: float, reason: str, **options: Any) -> None:
    """Book a change by hand: USD more, or less if negative (-0.50)."""
    change = Adjustment(round(usd * 1e9), reason, options["key"], options["model"])
    click.echo(f"booked on {run_coroutine(book_adjustment(load_context_settings(context), change))}")


async def book_adjustment(settings: Settings, change: Adjustment) -> str:
    """Books a change by hand, with its reason and the name of who made it; the period it went into."""
    async with make_ledger(settings) as ledger:
        period = await ledger.adjust(change, operator=getpass.getuser())
    return period.day


@spend_command.command("acknowledge")
@click.argument("model")
@REASON_OPTION
@click.pass_context
def acknowledge_command(context: click.Context, /, model: str, reason: str) -> None:
    """Open a MODEL again that reported more than its bound."""
    if not run_coroutine(acknowledge_model(load_context_settings(context), model, reason)):
        raise click.UsageError(f"{model} is not closed")
    click.echo(f"{model} is open again")


async def acknowledge_model(settings: Settings, model: str, reason: str) -> bool:
    """Opens a model again that reported more than its bound. False: it was not closed."""
    async with make_ledger(settings) as ledger:
        return await ledger.reopen_model(model, reason, operator=getpass.getuser())


@spend_command.command("rewind")
@REASON_OPTION
@click.pass_context
def rewind_command(context: click.Context, reason: str) -> None:
    """Make today the latest day, after a clock ran ahead."""
    run_coroutine(rewind_ledger(load_context_settings(context), reason))
    click.echo("the books go on from today")


async def rewind_ledger(settings: Settings, reason: str) -> None:
    """Makes today the latest day of the books again, after a clock that had run ahead."""
    async with make_ledger(settings) as ledger:
        await ledger.rewind_period(reason, operator=getpass.getuser())
