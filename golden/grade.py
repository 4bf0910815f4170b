"""Grades what became of a case, figure by figure, each fault in words. Pure; never raises."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from golden.cases import GoldenCase
from golden.outcome import CaseOutcome, HandedSource
from indexes.text.folding import fold_text
from proxy.domain.types import Decision

RECALL_RANK = 5
"""Below the default of eight sources: among a few dozen passages, eight would flatter the search."""


class Figure(StrEnum):
    """What is counted, each apart: one sum over all would hide a leak behind good answers."""

    RETRIEVAL = "retrieval"  # an expected source was handed over
    RECALL = "recall@5"  # … among the first five
    ANSWER = "answer"  # the text says what it must and cites an expected source
    REFUSED = "refused"  # what must be refused was, by the right layer and without a call
    ANSWERED = "not refused"  # what has an answer was not refused
    OVERVIEW = "overview"  # a question about the whole went to the records
    PERMISSIONS = "permissions"  # nothing outside the caller's groups or its validity was handed over


@dataclass(frozen=True, slots=True)
class FigureVerdict:
    """One figure of one case; `fault` is "" when it is right."""

    figure: Figure
    fault: str = ""

    @property
    def is_right(self) -> bool:
        return not self.fault


@dataclass(frozen=True, slots=True)
class Grade:
    """A case with what became of it and the verdicts on it."""

    case: GoldenCase
    outcome: CaseOutcome | None
    """None: the pipeline failed."""
    verdicts: tuple[FigureVerdict, ...]

    @property
    def is_right(self) -> bool:
        return all(verdict.is_right for verdict in self.verdicts)


def grade_case(case: GoldenCase, outcome: CaseOutcome) -> Grade:
    """Every figure that `case` has an expectation for."""
    return Grade(case, outcome, tuple(_iterate_verdicts(case, outcome)))


def grade_failure(case: GoldenCase, fault: str) -> Grade:
    """The pipeline raised: wrong in whatever the case was about."""
    return Grade(case, None, (FigureVerdict(_choose_decision_figure(case), f"the pipeline failed: {fault}"),))


def _iterate_verdicts(case: GoldenCase, outcome: CaseOutcome) -> Iterator[FigureVerdict]:
    yield FigureVerdict(_choose_decision_figure(case), _find_decision_fault(case, outcome))
    yield FigureVerdict(Figure.PERMISSIONS, _find_permission_fault(case, outcome))
    if case.expect_source:
        yield FigureVerdict(Figure.RETRIEVAL, _find_retrieval_fault(case, outcome))
        yield FigureVerdict(Figure.RECALL, _find_retrieval_fault(case, outcome, RECALL_RANK))
    if case.contains or case.lacks or _needs_citation(case, outcome):
        yield FigureVerdict(Figure.ANSWER, _find_answer_fault(case, outcome))


def _choose_decision_figure(case: GoldenCase) -> Figure:
    if case.expects_refusal:
        return Figure.REFUSED
    return Figure.OVERVIEW if "records" in case.expect else Figure.ANSWERED


def _find_decision_fault(case: GoldenCase, outcome: CaseOutcome) -> str:
    """Why the decision, or what it rests on, is not what the case expects: the first fault, or ""."""
    if not any(_is_expected(expect, outcome) for expect in case.expect):
        return f"want {' or '.join(case.expect)}, got {_describe_outcome(outcome)}"
    if outcome.decision == Decision.REFUSED and case.topic and outcome.topic != case.topic:
        return f"want topic {case.topic}, got {outcome.topic or 'none'}"
    if case.rule and outcome.rule != case.rule:
        return f"want the gate's rule {case.rule}, got {outcome.rule or 'none'}"
    if outcome.decision in (Decision.REFUSED, Decision.NO_EVIDENCE) and outcome.upstream_calls:
        return f"{outcome.decision} must cost no call, the model was called {outcome.upstream_calls} times"
    if outcome.decision == Decision.REFUSED and outcome.embedded:
        return "a refusal of layer 1 must embed nothing, the question was embedded"
    return _find_record_order_fault(case, outcome)


def _is_expected(expectation: str, outcome: CaseOutcome) -> bool:
    if expectation == "records":
        return outcome.decision == Decision.ANSWERED and _has_only_records(outcome.handed)
    return outcome.decision == expectation


def _has_only_records(handed: tuple[HandedSource, ...]) -> bool:
    return bool(handed) and all(source.kind == "record" for source in handed)


def _find_record_order_fault(case: GoldenCase, outcome: CaseOutcome) -> str:
    got = outcome.handed[: len(case.expect_records)]
    pairs = zip(case.expect_records, got, strict=False)
    if len(got) == len(case.expect_records) and all(source.has_name(name) for name, source in pairs):
        return ""
    expected, actual = ", ".join(case.expect_records), _join_source_names(outcome.handed)
    return f"want the records to begin with {expected}; got {actual}"


def _find_permission_fault(case: GoldenCase, outcome: CaseOutcome) -> str:
    """Checked against the case's own word on groups and instant, where it has one."""
    groups = outcome.groups if case.groups is None else case.groups
    now = case.at or outcome.now
    for source in outcome.handed:
        access = source.access
        if not access.groups & groups:
            name, allowed = _choose_source_name(source), _join_groups(access.groups)
            return f"{name} is for {allowed}, handed over to {_join_groups(groups)}"
        if access.valid_from > now or (access.valid_to and access.valid_to <= now):
            return f"{_choose_source_name(source)} was not valid at {now:%Y-%m-%d %H:%M} UTC"
    return ""


