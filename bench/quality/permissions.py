"""Leaks: passages handed to someone outside their groups. There must be none, else the exit code is 1."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.quality.collection import (
    CollectionEntry,
    TextCollection,
    build_viewer,
    list_text_ids,
    open_collection,
)
from bench.quality.embedder import open_embedder
from bench.quality.sets import (
    LabelledQuestion,
    build_parser,
    choose_sample,
    read_json_lines,
    read_questions,
    read_texts,
)
from bench.quality.state import RunContext, RunState
from indexes.progress import show_progress

PUBLIC = frozenset({"public"})
"""Everyone's group, whatever others they have."""
PASSAGE_LIMIT = 8
"""Asked for in every way."""
WAYS = ("keywords", "dense", "hybrid")


@dataclass(frozen=True, slots=True)
class PermissionCase:
    """A question asked by someone of these groups."""

    id: str
    question: LabelledQuestion
    groups: frozenset[str]


@dataclass(frozen=True, slots=True)
class PermissionFigures:
    """What came of the cases, asked one way."""

    askers: int
    leaks: int
    """Answers that held a passage outside the asker's groups."""
    allowed: int
    """Cases whose asker may see a passage that answers."""
    found: int
    """Of these, those that found one."""


TextGroups = dict[str, frozenset[str]]
"""By text, the groups that may see it."""


def run(arguments: list[str]) -> int:
    """Prints the figures; 1 if anything leaked. With `--run FILE` one line a case, for the hybrid way."""
    options = build_parser("permissions").parse_args(arguments)
    folder = options.data / "permissions"
    groups = {row["id"]: frozenset(row["allow"]) for row in read_json_lines(folder / "acl.jsonl")}
    cases = _read_cases(folder / "queries.jsonl", options.language, options.sample)
    corpus = read_texts(options.data / "retrieval" / "corpus.jsonl")
    with show_progress() as progress, open_embedder(options, progress) as embedder:
        terms = (options.data.resolve(), options.sample, embedder.name)
        with RunState(options.cache, "permissions", terms) as state:
            context = RunContext(embedder, state, progress)
            for language in sorted({case.question.language for case in cases}):
                entries = [
                    CollectionEntry(text, groups[text.id]) for text in corpus if text.language == language
                ]
                language_cases = [case for case in cases if case.question.language == language]
                asyncio.run(_search_cases(language_cases, entries, context))
            rows = {case.id: state.rows[case.id] for case in cases}
    if options.run is not None:
        Path(options.run).write_text(
            "".join(_encode_case(case, rows[case.id]) for case in cases), encoding="utf-8"
        )
    figures = {way: judge_cases(cases, {id: row[way] for id, row in rows.items()}, groups) for way in WAYS}
    print("\n".join(_render_figures(figures)))
    return 1 if any(of_way.leaks for of_way in figures.values()) else 0


def _read_cases(path: Path, languages: Sequence[str] | None, sample: int | None) -> list[PermissionCase]:
    users = {row["id"]: [frozenset(user["groups"]) for user in row["users"]] for row in read_json_lines(path)}
    return [
        PermissionCase(f"{question.id}#{number}", question, groups)
        for question in choose_sample(read_questions(path), languages, sample)
        for number, groups in enumerate(users[question.id])
    ]


async def _search_cases(
    cases: Sequence[PermissionCase], entries: Sequence[CollectionEntry], context: RunContext
) -> None:
    """Adds a row to the state for every case that has none yet."""
    embedder, state = context.embedder, context.state
    todo = [case for case in cases if case.id not in state.rows]
    if not todo:
        return
    sources = frozenset(entry.text.dataset for entry in entries)
    async with open_collection(entries, embedder, context.progress) as collection:
        for done, case in enumerate(todo, start=1):
            vector = embedder.embed_query(case.question.text)
            state.add_row({"id": case.id, **await _search_as_asker(collection, case, vector, sources)})
            context.progress(f"{case.question.language}: {len(todo)} askers", done / len(todo))


async def _search_as_asker(
    collection: TextCollection, case: PermissionCase, vector: list[float], sources: frozenset[str]
) -> dict[str, list[str]]:
    """The ids of the first texts found, by way."""
    asker = build_viewer(case.groups | PUBLIC, sources)
    text = case.question.text
    return {
        "keywords": list_text_ids(await collection.search_keywords(text, asker, PASSAGE_LIMIT)),
        "dense": (await collection.search_vectors(vector, asker))[:PASSAGE_LIMIT],
        "hybrid": list_text_ids(await collection.search_hybrid(text, asker, PASSAGE_LIMIT)),
    }


def judge_cases(
    cases: Sequence[PermissionCase], found_ids: dict[str, list[str]], groups: TextGroups
) -> PermissionFigures:
    """Holds every answer (ids by case) against the access list (`groups`)."""
    leaks = allowed = answered = 0
    for case in cases:
        asker_groups = case.groups | PUBLIC
        visible = {id for id in (*found_ids[case.id], *case.question.gold) if groups[id] & asker_groups}
        leaks += not visible.issuperset(found_ids[case.id])
        allowed += bool(visible & case.question.gold)
        answered += bool(visible & case.question.gold & set(found_ids[case.id]))
    return PermissionFigures(len(cases), leaks, allowed, answered)


def _render_figures(figures: dict[str, PermissionFigures]) -> list[str]:
    lines = ["| way | askers | leaks | may see an answer | found it |", "|---|---|---|---|---|"]
    return lines + [
        f"| {way} | {f.askers} | {f.leaks} | {f.allowed} | {f.found} |" for way, f in figures.items()
    ]


def _encode_case(case: PermissionCase, row: dict[str, Any]) -> str:
    fields = {"id": case.question.id, "groups": sorted(case.groups), "ids": row["hybrid"]}
    return json.dumps(fields) + "\n"
