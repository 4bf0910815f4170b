"""CPU of the gate: µs a delta and a token with every check on, growth with length, memory.

`python -m bench gate [--tokens N]`: feeds a cited answer in token-sized pieces; no network, no upstream.
"""

import gc
import time
import tracemalloc
from collections.abc import Sequence
from dataclasses import replace

import click

from bench.quality.rules import rules
from proxy.guards.gate import Gate, Release, Rules
from proxy.types import Source

PROMPT = (
    "Answer only from the numbered sources below, in the third person, and put a marker at the end of each."
)
FACTS = (
    "The reading room of the old library is open to every visitor with a valid card",
    "A new card costs 12.50 euros and stays valid for 24 months from the day of issue",
    "Guided tours start at 9:30 on weekdays, and each lasts about 45 minutes",
    "The archive keeps letters, maps and photographs that families of the town have given it",
    "Its oldest map was drawn in 1687 and shows the harbour before the great fire",
    "Questions about loans are answered at desk@library.example or at https://library.example/loans",
    "On 1 May 2024 the east wing reopened after repairs that took almost three years",
    "Groups of more than 15 people are asked to announce themselves a week before",
)
TOKEN_CHARS = 4
"""A token of English text is about four characters; a delta carries one."""


class Quiet:
    """Answer topics that never hit, as costly as folding makes them."""

    def find(self, folded: str) -> str:
        return "terms" if "salary negotiation" in folded else ""


def answer(chars: int) -> str:
    """A cited answer of about `chars` characters."""
    sentence = [f"{fact} [{1 + i % 2}]. " for i, fact in enumerate(FACTS)]
    whole = "".join(sentence)
    return (whole * (chars // len(whole) + 1))[:chars]


def deltas(text: str, size: int) -> list[str]:
    """`text` in pieces of `size` characters."""
    return [text[i : i + size] for i in range(0, len(text), size)]


def cpu_us(held: Rules, pieces: Sequence[str]) -> float:
    """CPU µs of a gate fed with `pieces`, the reading of its sources included; the best of three."""
    text = ". ".join(FACTS) + "."
    sources = [Source(n, str(n), "Library", text, language="en") for n in (1, 2)]
    best = float("inf")
    for _ in range(3):
        gate, said = Gate(sources, "en", held), []
        gc.collect()
        start = time.process_time_ns()
        for piece in pieces:
            said += gate.feed(piece)
        best = min(best, (time.process_time_ns() - start) / 1e3)
        assert said and all(isinstance(s, Release) for s in said), said[-1:]
    return best


def grown_bytes(held: Rules, pieces: Sequence[str]) -> int:
    """Peak memory that a gate takes while it is fed, beyond the pieces themselves."""
    sources = [Source(n, str(n), "Library", ". ".join(FACTS) + ".", language="en") for n in (1, 2)]
    gate = Gate(sources, "en", held)
    gate.feed(answer(2_000))
    tracemalloc.start()
    for piece in pieces:
        gate.feed(piece)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


@click.command()
@click.option("--chars", default=200_000, show_default=True, help="Length of the longest answer.")
def _command(chars: int) -> None:
    held = replace(rules(), prompt=PROMPT, topics=Quiet())
    cpu_us(held, deltas(answer(4_000), TOKEN_CHARS))
    print(f"{'characters':>10} {'deltas':>8} {'µs a delta':>11} {'µs a token':>11} {'peak kB':>8}")
    for length in sorted({2_000, 20_000, chars // 4, chars}):
        _show(held, length, TOKEN_CHARS)
    print("in single characters:")
    _show(held, min(chars, 20_000), 1)
    print("hostile, in single characters (µs a character at 10 kB and 40 kB):")
    for piece in ("word ", ". ", '."', "[1", "`", "é", "1,", "a.b "):
        short, long = (_hostile(held, piece, n) for n in (10_000, 40_000))
        print(f"{piece!r:>10} {short:8.2f} {long:8.2f}")


def _show(held: Rules, length: int, size: int) -> None:
    pieces = deltas(answer(length), size)
    spent = cpu_us(held, pieces)
    tokens = length / TOKEN_CHARS
    peak = grown_bytes(held, pieces[:20_000])
    print(
        f"{length:>10} {len(pieces):>8} {spent / len(pieces):>11.2f} {spent / tokens:>11.2f} {peak / 1e3:>8.1f}"
    )


def _hostile(held: Rules, piece: str, length: int) -> float:
    """µs a character of an answer that never ends a sentence; the gate may stop it at its longest sentence."""
    gate = Gate([Source(1, "1", "", piece)], "en", replace(held, sentence_chars_max=length + 1_000))
    text = (piece * (length // len(piece)))[:length]
    start = time.process_time_ns()
    for character in text:
        gate.feed(character)
    return (time.process_time_ns() - start) / 1e3 / len(text)


def run(arguments: list[str]) -> int:
    """Prints the table; always 0."""
    _command.main(arguments, standalone_mode=False)
    return 0
