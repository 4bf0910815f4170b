"""`fiador keys create | list | revoke`."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import click

from proxy.app import build_data_paths
from proxy.auth import ApiKey, KeyStore
from proxy.commands.console import format_instant, format_usd_digits, print_json, print_table
from proxy.commands.root import (
    JSON_OPTION,
    USD_MAX,
    BoundedNumber,
    load_context_settings,
    require_text,
    run_coroutine,
    split_names,
)
from proxy.ledger.periods import SpendCap
from proxy.ledger.prices import convert_cap_usd
from proxy.settings.tree import Settings

DAYS_MAX = 36_500
"""A hundred years: who wants a key for ever leaves the days out."""


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
    new_key = NewKey(
        name,
        split_names(options["groups"]),
        split_names(options["scopes"] or ""),
        build_cap(options["usd_month"], options["usd_day"]),
        options["days"],
    )
    settings = load_context_settings(context)
    click.echo(run_coroutine(create_key(settings, new_key)))
    for line in find_key_warnings(settings, new_key.groups):
        click.echo(f"warning: {line}", err=True)


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key to be made; `days` until it expires, None: never."""

    name: str
    groups: frozenset[str]
    scopes: frozenset[str]
    cap: SpendCap
    days: float | None


def build_cap(usd_month: float | None, usd_day: float | None) -> SpendCap:
    """Caps of one key in nano-dollars; None: no cap of its own."""
    return SpendCap(*(None if usd is None else convert_cap_usd(usd) for usd in (usd_month, usd_day)))


async def create_key(settings: Settings, new_key: NewKey) -> str:
    """Makes a key and returns its text, which is shown this once."""
    expires = None if new_key.days is None else (datetime.now(UTC) + timedelta(days=new_key.days)).timestamp()
    async with KeyStore(build_data_paths(settings).keys) as key_store:
        key = await key_store.create_key(
            new_key.name, groups=new_key.groups, scopes=new_key.scopes, cap=new_key.cap, expires=expires
        )
    return key.credential


def find_key_warnings(settings: Settings, groups: frozenset[str]) -> list[str]:
    """What will keep a new key, or some of its groups, from granting anything."""
    mode, mapped = settings.auth.mode, settings.auth.groups
    unread = [] if mode == "keys" else [f'auth.mode is "{mode}": no key is looked at until it is "keys"']
    idle = sorted(groups - set(mapped) - settings.auth.public_groups) if mapped else []
    return [*unread, *(f"auth.groups does not name `{group}`: it grants nothing" for group in idle)]


@keys_command.command("list")
@JSON_OPTION
@click.pass_context
def list_keys_command(context: click.Context, as_json: bool) -> None:
    """List keys, never their text."""
    run_coroutine(print_keys(load_context_settings(context), as_json=as_json))


async def print_keys(settings: Settings, *, as_json: bool) -> None:
    """Lists every key, never its text."""
    async with KeyStore(build_data_paths(settings).keys) as key_store:
        keys = await key_store.list_keys()
    if as_json:
        return print_json([_build_key_row(key) for key in keys])
    columns = ("id", "name", "groups", "scopes", "cap a month", "cap a day", "created", "state")
    return print_table(columns, (tuple(_build_key_row(key).values()) for key in keys))


def _build_key_row(key: ApiKey) -> dict[str, str]:
    return {
        "id": key.id,
        "name": key.name,
        "groups": ", ".join(sorted(key.groups)),
        "scopes": ", ".join(sorted(key.scopes)),
        "cap_usd_month": _format_cap(key.cap.month_nanousd),
        "cap_usd_day": _format_cap(key.cap.day_nanousd),
        "created": format_instant(key.created),
        "state": _describe_key_state(key),
    }


def _format_cap(nanousd: int | None) -> str:
    return "" if nanousd is None else format_usd_digits(nanousd)


def _describe_key_state(key: ApiKey) -> str:
    if key.revoked is not None:
        return f"revoked {format_instant(key.revoked)}"
    if not key.is_valid(datetime.now(UTC).timestamp()):
        return "expired"
    return "live" if key.expires is None else f"live until {format_instant(key.expires)}"


@keys_command.command("revoke")
@click.argument("id")
@click.pass_context
def revoke_key_command(context: click.Context, id: str) -> None:
    """End a key, from its next request on."""
    if not run_coroutine(revoke_key(load_context_settings(context), id)):
        raise click.UsageError(f"no live key {id}; `fiador keys list` shows them")
    click.echo(f"{id} is revoked")


async def revoke_key(settings: Settings, key_id: str) -> bool:
    """Ends a key; False: there is no such live key."""
    async with KeyStore(build_data_paths(settings).keys) as key_store:
        return await key_store.revoke_key(key_id)
