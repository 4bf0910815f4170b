"""Labelled answers through the real gate: false stops on faithful ones, hits on unsupported spans.

`python -m bench quality gate --data DIR [--mode best|all|wrong] [--list]`: DIR holds `gate/*.jsonl` with
sources, response, spans and whether it is faithful.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args

import click

from bench.quality.figures import HitCount
from bench.quality.marking import MarkingMode, mark_answer
from bench.quality.rules import load_gate_rules
from proxy.domain.types import Source
from proxy.gate import Gate, GateRules, Release, Stop
from proxy.gate.sentences import SentenceSpan
from proxy.gate.types import GateRule
from proxy.gate.values import read_values

VALUE_KINDS = ("number", "date", "url", "email")
"""Kinds of labelled spans that are values, which the gate looks up."""
LabelledAnswer = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Halt:
    """A stop and the half-open span of the answer, as written without markers, that it keeps back."""

    stop: Stop
    start: int
    end: int

    def has_overlap(self, span: Mapping[str, Any]) -> bool:
        """Whether a labelled span is kept back, be it in part."""
        return bool(self.start < span["end"] and span["start"] < self.end)


@dataclass(frozen=True, slots=True)
class AnswerHalts:
    """What the gate stops of one answer."""

    unsupported: tuple[Halt, ...]
    """For want of support, which is what the labels are about."""
    voice: tuple[Halt, ...]
    """For the first person: these answers were not written by an assistant of ours."""


@dataclass(frozen=True, slots=True)
class AnswerTally:
    """Answers and labelled spans of one group; a hit is what the gate stopped."""

    faithful: HitCount = field(default_factory=HitCount)
    unfaithful: HitCount = field(default_factory=HitCount)
    with_values: HitCount = field(default_factory=HitCount)
    """Answers, faithful or not, that hold a value."""
    first_person: HitCount = field(default_factory=HitCount)
    """Faithful answers; a hit is one stopped for its voice, which counts nowhere else."""
    spans: HitCount = field(default_factory=HitCount)
    """Of unfaithful answers, as are the two kinds of them below."""
    value_spans: HitCount = field(default_factory=HitCount)
    absent_numbers: HitCount = field(default_factory=HitCount)
    """Spans with a number that no source holds."""


class SurveyGate(Gate):
    """A gate that goes on after a stop, so that every sentence of a labelled answer gets its verdict."""

    def __init__(self, sources: Sequence[Source], language: str, rules: GateRules) -> None:
        super().__init__(sources, language, rules)
        self.position = 0
        """Where the unit under way begins in the text fed."""
        self.stops: list[tuple[Stop, int, int]] = []
        """Each with the half-open span of its unit in the text fed."""

    def _judge_unit(self, unit: SentenceSpan) -> list[Release | Stop]:
        pending = self._scanner.pending_text  # a stop drops it
        outputs = super()._judge_unit(unit)
        start, self.position = self.position, self.position + len(unit.text)
        self.stops += [(out, start, self.position) for out in outputs if isinstance(out, Stop)]
        self._is_stopped, self._scanner.pending_text = False, pending
        return []


def judge_answer(item: LabelledAnswer, mode: MarkingMode, rules: GateRules) -> AnswerHalts:
    """Every sentence of one answer that the gate stops."""
    marked = mark_answer(item["response"], item["sources"], mode, item["lang"])
    sources = [Source(i + 1, str(i), "", text) for i, text in enumerate(item["sources"])]
    survey = SurveyGate(sources, item["lang"], rules)
    survey.feed(marked.text)
    survey.finish()
    halts = []
    for stop, start, end in survey.stops:
        origins = [origin for origin in marked.origins[start:end] if origin >= 0]
        halts.append(Halt(stop, min(origins, default=0), max(origins, default=-1) + 1))
    return AnswerHalts(
        unsupported=tuple(halt for halt in halts if halt.stop.rule != GateRule.VOICE),
        voice=tuple(halt for halt in halts if halt.stop.rule == GateRule.VOICE),
    )


def tally_answer(tally: AnswerTally, item: LabelledAnswer, halts: AnswerHalts) -> None:
    """Adds one answer, and of an unfaithful one each labelled span."""
    is_stopped = bool(halts.unsupported)
    if item["faithful"]:
        tally.faithful.add(is_stopped)
        tally.first_person.add(bool(halts.voice))
        return
    tally.unfaithful.add(is_stopped)
    for span in item["spans"]:
        is_hit = any(halt.has_overlap(span) for halt in halts.unsupported)
        tally.spans.add(is_hit)
        if span["kind"] in VALUE_KINDS:
            tally.value_spans.add(is_hit)
        if span["number_absent_lenient"]:
            tally.absent_numbers.add(is_hit)


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
    table: defaultdict[str, AnswerTally] = defaultdict(AnswerTally)
    rules = replace(load_gate_rules(), spelled_numbers=spelled)
    for item in read_labelled_answers(data):
        if mode == "wrong" and len(item["sources"]) < 2:  # the only source is never the wrong one
            continue
        halts = judge_answer(item, mode, rules)
        for key in _list_table_keys(item):
            tally_answer(table[key], item, halts)
        if _has_values(item):
            table["ALL"].with_values.add(bool(halts.unsupported))
        if listing:
            _print_mistakes(item, halts.unsupported)
    for key, tally in sorted(table.items()):
        print(_format_tally(key, tally))
    print("answers with values, stopped:", _format_share(table["ALL"].with_values))
    print(
        "not counted above: faithful answers in the first person (rule voice)",
        _format_share(table["ALL"].first_person),
    )


def _list_table_keys(item: LabelledAnswer) -> tuple[str, ...]:
    """The groups that an answer counts in."""
    dataset = (
        item["dataset"].partition("-")[0] if item["dataset"].startswith("summedits") else item["dataset"]
    )
    cross = "cross-language" if item["dataset"].endswith("xling") else "same language"
    return (dataset, "ALL", cross, f"lang:{item['lang']}")


def _has_values(item: LabelledAnswer) -> bool:
    return bool(read_values(item["response"], item["lang"], load_gate_rules().values).items)


def _format_tally(key: str, tally: AnswerTally) -> str:
    return (
        f"{key:16} false stops {_format_share(tally.faithful)} | unfaithful answers with a stop "
        f"{_format_share(tally.unfaithful)} | value spans hit {_format_share(tally.value_spans)} | "
        f"spans whose number is not in the source hit {_format_share(tally.absent_numbers)} | "
        f"all spans hit {_format_share(tally.spans)}"
    )


def _format_share(count: HitCount) -> str:
    if not count.total:
        return "  –  "
    return f"{100 * count.hits / count.total:5.1f}% ({count.hits}/{count.total})"


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
