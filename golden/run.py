"""Runs golden cases through the real pipeline, one after the other, and grades what became of each."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from golden.cases import Case
from golden.grade import Grade, failed, grade
from golden.outcome import Outcome
from golden.report import Report
from proxy.domain.errors import FiadorError
from proxy.domain.types import Turn


class Runner(Protocol):
    """The pipeline, as evaluation needs it. No model is called: it quotes, or plays the case's script."""

    async def run(self, case: Case) -> Outcome:
        """Asks the question after its history, as its groups, at its instant. May raise `FiadorError`."""
        ...


async def evaluate(
    cases: Sequence[Case], runner: Runner, seen: Callable[[Grade], None] = lambda grade: None
) -> Report:
    """Grades every case; `seen` is called after each (progress). A pipeline that fails is one wrong case.

    A turn of a conversation gets the questions and the real answers before it as its history.
    """
    grades = []
    talks: dict[str, tuple[Turn, ...]] = {}
    for case in cases:
        asked = replace(case, history=talks.get(case.follows, case.history))
        graded = await _graded(asked, runner)
        answer = graded.outcome.answer if graded.outcome else ""
        talks[case.id] = (*asked.history, Turn("user", case.question), Turn("assistant", answer))
        grades.append(graded)
        seen(graded)
    return Report(tuple(grades))


async def _graded(case: Case, runner: Runner) -> Grade:
    try:
        return grade(case, await runner.run(case))
    except FiadorError as fault:
        return failed(case, f"{fault.text} {fault.detail}".strip())
