"""How well the similarity tells answerable questions from others: area under the curve, cuts."""

import asyncio
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from bench.quality.collection import Entry, opened, viewer
from bench.quality.embedder import remembered
from bench.quality.figures import Cut, auc, best_cut, cut
from bench.quality.refusal_sets import PLACES, Case, Plan, plan
from bench.quality.sets import Text, parser
from bench.quality.state import State
from bench.quality.vectors import Remembered
from indexes.progress import Progress, show_progress
from indexes.types import Evidence
from proxy.settings.languages import TAGS

WAYS = ("keywords", "hybrid")
EVERYONE = frozenset({"everyone"})
THRESHOLD = 0.35
"""The product's default."""
PASSAGES = 8
"""Handed over by default, hence judged."""

Scores = Mapping[str, Mapping[str, Any]]


def run(arguments: list[str]) -> int:
    """Prints the table; with `--run FILE` also one line a question, with all its scores."""
    asked = parser("refusal")
    asked.add_argument("--across", metavar="LANGUAGE", help="ask in the texts of this language")
    options = asked.parse_args(arguments)
    planned = plan(options.data, options.language, options.sample)
    planned = planned.over(options.across) if options.across else planned
    with show_progress() as progress, remembered(options, progress) as embedder:
        terms = (options.data.resolve(), options.sample, options.across, embedder.name, *_bands(embedder))
        with State(options.cache, "refusal", terms) as state:
            _run(planned, embedder, state, progress)
            found = {case.question.id: state.rows[case.question.id] for case in planned.cases}
    print("\n".join(table(planned.cases, found)))
    if options.run is not None:
        lines = [json.dumps({"id": id, "score": row["hybrid"]["best"], **row}) for id, row in found.items()]
        Path(options.run).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


def _bands(embedder: Remembered) -> Iterator[str]:
    """All that the card says of them: other bands are another run."""
    pairs = product((None, *TAGS), repeat=2)
    return (str(embedder.choose_band(asked, told)) for asked, told in pairs)


def _run(planned: Plan, embedder: Remembered, state: State, progress: Progress) -> None:
    languages = sorted({case.question.language for case in planned.cases})
    for language, place in product(languages, PLACES):
        todo = [case for case in planned.asked(language, place) if case.question.id not in state.rows]
        if todo:
            asyncio.run(_answer(todo, planned.corpus(language, place), embedder, (state, progress)))


async def _answer(
    todo: Sequence[Case], corpus: Sequence[Text], embedder: Remembered, told: tuple[State, Progress]
) -> None:
    state, progress = told
    async with opened([Entry(text, EVERYONE) for text in corpus], embedder, progress) as collection:
        for done, case in enumerate(todo, start=1):
            looker = viewer(EVERYONE, case.sources)
            keywords = await collection.keywords(case.question.text, looker, PASSAGES)
            hybrid = await collection.hybrid(case.question.text, looker, PASSAGES)
            state.add({"id": case.question.id, "keywords": _scores(keywords), "hybrid": _scores(hybrid)})
            progress(f"{case.question.language} {case.place}: {len(todo)} questions", done / len(todo))


def _scores(evidence: Evidence) -> dict[str, float | None]:
    """The similarity, and the two figures that it is the greater of."""
    return {
        "best": evidence.best_similarity,
        "cosine": max((hit.cosine for hit in evidence.hits if hit.cosine is not None), default=None),
        "coverage": max((hit.coverage for hit in evidence.hits), default=0.0),
    }


def table(cases: Sequence[Case], found: Scores) -> list[str]:
    """A Markdown table: one line a language, reason and way."""
    good: dict[tuple[str, str], list[str]] = defaultdict(list)
    bad: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for case in cases:
        question = case.question
        for language in (question.language, "*"):
            if question.reason is None:
                good[case.place, language].append(question.id)
            else:
                bad[case.place, question.reason, language].append(question.id)
    lines = [
        "| reason | language | answerable / not | way | AUC | best: kept / refused | .35: kept / refused |",
        "|---|---|---|---|---|---|---|",
    ]
    for (place, reason, language), ids in sorted(bad.items()):
        for way in WAYS if good[place, language] else ():
            passing = [found[id][way]["best"] for id in good[place, language]]
            failing = [found[id][way]["best"] for id in ids]
            size = f"{len(passing)} / {len(failing)}"
            lines.append(f"| {reason} | {language} | {size} | {way} | {_row(passing, failing)} |")
    return lines


def _row(passing: Sequence[float], failing: Sequence[float]) -> str:
    best, usual = best_cut(passing, failing), cut(passing, failing, THRESHOLD)
    return f"{auc(passing, failing):.3f} | {best.threshold:.2f}: {_shares(best)} | {_shares(usual)}"


def _shares(at: Cut) -> str:
    return f"{at.kept:.2f} / {at.refused:.2f}"
