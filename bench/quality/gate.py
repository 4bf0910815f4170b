"""Labelled answers through the real gate: false stops on faithful ones, hits on unsupported spans.

`python -m bench quality gate --data DIR [--mode best|all|wrong] [--list]`: DIR holds `gate/*.jsonl` with
sources, response, spans and whether it is faithful.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

import click

from bench.quality.marking import Mode, mark
from bench.quality.rules import rules
from proxy.domain.types import Source
from proxy.gate import Gate, Release, Rules, Stop
from proxy.gate.sentences import Unit
from proxy.gate.values import read

VALUE_KINDS = ("number", "date", "url", "email")
Item = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Halt:
    """A stop and the half-open span of the answer, as written without markers, that it keeps back."""

    stop: Stop
    start: int
    end: int

    def hits(self, span: Mapping[str, Any]) -> bool:
        return bool(self.start < span["end"] and span["start"] < self.end)


class Survey(Gate):
    """A gate that goes on after a stop, so that every sentence of a labelled answer gets its verdict."""

    def __init__(self, sources: Sequence[Source], language: str, held: Rules) -> None:
        super().__init__(sources, language, held)
        self.at = 0
        self.stops: list[tuple[Stop, int, int]] = []

    def _judge(self, unit: Unit) -> list[Release | Stop]:
        held = self._scanner.held
        said = super()._judge(unit)
        start, self.at = self.at, self.at + len(unit.text)
        self.stops += [(s, start, self.at) for s in said if isinstance(s, Stop)]
        self._stopped, self._scanner.held = False, held
        return []


def judge(item: Item, mode: Mode, held: Rules) -> tuple[list[Halt], list[Halt]]:
    """Every sentence of one answer that the gate stops: for want of support, and for its voice.

    The labels are about support alone, and these answers were not written by an assistant of ours.
    """
    marked = mark(item["response"], item["sources"], mode, item["lang"])
    sources = [Source(i + 1, str(i), "", text) for i, text in enumerate(item["sources"])]
    survey = Survey(sources, item["lang"], held)
    survey.feed(marked.text)
    survey.finish()
    halts = []
    for stop, start, end in survey.stops:
        places = [o for o in marked.origins[start:end] if o >= 0]
        halts.append(Halt(stop, min(places, default=0), max(places, default=-1) + 1))
    spoken = [halt for halt in halts if halt.stop.rule == "voice"]
    return [halt for halt in halts if halt not in spoken], spoken


def tally(counts: Counter[str], item: Item, halts: Sequence[Halt]) -> None:
    """Adds one answer: f, fs: faithful, of them stopped; u, us: unfaithful; sp, v, ceil: spans and hits."""
    if item["faithful"]:
        counts.update(f=1, fs=bool(halts))
        return
    counts.update(u=1, us=bool(halts))
    for span in item["spans"]:
        hit = any(halt.hits(span) for halt in halts)
        counts.update(sp=1, sph=hit)
        if span["kind"] in VALUE_KINDS:
            counts.update(v=1, vh=hit)
        if span["number_absent_lenient"]:
            counts.update(ceil=1, ceilh=hit)


def items(data: Path) -> Iterator[Item]:
    """The labelled answers of every file."""
    for path in sorted((data / "gate").glob("*.jsonl")):
        with path.open(encoding="utf-8") as lines:
            yield from (item for item in map(json.loads, lines) if "faithful" in item)


@click.command()
@click.option("--data", required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--mode", type=click.Choice(get_args(Mode)), default="best", show_default=True)
@click.option("--spelled", type=click.Choice(["check", "off"]), default="check", help="Numbers in words.")
@click.option("--list", "listing", is_flag=True, help="Each false stop, and each absent number that passed.")
def _command(data: Path, mode: Mode, spelled: Literal["check", "off"], listing: bool) -> None:
    table: defaultdict[str, Counter[str]] = defaultdict(Counter)
    held = replace(rules(), spelled_numbers=spelled)
    for item in items(data):
        if mode == "wrong" and len(item["sources"]) < 2:
            continue
        halts, voice = judge(item, mode, held)
        for key in _keys(item):
            tally(table[key], item, halts)
            table[key].update(fv=bool(voice) and item["faithful"])
        table["ALL"].update(_valued(item, halts))
        if listing:
            _list(item, halts)
    for key, counts in sorted(table.items()):
        print(_row(key, counts))
    print("answers with values, stopped:", _share(table["ALL"], "valuedh", "valued"))
    print(
        "not counted above: faithful answers in the first person (rule voice)",
        _share(table["ALL"], "fv", "f"),
    )


def _keys(item: Item) -> tuple[str, ...]:
    dataset = (
        item["dataset"].partition("-")[0] if item["dataset"].startswith("summedits") else item["dataset"]
    )
    cross = "cross-language" if item["dataset"].endswith("xling") else "same language"
    return (dataset, "ALL", cross, f"lang:{item['lang']}")


def _valued(item: Item, halts: Sequence[Halt]) -> dict[str, int]:
    valued = bool(read(item["response"], item["lang"], rules().values).items)
    return {"valued": valued, "valuedh": valued and bool(halts)}


def _row(key: str, counts: Counter[str]) -> str:
    absent = _share(counts, "ceilh", "ceil")
    return (
        f"{key:16} false stops {_share(counts, 'fs', 'f')} | unfaithful answers with a stop "
        f"{_share(counts, 'us', 'u')} | value spans hit {_share(counts, 'vh', 'v')} | spans whose number is "
        f"not in the source hit {absent} | all spans hit {_share(counts, 'sph', 'sp')}"
    )


def _share(counts: Counter[str], part: str, whole: str) -> str:
    if not counts[whole]:
        return "  –  "
    return f"{100 * counts[part] / counts[whole]:5.1f}% ({counts[part]}/{counts[whole]})"


def _list(item: Item, halts: Sequence[Halt]) -> None:
    if item["faithful"]:
        for halt in halts:
            said = item["response"][halt.start : halt.end]
            print(
                f"false stop {item['id']} {halt.stop.rule} {halt.stop.piece!r} {halt.stop.detail}: {said!r}"
            )
        return
    for span in item["spans"]:
        if span["number_absent_lenient"] and not any(halt.hits(span) for halt in halts):
            print(f"passed {item['id']} {span['text']!r} in {item['response']!r}")


def run(arguments: list[str]) -> int:
    """Always 0: what is too many is for the reader to say."""
    _command.main(arguments, standalone_mode=False)
    return 0
