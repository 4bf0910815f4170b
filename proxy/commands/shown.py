"""How commands print: moments, money, JSON, and text that runs from right to left."""

import unicodedata
from datetime import UTC, datetime

import click
import orjson

_RTL = {"R", "AL"}


def say_json(value: object) -> None:
    """One JSON document on standard output."""
    click.echo(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode())


def moment(unix_s: float) -> str:
    """A moment in UTC, to the second."""
    return datetime.fromtimestamp(unix_s, UTC).strftime("%Y-%m-%d %H:%M:%S")


def money(nanousd: int) -> str:
    """US dollars, exact to the nano-dollar, without idle zeros beyond the cents."""
    whole, part = divmod(abs(nanousd), 10**9)
    digits = f"{part:09d}".rstrip("0").ljust(2, "0")
    return f"{'-' if nanousd < 0 else ''}${whole}.{digits}"


def directed(text: str) -> str:
    """The text with each line isolated in its own direction (UAX #9: FSI … PDI).

    Terminals that know the algorithm then keep punctuation and Latin names where they belong.
    """
    if not any(unicodedata.bidirectional(char) in _RTL for char in text):
        return text
    return "\n".join(f"\u2068{line}\u2069" if line else line for line in text.split("\n"))
