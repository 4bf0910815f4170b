"""A run feeds real answers forward, survives a failing pipeline, and reports figures apart."""

import json

from golden.cases import GoldenCase, parse_cases
from golden.grade import Figure
from golden.outcome import CaseOutcome
from golden.report import Report, build_report_data, render_report
from golden.run import evaluate_cases
from proxy.domain.errors import StoreError
from proxy.domain.types import Decision, Turn
from tests.golden.case_builders import make_case, make_outcome


class EchoRunner:
    """Answers with the question's own words; `silent` ids raise."""

    def __init__(self, *silent: str):
        self.asked_cases: list[GoldenCase] = []
        self._silent = silent

    async def run_case(self, case: GoldenCase) -> CaseOutcome:
        self.asked_cases.append(case)
        if case.id in self._silent:
            raise StoreError("the store is gone")
        return make_outcome(answer=f"about {case.question}")


async def test_a_turn_follows_the_answers_really_given() -> None:
    turns = (
        "[{question: A, expect: answered}, {question: B, expect: answered}, {question: C, expect: answered}]"
    )
    cases = parse_cases(f"- {{id: talk, model: help, turns: {turns}}}", "set.yaml")
    parrot = EchoRunner()
    await evaluate_cases(cases, parrot)
    assert parrot.asked_cases[2].history == (
        Turn("user", "A"),
        Turn("assistant", "about A"),
        Turn("user", "B"),
        Turn("assistant", "about B"),
    )


async def test_a_written_history_stays_as_it_is() -> None:
    parrot = EchoRunner()
    await evaluate_cases([make_case(history=(Turn("user", "Hello"),))], parrot)
    assert parrot.asked_cases[0].history == (Turn("user", "Hello"),)


async def test_a_failing_pipeline_is_one_wrong_case() -> None:
    report = await evaluate_cases([make_case(id="a"), make_case(id="b")], EchoRunner("a"))
    assert [grade.is_right for grade in report.grades] == [False, True]
    assert report.exit_code == 1


async def test_progress_is_told_case_by_case() -> None:
    told: list[str] = []
    await evaluate_cases(
        [make_case(id="a"), make_case(id="b")], EchoRunner(), lambda grade: told.append(grade.case.id)
    )
    assert told == ["a", "b"]


async def evaluate_mixed_cases() -> Report:
    return await evaluate_cases(
        [
            make_case(id="a"),
            make_case("refused", id="b", language="es"),
            make_case(id="c", contains=("nine",)),
        ],
        EchoRunner(),
    )


async def test_figures_are_counted_apart_and_per_language() -> None:
    report = await evaluate_mixed_cases()
    assert str(report.count_right(Figure.ANSWERED)) == "2/2"
    assert str(report.count_right(Figure.REFUSED)) == "0/1"
    assert str(report.count_right(Figure.REFUSED, "en")) == "–"
    assert str(report.count_right(Figure.PERMISSIONS, "es")) == "1/1"


async def test_the_text_explains_every_fault_and_shows_every_figure() -> None:
    said = render_report(await evaluate_mixed_cases())
    assert "✗ b (): Why?\n    refused: want refused, got answered" in said
    assert "want 'nine' in the answer" in said
    assert "2 of 3 cases are wrong" in said
    assert all(figure.value in said for figure in Figure)


async def test_the_data_says_the_same_and_is_json() -> None:
    said = json.loads(json.dumps(build_report_data(await evaluate_mixed_cases())))
    assert said["figures"]["refused"] == {"all": {"right": 0, "total": 1}, "es": {"right": 0, "total": 1}}
    assert [fault["id"] for fault in said["faults"]] == ["b", "c"]
    assert not said["passed"]


async def test_all_right_passes() -> None:
    report = await evaluate_cases([make_case()], EchoRunner())
    assert report.has_passed
    assert report.exit_code == 0
    assert render_report(report).endswith("all 1 cases are right")


async def test_a_refusal_by_decision_is_right() -> None:
    class RefusingRunner:
        async def run_case(self, case: GoldenCase) -> CaseOutcome:
            return make_outcome(Decision.REFUSED, topic="fees")

    assert (await evaluate_cases([make_case("refused", topic="fees")], RefusingRunner())).has_passed
