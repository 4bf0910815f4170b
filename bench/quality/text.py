"""Text tables: sentences, markers, values, folding, voice, length; right of total by table and language.

`python -m bench quality text --data DIR`: DIR holds the JSONL tables, each row with its right value.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import click

from bench.quality.figures import HitCount
from bench.quality.rules import load_gate_rules
from indexes.text.folding import fold_text
from indexes.text.words import count_words
from proxy.gate import markers
from proxy.gate.endings import SentenceEndDetector
from proxy.gate.listing import ListNumberParser
from proxy.gate.sentence_language import BEGINNING_LEAD_POINTS, detect_sentence_language
from proxy.gate.sentences import SentenceScanner
from proxy.gate.values import find_missing_value, read_values
from proxy.gate.voice import find_first_person

TableRow = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class RowVerdict:
    """What one row should give, and what it gives."""

    expected: object
    actual: object

    @property
    def is_right(self) -> bool:
        return self.expected == self.actual


def check_sentences(row: TableRow) -> RowVerdict:
    """Stripped units."""
    return RowVerdict(row["sentences"], [unit.strip() for unit in _split_units(row)])


def check_ambiguous_sentences(row: TableRow) -> RowVerdict:
    """Number of units, where either cut can be defended."""
    return RowVerdict(row["true_sentences"], len(_split_units(row)))


def check_markers(row: TableRow) -> RowVerdict:
    """Markers and the text without them."""
    text = str(row["input"])
    found = markers.find_markers(text)
    numbers = [number for marker in found for number in marker.numbers]
    return RowVerdict([row["stripped"], row["markers"]], [markers.strip_markers(text, found), numbers])


def check_extracted_values(row: TableRow) -> RowVerdict:
    """Keys of the values, each once, and what is left over."""
    values = read_values(
        _strip_markup(str(row["text"])),
        _parse_tag(row["lang"]),
        load_gate_rules().values,
        is_line_start=False,
    )
    keys = sorted({value.key for value in values.items})
    leftover = [f"left:{values.leftover}"] if values.leftover else []
    expected = row["values"]
    assert isinstance(expected, list)
    return RowVerdict(sorted(set(expected)), [*keys, *leftover])


def check_value_match(row: TableRow) -> RowVerdict:
    """Whether the source holds what the answer says."""
    answer = read_values(
        _strip_markup(str(row["answer"])),
        _parse_tag(row.get("answer_lang")),
        load_gate_rules().values,
        is_line_start=False,
    )
    source = read_values(
        str(row["source"]), _parse_tag(row.get("source_lang")), load_gate_rules().values, is_source=True
    )
    return RowVerdict(
        row["grounded"],
        not (answer.leftover or answer.markup) and find_missing_value(answer, [source]) is None,
    )


def check_folding(row: TableRow) -> RowVerdict:
    """The form for matching."""
    return RowVerdict(row["expected"], fold_text(str(row["input"])))


def check_first_person(row: TableRow) -> RowVerdict:
    """Whether it is in the first person."""
    return RowVerdict(
        row["first_person"],
        bool(find_first_person(str(row["text"]), _parse_tag(row["lang"]), load_gate_rules().voices)),
    )


def check_length(row: TableRow) -> RowVerdict:
    """Length in words."""
    return RowVerdict(row["words"], count_words(str(row["text"])))


TABLES: Mapping[str, Callable[[TableRow], RowVerdict]] = {
    "segmentation": check_sentences,
    "segmentation_ambiguous": check_ambiguous_sentences,
    "markers": check_markers,
    "values_extract": check_extracted_values,
    "values_match": check_value_match,
    "normalisation": check_folding,
    "first_person": check_first_person,
    "length": check_length,
}


@click.command()
@click.option("--data", required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
def _measure_tables(data: Path) -> int:
    wrong = 0
    for name, check_row in TABLES.items():
        path = data / f"{name}.jsonl"
        if not path.exists():
            print(f"{name}: no {path}")
            continue
        counts = _measure_table(path, check_row)
        hits, total = sum(count.hits for count in counts.values()), sum(c.total for c in counts.values())
        wrong += 0 if name == "segmentation_ambiguous" else total - hits
        languages = " ".join(f"{tag} {count.hits}/{count.total}" for tag, count in sorted(counts.items()))
        print(f"{name:23}{hits:4}/{total:<4} {languages}")
    return 1 if wrong else 0


def _measure_table(path: Path, check_row: Callable[[TableRow], RowVerdict]) -> dict[str, HitCount]:
    """Right rows by language; prints each wrong one."""
    counts: defaultdict[str, HitCount] = defaultdict(HitCount)
    for row in _read_table_rows(path):
        tag = str(row.get("lang") or row.get("answer_lang") or "–")
        verdict = check_row(row)
        counts[tag].add(verdict.is_right)
        if not verdict.is_right:
            label = row.get("id") or row.get("text") or row.get("input") or row.get("answer")
            print(f"  {path.stem} {tag} {label!r}")
            print(f"    wanted {verdict.expected!r}\n    got    {verdict.actual!r}")
    return counts


def _read_table_rows(path: Path) -> Iterator[TableRow]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def _split_units(row: TableRow) -> list[str]:
    """Units that are not blank; fed whole, as every other cut gives the same (a property of the tests)."""
    rules = load_gate_rules()
    end_detector = SentenceEndDetector(rules.lexicons, str(row["lang"]), _detect_language)
    scanner = SentenceScanner(end_detector, rules.sentence_chars_max)
    units = [*scanner.feed(str(row["text"])), *scanner.finish()]
    return [unit.text for unit in units if unit.text.strip()]


def _strip_markup(text: str) -> str:
    """An answer as its values are read: without markers and without the number of a list."""
    return ListNumberParser(load_gate_rules().months).strip_list_number(
        markers.strip_markers(text, markers.find_markers(text)), is_line_start=True
    )


def _parse_tag(language: object) -> str | None:
    return str(language) if language else None


def _detect_language(text: str, default: str) -> str:
    return detect_sentence_language(text, default, load_gate_rules().words, BEGINNING_LEAD_POINTS)


def run(arguments: list[str]) -> int:
    """Exit 1 if a row with one right value is missed."""
    return int(_measure_tables.main(arguments, standalone_mode=False) or 0)
