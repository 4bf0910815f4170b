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

from bench.quality.marking import MarkingMode, mark_answer
from bench.quality.rules import load_gate_rules
from proxy.domain.types import Source
from proxy.gate import Gate, GateRules, Release, Stop
from proxy.gate.sentences import SentenceSpan
from proxy.gate.types import GateRule
from proxy.gate.values import read_values

VALUE_KINDS = ("number", "date", "url", "email")
LabelledAnswer = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Halt:
    """A stop and the half-open span of the answer, as written without markers, that it keeps back."""

    stop: Stop
    start: int
    end: int

    def has_overlap(self, span: Mapping[str, Any]) -> bool:
        return bool(self.start < span["end"] and span["start"] < self.end)


class SurveyGate(Gate):
    """A gate that goes on after a stop, so that every sentence of a labelled answer gets its verdict."""

    def __init__(self, sources: Sequence[Source], language: str, rules: GateRules) -> None:
        super().__init__(sources, language, rules)
        self.position = 0
        self.stops: list[tuple[Stop, int, int]] = []

    def _judge_unit(self, unit: SentenceSpan) -> list[Release | Stop]:
        held = self._scanner.pending_text
        outputs = super()._judge_unit(unit)
        start, self.position = self.position, self.position + len(unit.text)
        self.stops += [(s, start, self.position) for s in outputs if isinstance(s, Stop)]
        self._is_stopped, self._scanner.pending_text = False, held
        return []


def judge_answer(item: LabelledAnswer, mode: MarkingMode, rules: GateRules) -> tuple[list[Halt], list[Halt]]:
    """Every sentence of one answer that the gate stops: for want of support, and for its voice.

    The labels are about support alone, and these answers were not written by an assistant of ours.
    """
    marked = mark_answer(item["response"], item["sources"], mode, item["lang"])
    sources = [Source(i + 1, str(i), "", text) for i, text in enumerate(item["sources"])]
    survey = SurveyGate(sources, item["lang"], rules)
    survey.feed(marked.text)
    survey.finish()
    halts = []
    for stop, start, end in survey.stops:
        places = [o for o in marked.origins[start:end] if o >= 0]
        halts.append(Halt(stop, min(places, default=0), max(places, default=-1) + 1))
    spoken = [halt for halt in halts if halt.stop.rule == GateRule.VOICE]
    return [halt for halt in halts if halt not in spoken], spoken


def tally_answer(counts: Counter[str], item: LabelledAnswer, halts: Sequence[Halt]) -> None:
    """Adds one answer: f, fs: faithful, of them stopped; u, us: unfaithful; sp, v, ceil: spans and hits."""
    if item["faithful"]:
        counts.update(f=1, fs=bool(halts))
        return
    counts.update(u=1, us=bool(halts))
    for span in item["spans"]:
        hit = any(halt.has_overlap(span) for halt in halts)
        counts.update(sp=1, sph=hit)
        if span["kind"] in VALUE_KINDS:
            counts.update(v=1, vh=hit)
        if span["number_absent_lenient"]:
            counts.update(ceil=1, ceilh=hit)


def read_labelled_answers(data: Path) -> Iterator[LabelledAnswer]:
    """The labelled answers of every file."""
    for path in sorted((data / "gate").glob("*.jsonl")):
        with path.open(encoding="utf-8") as lines:
            yield from (item for item in map(json.loads, lines) if "faithful" in item)


@click.command()
@click.option("--data", required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--mode", type=click.Choice(get_args(MarkingMode)), default="best", show_default=True)
@click.option("--spelled", type=click.Choice(["check", "off"]), default="check", help="Numbers in words.")
@click.option("--list", "listing", is_flag=True, help="Each false stop, and each absent number that passed.")
def _measure_answers(data: Path, mode: MarkingMode, spelled: Literal["check", "off"], listing: bool) -> None:
    table: defaultdict[str, Counter[str]] = defaultdict(Counter)
    rules = replace(load_gate_rules(), spelled_numbers=spelled)
    for item in read_labelled_answers(data):
        if mode == "wrong" and len(item["sources"]) < 2:
            continue
        halts, voice = judge_answer(item, mode, rules)
        for key in _list_table_keys(item):
            tally_answer(table[key], item, halts)
            table[key].update(fv=bool(voice) and item["faithful"])
        table["ALL"].update(_count_values(item, halts))
        if listing:
            _print_mistakes(item, halts)
    for key, counts in sorted(table.items()):
        print(_format_counts(key, counts))
    print("answers with values, stopped:", _format_share(table["ALL"], "valuedh", "valued"))
    print(
        "not counted above: faithful answers in the first person (rule voice)",
        _format_share(table["ALL"], "fv", "f"),
    )


def _list_table_keys(item: LabelledAnswer) -> tuple[str, ...]:
    dataset = (
        item["dataset"].partition("-")[0] if item["dataset"].startswith("summedits") else item["dataset"]
    )
    cross = "cross-language" if item["dataset"].endswith("xling") else "same language"
    return (dataset, "ALL", cross, f"lang:{item['lang']}")


def _count_values(item: LabelledAnswer, halts: Sequence[Halt]) -> dict[str, int]:
    valued = bool(read_values(item["response"], item["lang"], load_gate_rules().values).items)
    return {"valued": valued, "valuedh": valued and bool(halts)}


def _format_counts(key: str, counts: Counter[str]) -> str:
    absent = _format_share(counts, "ceilh", "ceil")
    return (
        f"{key:16} false stops {_format_share(counts, 'fs', 'f')} | unfaithful answers with a stop "
        f"{_format_share(counts, 'us', 'u')} | value spans hit {_format_share(counts, 'vh', 'v')} | "
        f"spans whose number is not in the source hit {absent} | "
        f"all spans hit {_format_share(counts, 'sph', 'sp')}"
    )


def _format_share(counts: Counter[str], part: str, whole: str) -> str:
    if not counts[whole]:
        return "  –  "
    return f"{100 * counts[part] / counts[whole]:5.1f}% ({counts[part]}/{counts[whole]})"


def _print_mistakes(item: LabelledAnswer, halts: Sequence[Halt]) -> None:
    if item["faithful"]:
        for halt in halts:
            text = item["response"][halt.start : halt.end]
            print(
                f"false stop {item['id']} {halt.stop.rule} {halt.stop.piece!r} {halt.stop.detail}: {text!r}"
            )
        return
    for span in item["spans"]:
        if span["number_absent_lenient"] and not any(halt.has_overlap(span) for halt in halts):
            print(f"passed {item['id']} {span['text']!r} in {item['response']!r}")


def run(arguments: list[str]) -> int:
    """Always 0: what is too many is for the reader to say."""
    _measure_answers.main(arguments, standalone_mode=False)
    return 0
