"""`fiador spend`: what was spent, proven, and changed by hand."""

import sys
from collections.abc import Callable
from datetime import date, datetime
from typing import Any

import click

from proxy.cli.base import JSON, USD_MAX, Bounded, main, settings_of, stated, wait

REASON = click.option("--reason", required=True, callback=stated, help="Kept in the books.")


def dated(form: str) -> Callable[[click.Context, click.Parameter, str], str]:
    """Takes an empty text, or a day or month in this form, which is how the books write it."""

    def checked(_: click.Context, __: click.Parameter, text: str) -> str:
        try:
            return datetime.strptime(text, form).strftime(form) if text else ""
        except ValueError as fault:
            raise click.BadParameter(f"want {date(2026, 11, 1):{form}}, as an example, got {text}") from fault

    return checked


@main.group(invoke_without_command=True)
@click.option("--by", type=click.Choice(["key", "model", "day"]), default="model", show_default=True)
@click.option("--since", default="", callback=dated("%Y-%m-%d"), help="From this day on (2026-11-01).")
@click.option("--verify", is_flag=True, help="Prove that balances are what settled and held add up to.")
@click.option(
    "--report",
    "month",
    default="",
    callback=dated("%Y-%m"),
    help="One month (2026-11), to lay beside the invoice.",
)
@JSON
@click.pass_context
def spend(context: click.Context, /, by: Any, since: str, **options: Any) -> None:
    """What was spent."""
    from proxy.commands import money

    if context.invoked_subcommand:
        return None
    settings, as_json = settings_of(context), options["as_json"]
    if options["verify"]:
        sys.exit(wait(money.verify(settings, as_json=as_json)))
    if options["month"]:
        return wait(money.report(settings, options["month"], as_json=as_json))
    return wait(money.spent(settings, by, since, as_json=as_json))


@spend.command()
@JSON
@click.pass_context
def audit(context: click.Context, as_json: bool) -> None:
    """What was done to the books by hand, by whom, and why."""
    from proxy.commands import money

    wait(money.audit(settings_of(context), as_json=as_json))


@spend.command(context_settings={"ignore_unknown_options": True})
@click.argument("usd", type=Bounded(-USD_MAX, USD_MAX))
@REASON
@click.option("--key", default="", help="Of this key; otherwise of the deployment alone.")
@click.option("--model", default="")
@click.pass_context
def adjust(context: click.Context, /, usd: float, reason: str, **options: Any) -> None:
    """Book a change by hand: USD more, or less if negative (-0.50)."""
    from proxy.commands import money
    from proxy.ledger.books import Adjustment

    change = Adjustment(round(usd * 1e9), reason, options["key"], options["model"])
    click.echo(f"booked on {wait(money.adjust(settings_of(context), change))}")


@spend.command()
@click.argument("model")
@REASON
@click.pass_context
def acknowledge(context: click.Context, /, model: str, reason: str) -> None:
    """Open a MODEL again that reported more than its bound."""
    from proxy.commands import money

    if not wait(money.acknowledge(settings_of(context), model, reason)):
        raise click.UsageError(f"{model} is not closed")
    click.echo(f"{model} is open again")


@spend.command()
@REASON
@click.pass_context
def rewind(context: click.Context, reason: str) -> None:
    """Make today the latest day, after a clock ran ahead."""
    from proxy.commands import money

    wait(money.rewind(settings_of(context), reason))
    click.echo("the books go on from today")
