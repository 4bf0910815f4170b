"""`fiador spend`: what was spent, the proof that the books add up, and changes by hand."""

import getpass

from rich.console import Console

from proxy.app import ledger
from proxy.commands.shown import moment, money, say_json, tell
from proxy.ledger.audit import By, Invoice, Spend
from proxy.ledger.books import Adjustment
from proxy.settings.tree import Settings


async def spent(settings: Settings, by: By, since: str, *, as_json: bool) -> None:
    """Totals by key, model or day."""
    async with ledger(settings) as books:
        rows = await books.spend(by, since)
    if as_json:
        return say_json(rows)
    return tell((by, "requests", "tokens in", "tokens out", "settled", "held"), map(_spent, rows))


async def verify(settings: Settings, *, as_json: bool) -> int:
    """Proves balance = settled + open holds; 1 if it does not hold."""
    async with ledger(settings) as books:
        proof = await books.verify()
    if as_json:
        say_json(proof)
        return 1 if proof.faults else 0
    out = Console(highlight=False)
    held = f"held {money(proof.held_nanousd)} in {len(proof.holds)} holds"
    out.print(f"settled {money(proof.settled_nanousd)}, {held}")
    for hold in proof.holds:
        until = moment(hold.expires)
        out.print(f"  {hold.id}  {hold.model}  key {hold.key_id}  {money(hold.nanousd)}  until {until}")
    for fault in proof.faults:
        out.print(f"[red]{fault}[/]")
    told = f"{proof.balances} balances add up"
    out.print(f"[red]{len(proof.faults)} balances do not add up[/]" if proof.faults else f"[green]{told}[/]")
    return 1 if proof.faults else 0


async def report(settings: Settings, month: str, *, as_json: bool) -> None:
    """One month by day and model, to lay beside the provider's invoice."""
    async with ledger(settings) as books:
        rows = await books.report(month)
    if as_json:
        return say_json(rows)
    columns = ("day", "model", "figures from", "entries", "tokens in", "tokens out", "cost")
    return tell(columns, map(_invoiced, rows))


async def audit(settings: Settings, *, as_json: bool) -> None:
    """Everything that was done by hand, oldest first: who, when, what, and why."""
    async with ledger(settings) as books:
        acts = await books.acts()
    if as_json:
        return say_json(acts)
    return tell(
        ("when", "by", "act", "what", "reason"),
        ((moment(act.at), act.by, act.act, act.subject, act.reason) for act in acts),
    )


async def adjust(settings: Settings, change: Adjustment) -> str:
    """Books a change by hand, with its reason and the name of who made it; the period it went into."""
    async with ledger(settings) as books:
        period = await books.adjust(change, by=getpass.getuser())
    return period.day


async def rewind(settings: Settings, reason: str) -> None:
    """Makes today the latest day of the books again, after a clock that had run ahead."""
    async with ledger(settings) as books:
        await books.rewind(reason, by=getpass.getuser())


async def acknowledge(settings: Settings, model: str, reason: str) -> bool:
    """Opens a model again that reported more than its bound. False: it was not closed."""
    async with ledger(settings) as books:
        return await books.acknowledge(model, reason, by=getpass.getuser())


def _spent(row: Spend) -> tuple[str, ...]:
    counts = map(str, (row.requests, row.input_tokens, row.output_tokens))
    return row.name, *counts, money(row.settled_nanousd), money(row.held_nanousd)


def _invoiced(row: Invoice) -> tuple[str, ...]:
    counts = map(str, (row.entries, row.input_tokens, row.output_tokens))
    return row.day, row.model, row.basis, *counts, money(row.nanousd)
