"""recall@k of keywords alone, vectors alone and both fused, in one collection a language."""

import asyncio
import json
from argparse import Namespace
from collections import defaultdict
from collections.abc import Mapping, Sequence
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
from bench.quality.figures import Ranking, compute_ranking, find_rank
from bench.quality.sets import (
    LabelledQuestion,
    LabelledText,
    build_parser,
    choose_sample,
    read_questions,
    read_texts,
)
from bench.quality.state import RunContext, RunState
from bench.quality.vectors import CachedEmbedder
from indexes.progress import show_progress

WAYS = ("keywords", "dense", "hybrid")
EVERYONE = frozenset({"everyone"})
IDS_KEPT = 10


def run(arguments: list[str]) -> int:
    """Prints the table; with `--run FILE` also one line a question, for the hybrid way."""
    options = build_parser("retrieval").parse_args(arguments)
    questions = choose_sample(
        read_questions(options.data / "retrieval" / "queries.jsonl"), options.language, options.sample
    )
    corpus = read_texts(options.data / "retrieval" / "corpus.jsonl")
    with show_progress() as progress, open_embedder(options, progress) as embedder:
        terms = (options.data.resolve(), options.sample, embedder.name)
        with RunState(options.cache, "retrieval", terms) as state:
            context = RunContext(embedder, state, progress)
            for language in sorted({question.language for question in questions}):
                language_questions = [question for question in questions if question.language == language]
                language_texts = [text for text in corpus if text.language == language]
                asyncio.run(_search_questions(language_questions, language_texts, context))
            rows = {question.id: state.rows[question.id] for question in questions}
    print("\n".join(render_recall_table(questions, rows)))
    _write_run_file(options, rows)
    return 0


async def _search_questions(
    questions: Sequence[LabelledQuestion],
    corpus: Sequence[LabelledText],
    context: RunContext,
) -> None:
    """Adds a row to the state for every question that has none yet."""
    embedder, state = context.embedder, context.state
    todo = [question for question in questions if question.id not in state.rows]
    if not todo:
        return
    entries = [CollectionEntry(text, EVERYONE) for text in corpus]
    async with open_collection(entries, embedder, context.progress) as collection:
        for done, question in enumerate(todo, start=1):
            state.add_row(
                {"id": question.id, **await _search_each_way(collection, question, embedder, corpus)}
            )
            context.progress(f"{question.language}: {len(todo)} questions", done / len(todo))


async def _search_each_way(
    collection: TextCollection,
    question: LabelledQuestion,
    embedder: CachedEmbedder,
    corpus: Sequence[LabelledText],
) -> dict[str, list[str]]:
    """The ids of the first `IDS_KEPT` texts by way."""
    viewer = build_viewer(EVERYONE, frozenset(text.dataset for text in corpus))
    ids_by_way = {
        "keywords": list_text_ids(await collection.search_keywords(question.text, viewer)),
        "dense": await collection.search_vectors(embedder.embed_query(question.text), viewer),
        "hybrid": list_text_ids(await collection.search_hybrid(question.text, viewer)),
    }
    return {way: ids[:IDS_KEPT] for way, ids in ids_by_way.items()}


def render_recall_table(
    questions: Sequence[LabelledQuestion], found_ids: Mapping[str, Mapping[str, Sequence[str]]]
) -> list[str]:
    """A Markdown table: one line a language and data set, a language, and over all."""
    groups: dict[tuple[str, str], list[LabelledQuestion]] = defaultdict(list)
    for question in questions:
        for key in ((question.language, question.dataset), (question.language, "*"), ("*", "*")):
            groups[key].append(question)
    # A language of one data set has no line of its own: it would say the same again.
    several = {key[0] for key in groups if sum(other[0] == key[0] for other in groups) > 2}
    kept = [key for key in sorted(groups) if key[1] != "*" or key[0] in several or key[0] == "*"]
    head = [
        "| language | data set | questions | way | recall@1 | @5 | @10 | MRR |",
        "|---|---|---|---|---|---|---|---|",
    ]
    return head + [line for key in kept for line in _render_ways(key, groups[key], found_ids)]


def _render_ways(
    key: tuple[str, str],
    questions: Sequence[LabelledQuestion],
    found_ids: Mapping[str, Mapping[str, Sequence[str]]],
) -> list[str]:
    figures = {
        way: compute_ranking(
            [find_rank(found_ids[question.id][way], question.gold) for question in questions]
        )
        for way in WAYS
    }
    return [
        f"| {key[0]} | {key[1]} | {len(questions)} | {way} | {_render_ranking(figures[way])} |"
        for way in WAYS
    ]


def _render_ranking(figures: Ranking) -> str:
    return " | ".join(f"{value:.3f}" for value in (*figures.recall.values(), figures.mrr))


def _write_run_file(options: Namespace, rows: Mapping[str, Mapping[str, Any]]) -> None:
    if options.run is not None:
        lines = [json.dumps({"id": id, "ids": row["hybrid"]}) for id, row in rows.items()]
        Path(options.run).write_text("\n".join(lines) + "\n", encoding="utf-8")
