"""Text tables: sentences, markers, values, folding, voice, length; right of total by table and language.

`python -m bench quality text --data DIR`: DIR holds the JSONL tables, each row with its right value.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import click

from bench.quality.rules import rules
from indexes.text.folding import fold_text
from indexes.text.words import count_words
from proxy.gate import markers
from proxy.gate.endings import Ends
from proxy.gate.listing import Listing
from proxy.gate.sentence_language import BEGINNING_LEAD, tongue
from proxy.gate.sentences import Scanner
from proxy.gate.values import missing, read
from proxy.gate.voice import first_person

Row = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Judged:
    """What one row came to."""

    wanted: object
    got: object

    @property
    def right(self) -> bool:
        return self.wanted == self.got


def sentences(row: Row) -> Judged:
    """Stripped units; fed whole, as every other cut gives the same (a property of the tests)."""
    scanner = Scanner(Ends(rules().lexicons, str(row["lang"]), _detect), 6_000)
    units = [*scanner.feed(str(row["text"])), *scanner.finish()]
    return Judged(row["sentences"], [u.text.strip() for u in units if u.text.strip()])


def ambiguous(row: Row) -> Judged:
    """Number of units, where either cut can be defended."""
    return Judged(row["true_sentences"], len(_units(row)))


def marked(row: Row) -> Judged:
    """Markers and the text without them."""
    found = markers.find(str(row["input"]))
    numbers = [n for m in found for n in m.numbers]
    return Judged([row["stripped"], row["markers"]], [markers.strip(str(row["input"]), found), numbers])


def extracted(row: Row) -> Judged:
    """Keys of the values, as a set."""
    found = read(_bare(str(row["text"])), _tag(row["lang"]), rules().values, line_start=False)
    keys = sorted({value.key for value in found.items})
    wanted = row["values"]
    assert isinstance(wanted, list)
    return Judged(sorted(set(wanted)), [*keys, *([f"left:{found.leftover}"] if found.leftover else [])])


def matched(row: Row) -> Judged:
    """Whether the source holds what the answer says."""
    answer = read(_bare(str(row["answer"])), _tag(row.get("answer_lang")), rules().values, line_start=False)
    source = read(str(row["source"]), _tag(row.get("source_lang")), rules().values, source=True)
    return Judged(
        row["grounded"], not (answer.leftover or answer.markup) and missing(answer, [source]) is None
    )


def folded(row: Row) -> Judged:
    """The form for matching."""
    return Judged(row["expected"], fold_text(str(row["input"])))


def spoken(row: Row) -> Judged:
    """Whether it is in the first person."""
    return Judged(
        row["first_person"], bool(first_person(str(row["text"]), _tag(row["lang"]), rules().voices))
    )


def measured(row: Row) -> Judged:
    """Length in words."""
    return Judged(row["words"], count_words(str(row["text"])))


TABLES: Mapping[str, Callable[[Row], Judged]] = {
    "segmentation": sentences,
    "segmentation_ambiguous": ambiguous,
    "markers": marked,
    "values_extract": extracted,
    "values_match": matched,
    "normalisation": folded,
    "first_person": spoken,
    "length": measured,
}


@click.command()
@click.option("--data", required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
def _command(data: Path) -> int:
    wrong = 0
    for name, judge in TABLES.items():
        path = data / f"{name}.jsonl"
        if not path.exists():
            print(f"{name}: no {path}")
            continue
        misses, total = _table(path, judge)
        wrong += 0 if name == "segmentation_ambiguous" else sum(misses.values())
        parts = " ".join(f"{tag} {n - misses[tag]}/{n}" for tag, n in sorted(total.items()))
        print(f"{name:23}{sum(total.values()) - sum(misses.values()):4}/{sum(total.values()):<4} {parts}")
    return 1 if wrong else 0


def _table(path: Path, judge: Callable[[Row], Judged]) -> tuple[Counter[str], Counter[str]]:
    misses: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for row in _rows(path):
        tag = str(row.get("lang") or row.get("answer_lang") or "–")
        total[tag] += 1
        judged = judge(row)
        if not judged.right:
            misses[tag] += 1
            shown = row.get("id") or row.get("text") or row.get("input") or row.get("answer")
            print(f"  {path.stem} {tag} {shown!r}\n    wanted {judged.wanted!r}\n    got    {judged.got!r}")
    return misses, total


def _rows(path: Path) -> Iterator[Row]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def _units(row: Row) -> list[str]:
    scanner = Scanner(Ends(rules().lexicons, str(row["lang"]), _detect), 6_000)
    return [u.text for u in [*scanner.feed(str(row["text"])), *scanner.finish()] if u.text.strip()]


def _bare(text: str) -> str:
    return Listing(rules().months).plain(markers.strip(text, markers.find(text)), opens=True)


def _tag(language: object) -> str | None:
    return str(language) if language else None


def _detect(text: str, default: str) -> str:
    return tongue(text, default, rules().words, BEGINNING_LEAD)


def run(arguments: list[str]) -> int:
    """Exit 1 if a row with one right value is missed."""
    return int(_command.main(arguments, standalone_mode=False) or 0)
