"""recall@k of keywords alone, vectors alone and both fused, in one collection a language."""

import asyncio
import json
from argparse import Namespace
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.quality.collection import Collection, Entry, opened, texts_of, viewer
from bench.quality.embedder import remembered
from bench.quality.figures import Ranking, rank, ranking
from bench.quality.sets import Question, Text, chosen, parser, questions, texts
from bench.quality.state import State
from bench.quality.vectors import Remembered
from indexes.progress import Progress, show_progress

WAYS = ("keywords", "dense", "hybrid")
EVERYONE = frozenset({"everyone"})
KEPT = 10


def run(arguments: list[str]) -> int:
    """Prints the table; with `--run FILE` also one line a question, for the hybrid way."""
    options = parser("retrieval").parse_args(arguments)
    asked = chosen(questions(options.data / "retrieval" / "queries.jsonl"), options.language, options.sample)
    corpus = texts(options.data / "retrieval" / "corpus.jsonl")
    with show_progress() as progress, remembered(options, progress) as embedder:
        terms = (options.data.resolve(), options.sample, embedder.name)
        with State(options.cache, "retrieval", terms) as state:
            for language in sorted({question.language for question in asked}):
                own = [question for question in asked if question.language == language]
                told = [text for text in corpus if text.language == language]
                asyncio.run(_answer(own, told, embedder, (state, progress)))
            found = {question.id: state.rows[question.id] for question in asked}
    print("\n".join(table(asked, found)))
    _write(options, found)
    return 0


async def _answer(
    asked: Sequence[Question], corpus: Sequence[Text], embedder: Remembered, told: tuple[State, Progress]
) -> None:
    state, progress = told
    todo = [question for question in asked if question.id not in state.rows]
    if not todo:
        return
    entries = [Entry(text, EVERYONE) for text in corpus]
    async with opened(entries, embedder, progress) as collection:
        for done, question in enumerate(todo, start=1):
            state.add({"id": question.id, **await _ways(collection, question, embedder, corpus)})
            progress(f"{question.language}: {len(todo)} questions", done / len(todo))


async def _ways(
    collection: Collection, question: Question, embedder: Remembered, corpus: Sequence[Text]
) -> dict[str, list[str]]:
    looker = viewer(EVERYONE, frozenset(text.dataset for text in corpus))
    found = {
        "keywords": texts_of(await collection.keywords(question.text, looker)),
        "dense": await collection.dense(embedder.embed_query(question.text), looker),
        "hybrid": texts_of(await collection.hybrid(question.text, looker)),
    }
    return {way: ids[:KEPT] for way, ids in found.items()}


def table(asked: Sequence[Question], found: Mapping[str, Mapping[str, Sequence[str]]]) -> list[str]:
    """A Markdown table: one line a language and data set, a language, and over all."""
    groups: dict[tuple[str, str], list[Question]] = defaultdict(list)
    for question in asked:
        for key in ((question.language, question.dataset), (question.language, "*"), ("*", "*")):
            groups[key].append(question)
    several = {key[0] for key in groups if sum(other[0] == key[0] for other in groups) > 2}
    kept = [key for key in sorted(groups) if key[1] != "*" or key[0] in several or key[0] == "*"]
    head = [
        "| language | data set | questions | way | recall@1 | @5 | @10 | MRR |",
        "|---|---|---|---|---|---|---|---|",
    ]
    return head + [line for key in kept for line in _lines(key, groups[key], found)]


def _lines(
    key: tuple[str, str], asked: Sequence[Question], found: Mapping[str, Mapping[str, Sequence[str]]]
) -> list[str]:
    figures = {
        way: ranking([rank(found[question.id][way], question.gold) for question in asked]) for way in WAYS
    }
    return [f"| {key[0]} | {key[1]} | {len(asked)} | {way} | {_row(figures[way])} |" for way in WAYS]


def _row(figures: Ranking) -> str:
    return " | ".join(f"{value:.3f}" for value in (*figures.recall.values(), figures.mrr))


def _write(options: Namespace, found: Mapping[str, Mapping[str, Any]]) -> None:
    if options.run is not None:
        rows = [json.dumps({"id": id, "ids": row["hybrid"]}) for id, row in found.items()]
        Path(options.run).write_text("\n".join(rows) + "\n", encoding="utf-8")