def _find_retrieval_fault(case: GoldenCase, outcome: CaseOutcome, rank_max: int | None = None) -> str:
    if any(_build_source_check(case)(source) for source in outcome.handed[:rank_max]):
        return ""
    among = f"among the first {rank_max}" if rank_max else "handed over"
    return (
        f"want {' or '.join(case.expect_source)} {among}, got {_join_source_names(outcome.handed[:rank_max])}"
    )


def _build_source_check(case: GoldenCase) -> Callable[[HandedSource], bool]:
    return lambda source: any(source.has_name(name) for name in case.expect_source)


def _needs_citation(case: GoldenCase, outcome: CaseOutcome) -> bool:
    return bool(case.expect_source) and outcome.decision == Decision.ANSWERED


def _find_answer_fault(case: GoldenCase, outcome: CaseOutcome) -> str:
    folded_answer = fold_text(outcome.answer)
    if missing := [text for text in case.contains if fold_text(text) not in folded_answer]:
        return f"want {missing[0]!r} in the answer, got {outcome.answer!r:.200}"
    if forbidden := [text for text in case.lacks if fold_text(text) in folded_answer]:
        return f"want no {forbidden[0]!r} in the answer, got {outcome.answer!r:.200}"
    if _needs_citation(case, outcome) and not _has_citation(case, outcome):
        cited = ", ".join(sorted({citation.title for citation in outcome.citations}))
        wanted = [source for source in outcome.handed if _build_source_check(case)(source)]
        hint = (
            " (it has no link to cite it by)" if wanted and not any(source.url for source in wanted) else ""
        )
        return f"want a citation of {' or '.join(case.expect_source)}{hint}, got {cited or 'none'}"
    return ""


def _has_citation(case: GoldenCase, outcome: CaseOutcome) -> bool:
    wanted = [source for source in outcome.handed if _build_source_check(case)(source)]
    return any(
        citation.url == source.url if source.url else citation.title == source.title
        for citation in outcome.citations
        for source in wanted
    )


def _describe_outcome(outcome: CaseOutcome) -> str:
    parts = [str(outcome.decision), outcome.topic, outcome.rule]
    if outcome.similarity is not None:
        parts.append(f"similarity {outcome.similarity:.2f}")
    return (
        f"{' '.join(filter(None, parts))} with {_join_source_names(outcome.handed)}: {outcome.answer!r:.160}"
    )


def _join_source_names(handed: tuple[HandedSource, ...]) -> str:
    return ", ".join(dict.fromkeys(map(_choose_source_name, handed))) or "no source"


def _choose_source_name(source: HandedSource) -> str:
    return source.document_id or source.id


def _join_groups(groups: frozenset[str]) -> str:
    return "+".join(sorted(groups)) or "nobody"
