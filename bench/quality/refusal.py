"""How well the similarity tells answerable questions from others: area under the curve, cuts."""

import asyncio
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from bench.quality.collection import CollectionEntry, build_viewer, open_collection
from bench.quality.embedder import open_embedder
from bench.quality.figures import ThresholdCut, compute_auc, compute_cut, find_best_cut
from bench.quality.refusal_sets import COLLECTION_KINDS, RefusalCase, RefusalPlan, read_plan
from bench.quality.sets import LabelledText, build_parser
from bench.quality.state import RunContext, RunState
from bench.quality.vectors import CachedEmbedder
from indexes.progress import show_progress
from indexes.types import Evidence
from proxy.settings.languages import LANGUAGE_TAGS

WAYS = ("keywords", "hybrid")
EVERYONE = frozenset({"everyone"})
THRESHOLD = 0.35
"""The product's default."""
PASSAGE_LIMIT = 8
"""Handed over by default, hence judged."""

CaseScores = Mapping[str, Mapping[str, Any]]
"""By question, and by way what `_collect_scores` gives."""


def run(arguments: list[str]) -> int:
    """Prints the table; with `--run FILE` also one line a question, with all its scores."""
    parser = build_parser("refusal")
    parser.add_argument("--across", metavar="LANGUAGE", help="ask in the texts of this language")
    options = parser.parse_args(arguments)
    plan = read_plan(options.data, options.language, options.sample)
    plan = plan.build_cross_plan(options.across) if options.across else plan
    with show_progress() as progress, open_embedder(options, progress) as embedder:
        terms = (
            options.data.resolve(),
            options.sample,
            options.across,
            embedder.name,
            *_list_bands(embedder),
        )
        with RunState(options.cache, "refusal", terms) as state:
            _score_plan(plan, RunContext(embedder, state, progress))
            rows = {case.question.id: state.rows[case.question.id] for case in plan.cases}
    print("\n".join(render_refusal_table(plan.cases, rows)))
    if options.run is not None:
        lines = [json.dumps({"id": id, "score": row["hybrid"]["best"], **row}) for id, row in rows.items()]
        Path(options.run).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


def _list_bands(embedder: CachedEmbedder) -> Iterator[str]:
    """All bands of the model's card: other bands are another run."""
    pairs = product((None, *LANGUAGE_TAGS), repeat=2)
    return (
        str(embedder.choose_band(question_language, passage_language))
        for question_language, passage_language in pairs
    )


def _score_plan(plan: RefusalPlan, context: RunContext) -> None:
    """Adds a row to the state for every case that has none yet; a collection nobody asks in is not built."""
    languages = sorted({case.question.language for case in plan.cases})
    for language, collection_kind in product(languages, COLLECTION_KINDS):
        cases = plan.list_cases(language, collection_kind)
        todo = [case for case in cases if case.question.id not in context.state.rows]
        if todo:
            asyncio.run(_score_cases(todo, plan.select_corpus(language, collection_kind), context))


async def _score_cases(
    todo: Sequence[RefusalCase], corpus: Sequence[LabelledText], context: RunContext
) -> None:
    entries = [CollectionEntry(text, EVERYONE) for text in corpus]
    async with open_collection(entries, context.embedder, context.progress) as collection:
        for done, case in enumerate(todo, start=1):
            viewer = build_viewer(EVERYONE, case.sources)
            keywords = await collection.search_keywords(case.question.text, viewer, PASSAGE_LIMIT)
            hybrid = await collection.search_hybrid(case.question.text, viewer, PASSAGE_LIMIT)
            context.state.add_row(
                {
                    "id": case.question.id,
                    "keywords": _collect_scores(keywords),
                    "hybrid": _collect_scores(hybrid),
                }
            )
            step = f"{case.question.language} {case.collection_kind}: {len(todo)} questions"
            context.progress(step, done / len(todo))


def _collect_scores(evidence: Evidence) -> dict[str, float | None]:
    """The similarity, and the two figures that it is the greater of."""
    return {
        "best": evidence.best_similarity,
        "cosine": max((hit.cosine for hit in evidence.hits if hit.cosine is not None), default=None),
        "coverage": max((hit.coverage for hit in evidence.hits), default=0.0),
    }


def render_refusal_table(cases: Sequence[RefusalCase], scores: CaseScores) -> list[str]:
    """A Markdown table: one line a language, reason and way."""
    good: dict[tuple[str, str], list[str]] = defaultdict(list)
    bad: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for case in cases:
        question = case.question
        for language in (question.language, "*"):
            if question.reason is None:
                good[case.collection_kind, language].append(question.id)
            else:
                bad[case.collection_kind, question.reason, language].append(question.id)
    lines = [
        "| reason | language | answerable / not | way | AUC | best: kept / refused | .35: kept / refused |",
        "|---|---|---|---|---|---|---|",
    ]
    for (collection_kind, reason, language), ids in sorted(bad.items()):
        for way in WAYS if good[collection_kind, language] else ():
            passing = [scores[id][way]["best"] for id in good[collection_kind, language]]
            failing = [scores[id][way]["best"] for id in ids]
            size = f"{len(passing)} / {len(failing)}"
            lines.append(
                f"| {reason} | {language} | {size} | {way} | {_render_separation(passing, failing)} |"
            )
    return lines


def _render_separation(passing: Sequence[float], failing: Sequence[float]) -> str:
    best, default = find_best_cut(passing, failing), compute_cut(passing, failing, THRESHOLD)
    auc = compute_auc(passing, failing)
    return f"{auc:.3f} | {best.threshold:.2f}: {_render_cut(best)} | {_render_cut(default)}"


def _render_cut(cut: ThresholdCut) -> str:
    return f"{cut.kept_share:.2f} / {cut.refused_share:.2f}"
