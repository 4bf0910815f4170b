"""How commands print: moments, money, JSON, and text that runs from right to left."""

import unicodedata
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

import click
import orjson
from rich.console import Console
from rich.table import Table
from rich.text import Text

PIPED_WIDTH = 10_000
"""Columns of a table that no terminal reads: rich takes 80 there, and folds."""
_RTL_CLASSES = {"R", "AL"}
"""Bidirectional classes of letters that run from right to left (UAX #9)."""


def print_json(value: object) -> None:
    """One JSON document on standard output."""
    click.echo(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode())


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], out: Console | None = None, *, title: str = ""
) -> None:
    """Prints a table with every cell whole, an id or an amount above all: folded where a terminal is too
    narrow, and as wide as it is where none reads it. Cells are plain text, whatever brackets they hold.
    """
    out = out or Console()
    table = Table(title=title or None, title_justify="left")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    if not out.is_terminal:
        out = Console(file=out.file, width=PIPED_WIDTH)
    out.print(table)


def format_instant(unix_s: float) -> str:
    """A moment in UTC, to the second."""
    return datetime.fromtimestamp(unix_s, UTC).strftime("%Y-%m-%d %H:%M:%S")


def format_usd(nanousd: int) -> str:
    """US dollars, exact to the nano-dollar, without idle zeros beyond the cents."""
    return f"{'-' if nanousd < 0 else ''}${format_usd_digits(abs(nanousd))}"


def format_usd_digits(nanousd: int) -> str:
    """The digits of `format_usd`: of an amount that is not negative, without its sign, for programs."""
    whole, part = divmod(nanousd, 10**9)
    return f"{whole}.{f'{part:09d}'.rstrip('0').ljust(2, '0')}"


def isolate_direction(text: str) -> str:
    """The text with each line isolated in its own direction (UAX #9: FSI … PDI).

    Terminals that know the algorithm then keep punctuation and Latin names where they belong.
    """
    if not any(unicodedata.bidirectional(char) in _RTL_CLASSES for char in text):
        return text
    return "\n".join(f"\u2068{line}\u2069" if line else line for line in text.split("\n"))
