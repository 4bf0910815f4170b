"""`fiador keys create | list | revoke`."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import click

from proxy.app import paths
from proxy.auth import Key, Keys
from proxy.commands.console import amount, moment, say_json, tell
from proxy.commands.root import (
    JSON_OPTION,
    USD_MAX,
    BoundedNumber,
    load_context_settings,
    require_text,
    run_coroutine,
    split_names,
)
from proxy.ledger.periods import Cap
from proxy.ledger.prices import dollars
from proxy.settings.tree import Settings

DAYS_MAX = 36_500
"""A hundred years: who wants a key for ever leaves the days out."""


@dataclass(frozen=True, slots=True)
class Wish:
    """A key to be made; `days` until it expires, None: never."""

    name: str
    groups: frozenset[str]
    scopes: frozenset[str]
    cap: Cap
    days: float | None


async def create(settings: Settings, wish: Wish) -> str:
    """Makes a key and returns its text, which is shown this once."""
    expires = None if wish.days is None else (datetime.now(UTC) + timedelta(days=wish.days)).timestamp()
    async with Keys(paths(settings).keys) as keys:
        made = await keys.create(
            wish.name, groups=wish.groups, scopes=wish.scopes, caps=wish.cap, expires=expires
        )
    return made.secret


def warnings(settings: Settings, groups: frozenset[str]) -> list[str]:
    """What will keep a new key, or some of its groups, from granting anything."""
    mode, named = settings.auth.mode, settings.auth.groups
    unread = [] if mode == "keys" else [f'auth.mode is "{mode}": no key is looked at until it is "keys"']
    idle = sorted(groups - set(named) - settings.auth.public_groups) if named else []
    return [*unread, *(f"auth.groups does not name `{group}`: it grants nothing" for group in idle)]


def cap(usd_month: float | None, usd_day: float | None) -> Cap:
    """Caps of one key in nano-dollars; None: no cap of its own."""
    return Cap(*(None if usd is None else dollars(usd) for usd in (usd_month, usd_day)))


async def show(settings: Settings, *, as_json: bool) -> None:
    """Lists every key, never its text."""
    async with Keys(paths(settings).keys) as keys:
        found = await keys.list()
    if as_json:
        return say_json([_row(key) for key in found])
    columns = ("id", "name", "groups", "scopes", "cap a month", "cap a day", "created", "state")
    return tell(columns, (tuple(_row(key).values()) for key in found))


async def revoke(settings: Settings, mark: str) -> bool:
    """Ends a key; False: there is no such live key."""
    async with Keys(paths(settings).keys) as keys:
        return await keys.revoke(mark)


def _row(key: Key) -> dict[str, str]:
    return {
        "id": key.id,
        "name": key.name,
        "groups": ", ".join(sorted(key.groups)),
        "scopes": ", ".join(sorted(key.scopes)),
        "cap_usd_month": _usd(key.cap.month),
        "cap_usd_day": _usd(key.cap.day),
        "created": moment(key.created),
        "state": _state(key),
    }


def _usd(nanousd: int | None) -> str:
    return "" if nanousd is None else amount(nanousd)


def _state(key: Key) -> str:
    if key.revoked is not None:
        return f"revoked {moment(key.revoked)}"
    if not key.valid(datetime.now(UTC).timestamp()):
        return "expired"
    return "live" if key.expires is None else f"live until {moment(key.expires)}"


@click.group("keys")
def keys_command() -> None:
    """Keys of callers."""


@keys_command.command("create")
@click.argument("name", callback=require_text)
@click.option("--groups", default="", help="Groups of the caller (a,b).")
@click.option(
    "--scopes",
    type=click.Choice(["admin"]),
    help="`admin` may push documents, and read /metrics and every decision.",
)
@click.option("--usd-month", type=BoundedNumber(0, USD_MAX), help="Cap of this key a month.")
@click.option("--usd-day", type=BoundedNumber(0, USD_MAX), help="Cap of this key a day.")
@click.option("--days", type=BoundedNumber(0, DAYS_MAX, min_open=True), help="Days until it expires.")
@click.pass_context
def create_key_command(context: click.Context, /, name: str, **options: Any) -> None:
    """Make a key; it is shown this once."""
    wish = Wish(
        name,
        split_names(options["groups"]),
        split_names(options["scopes"] or ""),
        cap(options["usd_month"], options["usd_day"]),
        options["days"],
    )
    settings = load_context_settings(context)
    click.echo(run_coroutine(create(settings, wish)))
    for line in warnings(settings, wish.groups):
        click.echo(f"warning: {line}", err=True)


@keys_command.command("list")
@JSON_OPTION
@click.pass_context
def list_keys_command(context: click.Context, as_json: bool) -> None:
    """List keys, never their text."""
    run_coroutine(show(load_context_settings(context), as_json=as_json))


@keys_command.command("revoke")
@click.argument("id")
@click.pass_context
def revoke_key_command(context: click.Context, id: str) -> None:
    """End a key, from its next request on."""
    if not run_coroutine(revoke(load_context_settings(context), id)):
        raise click.UsageError(f"no live key {id}; `fiador keys list` shows them")
    click.echo(f"{id} is revoked")
