"""The labelled sets, run whole on a few rows of our own: right figures, resumed runs, leaks seen."""

import json
from pathlib import Path
from typing import Any

import pytest

from bench.quality import permissions, refusal, refusal_sets, retrieval
from bench.quality.sets import LabelledQuestion, choose_sample
from bench.quality.state import RunState
from bench.quality.vectors import CachedEmbedder
from tests.indexes import tiny_model

CORPUS = [
    ("p1", "en", "Staff get 25 days of holiday a year.", "handbook", ["staff"]),
    ("p2", "en", "Bikes stand in the shed behind the house.", "handbook", ["public"]),
    ("p3", "en", "The bridge is painted green every spring.", "handbook", ["public"]),
    ("p4", "es", "El puente se pinta de verde cada primavera.", "manual", ["public"]),
    ("gone", "en", "Copper conducts heat and electricity.", "handbook", ["public"]),
]
QUESTIONS = [
    ("q1", "en", "How many days of holiday do staff get?", "handbook", ["p1"]),
    ("q2", "en", "Where is the bicycle?", "handbook", ["p2"]),
    ("q3", "es", "¿De qué color se pinta el puente?", "manual", ["p4"]),
]


def write_json_lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def make_question_row(id: str, language: str, text: str, dataset: str, **more: Any) -> dict[str, Any]:
    return {"id": id, "lang": language, "question": text, "dataset": dataset, "group": f"g-{id}", **more}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    data = tmp_path / "sets"
    corpus = [
        {"id": id, "lang": language, "title": "", "text": text, "dataset": dataset, "group": f"g-{id}"}
        for id, language, text, dataset, _ in CORPUS
    ]
    write_json_lines(data / "retrieval" / "corpus.jsonl", corpus)
    queries = [make_question_row(*row[:4], gold_ids_ok=row[4]) for row in QUESTIONS]
    write_json_lines(data / "retrieval" / "queries.jsonl", queries)
    off = make_question_row(
        "o1", "en", "What does a stamp cost?", "other", reason="off_corpus", against="all"
    )
    only = make_question_row(
        "o2", "en", "Where is the bicycle?", "x", reason="off_corpus", against="load only dataset=y of it"
    )
    write_json_lines(data / "refusal" / "off_corpus.jsonl", [off, only])
    removed = make_question_row("r1", "en", "What conducts heat?", "handbook", reason="article_removed")
    write_json_lines(data / "refusal" / "article_removed.jsonl", [removed])
    write_json_lines(data / "refusal" / "unanswerable.jsonl", [])
    near = make_question_row("n1", "en", "Which library is open?", "pool", answerable=False, pool_ids=["m1"])
    right = make_question_row("n2", "en", "Which interest is paid?", "pool", answerable=True, pool_ids=["m2"])
    write_json_lines(data / "refusal" / "near_miss_queries.jsonl", [near, right])
    pool = [
        {"id": id, "lang": "en", "title": "", "text": text, "dataset": "pool"}
        for id, text in (("m1", "A library lends books."), ("m2", "Interest is paid each quarter."))
    ]
    write_json_lines(data / "refusal" / "near_miss_corpus.jsonl", pool)
    (data / "refusal" / "removed_groups.json").write_text('["g-gone"]')
    write_json_lines(data / "permissions" / "acl.jsonl", [{"id": row[0], "allow": row[4]} for row in CORPUS])
    users = [{"groups": ["staff"]}, {"groups": []}]
    write_json_lines(data / "permissions" / "queries.jsonl", [{**queries[0], "users": users}])
    return data


@pytest.fixture
def options(data: Path, tmp_path: Path) -> list[str]:
    model = tiny_model.write_model(tmp_path / "model")
    return ["--data", str(data), "--model", str(model), "--cache", str(tmp_path / "cache")]


