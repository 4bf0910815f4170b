"""Runs golden cases through the real pipeline, one after the other, and grades what became of each."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from golden.cases import GoldenCase
from golden.grade import Grade, grade_case, grade_failure
from golden.outcome import CaseOutcome
from golden.report import Report
from proxy.domain.errors import FiadorError
from proxy.domain.types import Turn


class CaseRunner(Protocol):
    """The pipeline, as evaluation needs it. No model is called: it quotes, or plays the case's script."""

    async def run_case(self, case: GoldenCase) -> CaseOutcome:
        """Asks the question after its history, as its groups, at its instant. May raise `FiadorError`."""
        ...


async def evaluate_cases(
    cases: Sequence[GoldenCase], runner: CaseRunner, on_grade: Callable[[Grade], None] = lambda grade: None
) -> Report:
    """Grades every case; `on_grade` is called after each (progress). A pipeline that fails is one wrong case.

    A turn of a conversation gets the questions and the real answers before it as its history.
    """
    grades = []
    histories: dict[str, tuple[Turn, ...]] = {}
    for case in cases:
        asked = replace(case, history=histories.get(case.previous_id, case.history))
        grade = await _run_and_grade(asked, runner)
        answer = grade.outcome.answer if grade.outcome else ""
        histories[case.id] = (*asked.history, Turn("user", case.question), Turn("assistant", answer))
        grades.append(grade)
        on_grade(grade)
    return Report(tuple(grades))


async def _run_and_grade(case: GoldenCase, runner: CaseRunner) -> Grade:
    try:
        return grade_case(case, await runner.run_case(case))
    except FiadorError as fault:
        return grade_failure(case, f"{fault.text} {fault.detail}".strip())
