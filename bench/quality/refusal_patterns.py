"""Layer 1 and the overview route: must-refuse questions, near misses, overview questions, latency.

`python -m bench quality refusal-patterns --data DIR`: DIR holds `refusal.jsonl`, rows of `lang, topic,
question, expect` (refuse, overview or answer), `near_miss`. The overview set is ours (`overview.toml`).
"""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from bench.quality.figures import HitCount
from bench.quality.patterns import (
    build_refuser,
    build_router,
    load_own_set,
    measure_cpu_ms,
    order_tags,
    render_markdown_table,
)
from proxy.guards.refusal.pack import RECORD_KINDS
from proxy.guards.refusal.refuser import QuestionRefuser
from proxy.guards.route import OverviewRouter

QUESTION_BYTES = 4_000
"""Length of the texts that latency is measured with."""
PatternQuestionRow = Mapping[str, str]


def run(arguments: list[str]) -> int:
    """Exit code 1 if a must-refuse question passes or a near miss is refused."""
    return int(main.main(args=arguments, prog_name="bench quality refusal-patterns", standalone_mode=False))


@click.command()
@click.option("--data", type=click.Path(exists=True, file_okay=False, path_type=Path), required=True)
def main(data: Path) -> int:
    rows = [json.loads(line) for line in (data / "refusal.jsonl").read_text("utf-8").splitlines()]
    names = [str(name) for name in load_own_set("overview")["names"]]
    refuser, router = build_refuser(names=names), build_router(names)
    wrong = count_wrong_refusals(rows, refuser)
    print_overviews(rows, refuser, router)
    print_latency([row["question"] for row in rows if row["expect"] != "refuse"], refuser)
    return 1 if wrong else 0


def count_wrong_refusals(rows: Sequence[PatternQuestionRow], refuser: QuestionRefuser) -> int:
    """Prints right of total by language; returns how many rows came out wrong."""
    wrong: list[PatternQuestionRow] = []
    counts: defaultdict[tuple[str, str], HitCount] = defaultdict(HitCount)
    for row in rows:
        is_right = (refuser.find_refusal(row["question"]) is not None) == (row["expect"] == "refuse")
        counts[row["lang"], row["expect"]].add(is_right)
        wrong += [] if is_right else [row]
    body = [
        [tag, *(_render_hit_count(counts[tag, expect]) for expect in ("refuse", "answer", "overview"))]
        for tag in order_tags(row["lang"] for row in rows)
    ]
    click.echo(
        render_markdown_table(
            ["language", "refused of must-refuse", "near misses spared", "overviews not refused"], body
        )
    )
    for row in wrong:
        click.echo(f"wrong: {row['lang']} {row['topic']} {row['expect']}: {row['question']}")
    return len(wrong)


def _render_hit_count(count: HitCount) -> str:
    return f"{count.hits}/{count.total}" if count.total else "–"


def print_overviews(
    rows: Sequence[PatternQuestionRow], refuser: QuestionRefuser, router: OverviewRouter
) -> None:
    """Our own overview set, and the overview rows of the given one."""
    body = []
    missed: list[str] = []
    for tag, part in load_own_set("overview").items():
        if tag == "names":
            continue
        own_questions = [(pair[0], pair[1]) for pair in part["overview"]]
        unrouted = [
            (kind, question)
            for kind, question in own_questions
            if not _is_routed(router, refuser, kind, question)
        ]
        look_alikes = [question for question in part["other"] if router.find_overview_kinds(question)]
        missed += [f"{tag} {kind}: {question}" for kind, question in unrouted]
        missed += [f"{tag} look-alike: {question}" for question in look_alikes]
        given = [row["question"] for row in rows if row["lang"] == tag and row["expect"] == "overview"]
        given_routed = sum(bool(router.find_overview_kinds(question)) for question in given)
        body.append(
            [
                tag,
                f"{len(own_questions) - len(unrouted)}/{len(own_questions)}",
                f"{len(look_alikes)}/{len(part['other'])}",
                f"{given_routed}/{len(given)}",
            ]
        )
    click.echo(
        "\n"
        + render_markdown_table(
            ["language", "own overviews routed", "look-alikes routed", "given overviews"], body
        )
    )
    for line in missed:
        click.echo(f"wrong: {line}")


def _is_routed(router: OverviewRouter, refuser: QuestionRefuser, kind: str, question: str) -> bool:
    """Whether a question is led to the overview of `kind`, and not refused before."""
    kinds = router.find_overview_kinds(question)
    wanted = set(RECORD_KINDS) if kind == "all" else {kind}
    return wanted <= kinds and refuser.find_refusal(question) is None


def print_latency(questions: Sequence[str], refuser: QuestionRefuser) -> None:
    """Layer 1 on 4 kB of questions in all languages, each text new; half of them to warm up."""
    ordinary = [
        question
        for tag, part in load_own_set("overview").items()
        if tag != "names"
        for question in part["other"]
    ]
    body = []
    for name, mixture in (("ordinary questions", ordinary), ("near misses only", questions)):
        texts = _build_long_texts(mixture)
        measure_cpu_ms(refuser.find_refusal, texts[::2])
        median, high = measure_cpu_ms(refuser.find_refusal, texts[1::2])
        body.append([f"4 kB of {name}", f"{median:.2f}", f"{high:.2f}"])
    median, high = measure_cpu_ms(refuser.find_refusal, list(questions))
    body.append(["one question", f"{median:.2f}", f"{high:.2f}"])
    click.echo(
        "\n" + render_markdown_table(["layer 1, patterns of all languages", "median CPU ms", "p95"], body)
    )


def _build_long_texts(questions: Sequence[str], count: int = 200) -> list[str]:
    """Texts of 4 kB out of whole questions, each in another order."""
    texts = []
    for turn in range(count):
        step = 2 * turn + 1
        text, index = "", turn
        while len(text.encode()) < QUESTION_BYTES:
            text += questions[index % len(questions)] + " "
            index += step
        texts.append(text)
    return texts
