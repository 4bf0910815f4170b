"""CPU of the gate: µs a delta and a token with every check on, growth with length, memory.

`python -m bench gate [--chars N]`: feeds a cited answer in token-sized pieces; no network, no upstream.
"""

import statistics
import tracemalloc
from collections.abc import Sequence
from dataclasses import replace

import click

from bench.quality.rules import load_gate_rules
from bench.resources import read_own_cpu_s
from proxy.domain.types import Source
from proxy.gate import Gate, GateRules, Stop

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
STRETCH_DELTAS = 200
"""Deltas timed together: long enough for the clock, short enough to fall between the neighbours' work."""
TOKEN_CHARS = 4
"""A token of English text is about four characters; a delta carries one."""


class SilentAnswerTopics:
    """Answer topics that none of the `FACTS` hit: the check runs on every sentence and stops nothing."""

    def find_topic(self, folded: str) -> str:
        return "terms" if "salary negotiation" in folded else ""


def build_answer(chars: int) -> str:
    """A cited answer of `chars` characters: the facts over and over, the last one cut."""
    sentences = [f"{fact} [{1 + i % 2}]. " for i, fact in enumerate(FACTS)]
    text = "".join(sentences)
    return (text * (chars // len(text) + 1))[:chars]


def split_deltas(text: str, delta_chars: int) -> list[str]:
    """`text` cut into deltas of one length, the last one shorter."""
    return [text[i : i + delta_chars] for i in range(0, len(text), delta_chars)]


def measure_costs_us(rules: GateRules, pieces: Sequence[str]) -> list[float]:
    """CPU µs a piece of a gate fed with `pieces`, stretch by stretch; the first reads the sources.

    Raises `SystemExit` if the answer is stopped: a gate that drops the rest costs nothing.
    """
    gate, costs = Gate(build_sources(), "en", rules), []
    for start in range(0, len(pieces), STRETCH_DELTAS):
        stretch = pieces[start : start + STRETCH_DELTAS]
        began_s = read_own_cpu_s()
        outputs = [out for piece in stretch for out in gate.feed(piece)]
        costs.append((read_own_cpu_s() - began_s) * 1e6 / len(stretch))
        if any(isinstance(out, Stop) for out in outputs):
            raise SystemExit(f"the answer was stopped: {outputs[-1]}")
    return costs


def measure_turn_ns() -> float:
    """What a bare loop costs here and now: about 25 ns a turn on an idle core of 2023, more under load."""
    began_s, turns, total = read_own_cpu_s(), 1_000_000, 0
    for number in range(turns):
        total += number
    return (read_own_cpu_s() - began_s) * 1e9 / turns


def build_sources() -> list[Source]:
    """Two sources that hold every fact."""
    return [Source(n, str(n), "Library", ". ".join(FACTS) + ".", language="en") for n in (1, 2)]


def measure_peak_bytes(rules: GateRules, pieces: Sequence[str]) -> int:
    """Peak memory that a gate takes while it is fed, beyond the pieces themselves."""
    gate = Gate(build_sources(), "en", rules)
    gate.feed(build_answer(2_000))  # the sources are read here, not under the count
    tracemalloc.start()
    for piece in pieces:
        gate.feed(piece)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


@click.command()
@click.option("--chars", default=200_000, show_default=True, help="Length of the longest answer.")
def _measure_gate(chars: int) -> None:
    rules = replace(load_gate_rules(), prompt=PROMPT, topics=SilentAnswerTopics())
    measure_costs_us(rules, split_deltas(build_answer(4_000), TOKEN_CHARS))
    print(
        f"a bare loop turn costs {measure_turn_ns():.0f} ns now; "
        f"best and median stretch of {STRETCH_DELTAS} deltas, µs CPU"
    )
    print(
        f"{'characters':>10} {'deltas':>7} {'a delta':>15} {'a token':>15} {'1st stretch':>12} {'peak kB':>8}"
    )
    for length in sorted({2_000, 20_000, chars // 4, chars}):
        _print_costs(rules, length, TOKEN_CHARS)
    print("in single characters:")
    _print_costs(rules, min(chars, 20_000), 1)
    print("hostile, in single characters: µs a character of 10,000 and of 40,000 without an end")
    for piece in ("word ", ". ", '."', "[1", "`", "é", "1,", "a.b "):
        short, long = (_measure_hostile_us(rules, piece, n) for n in (10_000, 40_000))
        print(f"{piece!r:>10} {short:8.2f} {long:8.2f}")


def _print_costs(rules: GateRules, answer_chars: int, delta_chars: int) -> None:
    pieces = split_deltas(build_answer(answer_chars), delta_chars)
    first, *costs = measure_costs_us(rules, pieces)
    best, median = min(costs), statistics.median(costs)
    deltas_a_token = TOKEN_CHARS / delta_chars
    peak_kb = measure_peak_bytes(rules, pieces[:20_000]) / 1e3
    a_delta = f"{best:.1f} / {median:.1f}"
    a_token = f"{best * deltas_a_token:.1f} / {median * deltas_a_token:.1f}"
    print(f"{answer_chars:>10} {len(pieces):>7} {a_delta:>15} {a_token:>15} {first:>12.1f} {peak_kb:>8.1f}")


def _measure_hostile_us(rules: GateRules, piece: str, answer_chars: int) -> float:
    """µs of CPU a character of an answer that is `piece` over and over.

    The longest sentence allowed is longer still: else the gate would stop and drop what follows.
    """
    gate = Gate([Source(1, "1", "", piece)], "en", replace(rules, sentence_chars_max=answer_chars + 1_000))
    text = (piece * (answer_chars // len(piece)))[:answer_chars]
    began_s = read_own_cpu_s()
    for character in text:
        gate.feed(character)
    return (read_own_cpu_s() - began_s) * 1e6 / len(text)


def run(arguments: list[str]) -> int:
    """Prints the table; always 0."""
    _measure_gate.main(arguments, standalone_mode=False)
    return 0
