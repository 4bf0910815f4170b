"""Leaks: passages handed to someone outside their groups. There must be none, else the exit code is 1."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.quality.collection import Collection, Entry, opened, texts_of, viewer
from bench.quality.embedder import remembered
from bench.quality.sets import Question, chosen, parser, questions, rows, texts
from bench.quality.state import State
from bench.quality.vectors import Remembered
from indexes.progress import Progress, show_progress

PUBLIC = frozenset({"public"})
"""Everyone's group, whatever others they have."""
PASSAGES = 8
WAYS = ("keywords", "dense", "hybrid")


@dataclass(frozen=True, slots=True)
class Case:
    """A question asked by someone of these groups."""

    id: str
    question: Question
    groups: frozenset[str]


@dataclass(frozen=True, slots=True)
class Figures:
    """What came of the cases, asked one way."""

    runs: int
    leaks: int
    """Answers that held a passage outside the asker's groups."""
    allowed: int
    """Cases whose asker may see a passage that answers."""
    found: int
    """Of these, those that found one."""


Groups = dict[str, frozenset[str]]


def run(arguments: list[str]) -> int:
    """Prints the figures; 1 if anything leaked. With `--run FILE` one line a case, for the hybrid way."""
    options = parser("permissions").parse_args(arguments)
    folder = options.data / "permissions"
    groups = {row["id"]: frozenset(row["allow"]) for row in rows(folder / "acl.jsonl")}
    cases = _cases(folder / "queries.jsonl", options.language, options.sample)
    corpus = texts(options.data / "retrieval" / "corpus.jsonl")
    with show_progress() as progress, remembered(options, progress) as embedder:
        terms = (options.data.resolve(), options.sample, embedder.name)
        with State(options.cache, "permissions", terms) as state:
            for language in sorted({case.question.language for case in cases}):
                entries = [Entry(text, groups[text.id]) for text in corpus if text.language == language]
                own = [case for case in cases if case.question.language == language]
                asyncio.run(_answer(own, entries, embedder, (state, progress)))
            found = {case.id: state.rows[case.id] for case in cases}
    if options.run is not None:
        Path(options.run).write_text("".join(_line(case, found[case.id]) for case in cases), encoding="utf-8")
    figures = {way: judged(cases, {id: row[way] for id, row in found.items()}, groups) for way in WAYS}
    print("\n".join(_table(figures)))
    return 1 if any(one.leaks for one in figures.values()) else 0


def _cases(path: Path, languages: Sequence[str] | None, sample: int | None) -> list[Case]:
    users = {row["id"]: [frozenset(user["groups"]) for user in row["users"]] for row in rows(path)}
    return [
        Case(f"{question.id}#{number}", question, groups)
        for question in chosen(questions(path), languages, sample)
        for number, groups in enumerate(users[question.id])
    ]


async def _answer(
    cases: Sequence[Case], entries: Sequence[Entry], embedder: Remembered, told: tuple[State, Progress]
) -> None:
    state, progress = told
    todo = [case for case in cases if case.id not in state.rows]
    if not todo:
        return
    sources = frozenset(entry.text.dataset for entry in entries)
    async with opened(entries, embedder, progress) as collection:
        for done, case in enumerate(todo, start=1):
            vector = embedder.embed_query(case.question.text)
            state.add({"id": case.id, **await _ways(collection, case, vector, sources)})
            progress(f"{case.question.language}: {len(todo)} askers", done / len(todo))


async def _ways(
    collection: Collection, case: Case, vector: list[float], sources: frozenset[str]
) -> dict[str, list[str]]:
    asker = viewer(case.groups | PUBLIC, sources)
    text = case.question.text
    return {
        "keywords": texts_of(await collection.keywords(text, asker, PASSAGES)),
        "dense": (await collection.dense(vector, asker))[:PASSAGES],
        "hybrid": texts_of(await collection.hybrid(text, asker, PASSAGES)),
    }


def judged(cases: Sequence[Case], found: dict[str, list[str]], groups: Groups) -> Figures:
    """Holds every answer against the access list."""
    leaks = allowed = right = 0
    for case in cases:
        asker = case.groups | PUBLIC
        open_to = {id for id in (*found[case.id], *case.question.gold) if groups[id] & asker}
        leaks += not open_to.issuperset(found[case.id])
        allowed += bool(open_to & case.question.gold)
        right += bool(open_to & case.question.gold & set(found[case.id]))
    return Figures(len(cases), leaks, allowed, right)


def _table(figures: dict[str, Figures]) -> list[str]:
    lines = ["| way | askers | leaks | may see an answer | found it |", "|---|---|---|---|---|"]
    return lines + [
        f"| {way} | {f.runs} | {f.leaks} | {f.allowed} | {f.found} |" for way, f in figures.items()
    ]


def _line(case: Case, row: dict[str, Any]) -> str:
    told = {"id": case.question.id, "groups": sorted(case.groups), "ids": row["hybrid"]}
    return json.dumps(told) + "\n"
