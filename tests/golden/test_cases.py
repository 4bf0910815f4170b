"""The golden case is read strictly: what is wrong is named with its file and line, all of it at once."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from golden.cases import load_cases, parse_cases, select_servable
from proxy.domain.errors import ConfigError
from proxy.domain.types import Turn

CASE = "- {id: a, question: Why, model: help, expect: answered"


def collect_case_faults(text: str) -> tuple[str, ...]:
    with pytest.raises(ConfigError) as fault:
        parse_cases(text, "set.yaml")
    return fault.value.faults


def test_every_field_arrives() -> None:
    (case,) = parse_cases(
        """
- id: plans
  question: What does it cost?
  model: help
  language: en
  history: [{user: Hello}, {assistant: Good day}]
  as_user: {groups: [staff]}
  at: 2024-06-01
  expect: [answered, stopped]
  rule: values
  expect_source: tolva/prices/plans.md
  expect_answer_contains: ["12.50"]
  expect_answer_lacks: ["9.90"]
  script: ["It costs ", "12.50 "]
""",
        "set.yaml",
    )
    assert case.location == "set.yaml:2"
    assert case.history == (Turn("user", "Hello"), Turn("assistant", "Good day"))
    assert case.groups == frozenset({"staff"})
    assert case.at == datetime(2024, 6, 1, tzinfo=UTC)
    assert case.expect == ("answered", "stopped")
    assert case.expect_source == ("tolva/prices/plans.md",)
    assert case.script == ("It costs ", "12.50 ")
    assert not case.expects_refusal


def test_defaults_hold_where_a_case_says_nothing() -> None:
    one, two = parse_cases(
        "defaults: {model: help, language: en}\n"
        "cases:\n- {id: a, question: Why, expect: refused}\n"
        "- {id: b, question: Why, expect: refused, language: es}\n",
        "set.yaml",
    )
    assert (one.model, one.language, two.language) == ("help", "en", "es")
    assert one.expects_refusal


def test_a_conversation_becomes_one_case_a_turn() -> None:
    one, two = parse_cases(
        "- id: talk\n  model: person\n  turns:\n"
        "  - {question: What, expect: records}\n  - {question: And, expect: refused, topic: fees}\n",
        "set.yaml",
    )
    assert (one.id, two.id, two.previous_id, two.topic) == ("talk/1", "talk/2", "talk/1", "fees")
    assert two.location == "set.yaml:5"
    assert one.model == two.model == "person"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (CASE + ",\n   expected: x}", "set.yaml:2: expected: unknown key"),
        (CASE + ",\n   history: hello}", "set.yaml:2: history: "),
        (CASE + ", language: 5}", "set.yaml:1: language: "),
        (CASE + ", topic: fees}", "set.yaml:1: `topic` goes with `expect: refused`"),
        (CASE + ", rule: values}", "set.yaml:1: `rule` goes with"),
        (CASE + ", at: 2024-02-31}", "set.yaml:1: not YAML"),
        (CASE + ", id: b}", "set.yaml:1: `id` is said twice"),
        (CASE + ", history: [{user: a, assistant: b}]}", "set.yaml:1: history: want either"),
        ("- {id: a, question: Why, expect: answered}", "set.yaml:1: want `model`"),
        ("- {id: a, model: help, expect: answered}", "set.yaml:1: question: is needed"),
        ("- {id: a, model: help, question: Why, expect: yes}", "set.yaml:1: expect: "),
        ("- {id: a, model: help, question: W, expect: stopped, rule: x}", "want a rule of the gate"),
        ("- {id: a, model: help, question: W, expect: refused, expect_answer_contains: b}", "a fixed text"),
        ("- hello", "set.yaml:1: want a case, got str"),
        ("cases: 5", "set.yaml:1: want a list of cases, got int"),
        ("case: []", "set.yaml:1: case: unknown key"),
        ("defaults: {modell: help}\ncases: []", "set.yaml:1: modell: unknown key"),
        ("- [", "not YAML"),
        ("", "want a list of cases"),
    ],
)
def test_a_fault_names_line_key_and_what_was_wanted(text: str, said: str) -> None:
    assert said in collect_case_faults(text)[0]


def test_all_faults_come_at_once() -> None:
    assert len(collect_case_faults(CASE + ", x: 1}\n" + CASE + ", y: 1, z: 2}\n")) == 3


def test_an_id_stands_once_over_all_files(tmp_path: Path) -> None:
    for name in ("one.yaml", "two.yaml"):
        (tmp_path / name).write_text(CASE + "}")
    with pytest.raises(ConfigError, match=r"two\.yaml:1: id: `a` stands already at .*one\.yaml:1"):
        load_cases([tmp_path])


def test_what_needs_meaning_is_left_out_where_there_is_none() -> None:
    cases = parse_cases(f"{CASE}, needs: meaning}}\n{CASE.replace('a', 'b', 1)}}}", "set.yaml")
    assert len(select_servable(cases, has_meaning=True)) == 2
    assert [case.needs for case in select_servable(cases, has_meaning=False)] == [""]


@pytest.mark.parametrize("name", ["", "missing.yaml"])
def test_nothing_to_run_is_a_fault(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError):
        load_cases([tmp_path / name])