def test_retrieval_prints_a_line_a_way_and_data_set(
    options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run.jsonl"
    assert retrieval.run([*options, "--run", str(run)]) == 0
    out = capsys.readouterr().out
    assert "| en | handbook | 2 | hybrid | 1.000 | 1.000 | 1.000 | 1.000 |" in out
    assert "| es | manual | 1 | keywords | 1.000 |" in out
    assert "| * | * | 3 | dense |" in out
    rows = [json.loads(line) for line in run.read_text().splitlines()]
    assert {row["id"]: row["ids"][0] for row in rows} == {"q1": "p1", "q2": "p2", "q3": "p4"}


def test_one_language_alone_can_be_run(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    retrieval.run([*options, "--language", "es"])
    assert "handbook" not in capsys.readouterr().out


def test_refusal_sets_every_reason_against_its_own_collection(
    options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run.jsonl"
    assert refusal.run([*options, "--language", "en", "--run", str(run)]) == 0
    out = capsys.readouterr().out
    assert "| off_corpus | en | 2 / 2 | hybrid | 1.000 |" in out
    assert "| article_removed | en | 2 / 1 | hybrid | 1.000 |" in out
    assert "| near_miss | en | 1 / 1 |" in out
    scores = {row["id"]: row["score"] for row in map(json.loads, run.read_text().splitlines())}
    assert scores["o2"] == 0, "asked only where it has no passage, though one would answer elsewhere"


def test_a_removed_article_is_not_in_the_collection(data: Path) -> None:
    plan = refusal_sets.read_plan(data, None, None)
    assert {text.id for text in plan.select_corpus("en", "main")} == {"p1", "p2", "p3"}


def test_questions_can_be_asked_over_a_border_of_languages(data: Path) -> None:
    article = {"lang": "en", "title": "", "text": "The bridge is painted.", "dataset": "handbook"}
    with (data / "retrieval" / "corpus.jsonl").open("a") as corpus:
        corpus.write(json.dumps({"id": "p5", "group": "g-q3", **article}) + "\n")
    plan = refusal_sets.read_plan(data, None, None).build_cross_plan("en")
    assert [case.question.id for case in plan.cases] == ["q3"]
    assert {text.language for text in plan.select_corpus("es", "main")} == {"en"}


def test_permissions_finds_no_leak_and_says_what_was_reachable(
    options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert permissions.run(options) == 0
    assert "| hybrid | 2 | 0 | 1 | 1 |" in capsys.readouterr().out


def test_a_leak_is_seen() -> None:
    question = LabelledQuestion("q", "en", "?", "d", "g", frozenset({"secret"}))
    case = permissions.PermissionCase("q#0", question, frozenset())
    groups = {"secret": frozenset({"staff"}), "open": frozenset({"public"})}
    assert permissions.judge_cases([case], {"q#0": ["open", "secret"]}, groups).leaks == 1
    assert permissions.judge_cases([case], {"q#0": ["open"]}, groups).leaks == 0


def test_a_sample_is_even_over_languages_and_data_sets() -> None:
    pool = [LabelledQuestion(f"{tag}{i}", tag, "?", "d", "g") for tag in ("en", "es") for i in range(10)]
    assert [question.id for question in choose_sample(pool, None, 2)] == ["en0", "en5", "es0", "es5"]
    assert choose_sample(pool, ["es"], None) == pool[10:]


def interrupt_run(folder: Path, terms: list[str]) -> None:
    with RunState(folder, "part", terms) as state:
        state.add_row({"id": "a", "value": 1})
        raise KeyboardInterrupt


def test_a_run_broken_off_goes_on_where_it_stopped(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        interrupt_run(tmp_path, ["terms"])
    with RunState(tmp_path, "part", ["other terms"]) as other:
        assert other.rows == {}
    with RunState(tmp_path, "part", ["terms"]) as again:
        assert again.rows == {"a": {"id": "a", "value": 1}}
    with RunState(tmp_path, "part", ["terms"]) as done:
        assert done.rows == {}


def test_a_torn_last_line_is_passed_over(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        interrupt_run(tmp_path, [])
    (path,) = tmp_path.iterdir()
    path.write_text(path.read_text() + '{"id": "b", "val')
    with RunState(tmp_path, "part", []) as again:
        assert list(again.rows) == ["a"]


def test_vectors_once_made_need_no_model_again(tmp_path: Path) -> None:
    folder = tiny_model.write_model(tmp_path / "model")
    with CachedEmbedder(folder, tmp_path / "cache") as first:
        made = first.embed_passages(["leave", "heat"]), first.embed_query("leave")
    with CachedEmbedder(folder, tmp_path / "cache") as again:
        assert (again.embed_passages(["leave", "heat"]), again.embed_query("leave")) == made
        assert "_model" not in vars(again)
