"""Reads the labelled sets: passages, questions, and which of them to run."""

import json
from argparse import ArgumentParser
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from bench.quality.vectors import locate_cache_folder


@dataclass(frozen=True, slots=True)
class LabelledText:
    """A passage of a corpus."""

    id: str
    language: str
    title: str
    text: str
    dataset: str
    group: str
    """The article that it is part of; questions bear it too."""


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """A question. `reason` says why it cannot be answered; None: it can."""

    id: str
    language: str
    text: str
    dataset: str
    group: str
    gold: frozenset[str] = frozenset()
    """Ids of the passages that answer it; of a pool: of all passages judged for it."""
    reason: str | None = None


class _LabelledItem(Protocol):
    @property
    def language(self) -> str: ...
    @property
    def dataset(self) -> str: ...


LabelledT = TypeVar("LabelledT", bound=_LabelledItem)


def build_parser(part: str) -> ArgumentParser:
    """The options that all parts share."""
    options = ArgumentParser(prog=f"python -m bench quality {part}")
    options.add_argument("--data", type=Path, required=True, help="folder of the labelled sets")
    options.add_argument("--sample", type=int, help="at most this many questions a data set and language")
    options.add_argument("--language", action="append", help="only this language; may be repeated")
    options.add_argument(
        "--cache", type=Path, default=locate_cache_folder(), help="where vectors and state are kept"
    )
    options.add_argument(
        "--model", default="auto", help="model folder; `auto`: the default, built if need be"
    )
    options.add_argument("--run", type=Path, help="write one JSON line a question here")
    return options


def read_json_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The JSON objects of a file, one a line; `SystemExit` with file and line where one is not."""
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            try:
                yield json.loads(line)
            except ValueError as fault:
                raise SystemExit(f"{path}:{number}: not a JSON object ({fault})") from None


def read_json(path: Path) -> Any:
    """The JSON value of a file."""
    return json.loads(path.read_text("utf-8"))


def read_texts(path: Path) -> list[LabelledText]:
    """A corpus."""
    return [
        LabelledText(
            row["id"], row["lang"], row.get("title") or "", row["text"], row["dataset"], row.get("group", "")
        )
        for row in read_json_lines(path)
    ]


def read_questions(path: Path) -> list[LabelledQuestion]:
    """A file of questions, of any of the folders."""
    return [
        LabelledQuestion(
            id=row["id"],
            language=row["lang"],
            text=row["question"],
            dataset=row.get("dataset", "").split(" ")[0],
            group=row["group"],
            gold=frozenset(row.get("gold_ids_ok") or row.get("pool_ids") or ()),
            reason=None if row.get("answerable") else row.get("reason") or _derive_reason(row),
        )
        for row in read_json_lines(path)
    ]


def choose_sample(
    items: Iterable[LabelledT], languages: Sequence[str] | None, sample: int | None
) -> list[LabelledT]:
    """Those of `languages` (None: all), evenly thinned to `sample` a language and data set (None: all)."""
    groups: dict[Hashable, list[LabelledT]] = defaultdict(list)
    for item in items:
        if not languages or item.language in languages:
            groups[item.language, item.dataset].append(item)
    return [item for group in groups.values() for item in thin_evenly(group, sample)]


def thin_evenly(items: list[LabelledT], sample: int | None) -> list[LabelledT]:
    """At most `sample` of `items` (None: all), evenly spaced."""
    if sample is None or len(items) <= sample:
        return items
    return [items[i * len(items) // sample] for i in range(sample)]


def _derive_reason(row: dict[str, Any]) -> str | None:
    """Of a row that names none: near misses say only that they are not answerable."""
    return "near_miss" if row.get("answerable") is False else None
