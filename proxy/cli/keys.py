"""`fiador keys`: the keys of callers."""

from typing import Any

import click

from proxy.cli.base import JSON, USD_MAX, Bounded, main, names, settings_of, stated, wait

DAYS_MAX = 36_500
"""A hundred years: who wants a key for ever leaves the days out."""


@main.group()
def keys() -> None:
    """Keys of callers."""


@keys.command("create")
@click.argument("name", callback=stated)
@click.option("--groups", default="", help="Groups of the caller (a,b).")
@click.option(
    "--scopes",
    type=click.Choice(["admin"]),
    help="`admin` may push documents, and read /metrics and every decision.",
)
@click.option("--usd-month", type=Bounded(0, USD_MAX), help="Cap of this key a month.")
@click.option("--usd-day", type=Bounded(0, USD_MAX), help="Cap of this key a day.")
@click.option("--days", type=Bounded(0, DAYS_MAX, min_open=True), help="Days until it expires.")
@click.pass_context
def create_key(context: click.Context, /, name: str, **options: Any) -> None:
    """Make a key; it is shown this once."""
    from proxy.commands import keys as command

    wish = command.Wish(
        name,
        names(options["groups"]),
        names(options["scopes"] or ""),
        command.cap(options["usd_month"], options["usd_day"]),
        options["days"],
    )
    settings = settings_of(context)
    click.echo(wait(command.create(settings, wish)))
    for line in command.warnings(settings, wish.groups):
        click.echo(f"warning: {line}", err=True)


@keys.command("list")
@JSON
@click.pass_context
def list_keys(context: click.Context, as_json: bool) -> None:
    """List keys, never their text."""
    from proxy.commands import keys as command

    wait(command.show(settings_of(context), as_json=as_json))


@keys.command("revoke")
@click.argument("id")
@click.pass_context
def revoke_key(context: click.Context, id: str) -> None:
    """End a key, from its next request on."""
    from proxy.commands import keys as command

    if not wait(command.revoke(settings_of(context), id)):
        raise click.UsageError(f"no live key {id}; `fiador keys list` shows them")
    click.echo(f"{id} is revoked")
