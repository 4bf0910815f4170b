"""grade(case, outcome): right or wrong, figure by figure, each fault in words. Pure; never raises."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from golden.cases import Case
from golden.outcome import Handed, Outcome
from indexes.text.folding import fold_text
from proxy.domain.types import Decision

RECALL_AT = 5
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
class Verdict:
    """One figure of one case; `why` is "" when it is right."""

    figure: Figure
    why: str = ""

    @property
    def right(self) -> bool:
        return not self.why


@dataclass(frozen=True, slots=True)
class Grade:
    """A case with what became of it and the verdicts on it."""

    case: Case
    outcome: Outcome | None
    """None: the pipeline failed."""
    verdicts: tuple[Verdict, ...]

    @property
    def right(self) -> bool:
        return all(verdict.right for verdict in self.verdicts)


def grade(case: Case, outcome: Outcome) -> Grade:
    """Every figure that `case` has an expectation for."""
    return Grade(case, outcome, tuple(_verdicts(case, outcome)))


def failed(case: Case, why: str) -> Grade:
    """The pipeline raised: wrong in whatever the case was about."""
    return Grade(case, None, (Verdict(_routed(case), f"the pipeline failed: {why}"),))


def _verdicts(case: Case, outcome: Outcome) -> Iterator[Verdict]:
    yield Verdict(_routed(case), _route(case, outcome))
    yield Verdict(Figure.PERMISSIONS, _permissions(case, outcome))
    if case.expect_source:
        yield Verdict(Figure.RETRIEVAL, _retrieval(case, outcome))
        yield Verdict(Figure.RECALL, _retrieval(case, outcome, RECALL_AT))
    if case.contains or case.lacks or _must_cite(case, outcome):
        yield Verdict(Figure.ANSWER, _answer(case, outcome))


def _routed(case: Case) -> Figure:
    if case.must_refuse:
        return Figure.REFUSED
    return Figure.OVERVIEW if "records" in case.expect else Figure.ANSWERED


def _route(case: Case, outcome: Outcome) -> str:
    """Why the decision is none of the expected ones; the first fault found."""
    if not any(_meets(expect, outcome) for expect in case.expect):
        return f"want {' or '.join(case.expect)}, got {_told(outcome)}"
    if outcome.decision == Decision.REFUSED and case.topic and outcome.topic != case.topic:
        return f"want topic {case.topic}, got {outcome.topic or 'none'}"
    if case.rule and outcome.rule != case.rule:
        return f"want the gate's rule {case.rule}, got {outcome.rule or 'none'}"
    if outcome.decision in (Decision.REFUSED, Decision.NO_EVIDENCE) and outcome.upstream_calls:
        return f"{outcome.decision} must cost no call, the model was called {outcome.upstream_calls} times"
    if outcome.decision == Decision.REFUSED and outcome.embedded:
        return "a refusal of layer 1 must embed nothing, the question was embedded"
    return _order(case, outcome)


def _meets(expect: str, outcome: Outcome) -> bool:
    if expect == "records":
        return outcome.decision == Decision.ANSWERED and _only_records(outcome.handed)
    return outcome.decision == expect


def _only_records(handed: tuple[Handed, ...]) -> bool:
    return bool(handed) and all(source.kind == "record" for source in handed)


def _order(case: Case, outcome: Outcome) -> str:
    got = outcome.handed[: len(case.expect_records)]
    pairs = zip(case.expect_records, got, strict=False)
    if len(got) == len(case.expect_records) and all(source.named(name) for name, source in pairs):
        return ""
    return f"want the records to begin with {', '.join(case.expect_records)}; got {_names(outcome.handed)}"


def _permissions(case: Case, outcome: Outcome) -> str:
    """Checked against the case's own word on groups and instant, where it has one."""
    groups = outcome.groups if case.groups is None else case.groups
    now = case.at or outcome.now
    for source in outcome.handed:
        access = source.access
        if not access.groups & groups:
            return f"{_name(source)} is for {_joined(access.groups)}, handed over to {_joined(groups)}"
        if access.valid_from > now or (access.valid_to and access.valid_to <= now):
            return f"{_name(source)} was not valid at {now:%Y-%m-%d %H:%M} UTC"
    return ""


def _retrieval(case: Case, outcome: Outcome, first: int | None = None) -> str:
    if any(_expected(case)(source) for source in outcome.handed[:first]):
        return ""
    among = f"among the first {first}" if first else "handed over"
    return f"want {' or '.join(case.expect_source)} {among}, got {_names(outcome.handed[:first])}"


def _expected(case: Case) -> Callable[[Handed], bool]:
    return lambda source: any(source.named(name) for name in case.expect_source)


def _must_cite(case: Case, outcome: Outcome) -> bool:
    return bool(case.expect_source) and outcome.decision == Decision.ANSWERED


def _answer(case: Case, outcome: Outcome) -> str:
    said = fold_text(outcome.answer)
    if missing := [text for text in case.contains if fold_text(text) not in said]:
        return f"want {missing[0]!r} in the answer, got {outcome.answer!r:.200}"
    if found := [text for text in case.lacks if fold_text(text) in said]:
        return f"want no {found[0]!r} in the answer, got {outcome.answer!r:.200}"
    if _must_cite(case, outcome) and not _cited(case, outcome):
        cited = ", ".join(sorted({citation.title for citation in outcome.citations}))
        wanted = [source for source in outcome.handed if _expected(case)(source)]
        hint = " (it has no link to cite it by)" if wanted and not any(one.url for one in wanted) else ""
        return f"want a citation of {' or '.join(case.expect_source)}{hint}, got {cited or 'none'}"
    return ""


def _cited(case: Case, outcome: Outcome) -> bool:
    wanted = [source for source in outcome.handed if _expected(case)(source)]
    return any(
        citation.url == source.url if source.url else citation.title == source.title
        for citation in outcome.citations
        for source in wanted
    )


def _told(outcome: Outcome) -> str:
    parts = [str(outcome.decision), outcome.topic, outcome.rule]
    if outcome.similarity is not None:
        parts.append(f"similarity {outcome.similarity:.2f}")
    return f"{' '.join(filter(None, parts))} with {_names(outcome.handed)}: {outcome.answer!r:.160}"


def _names(handed: tuple[Handed, ...]) -> str:
    return ", ".join(dict.fromkeys(map(_name, handed))) or "no source"


def _name(source: Handed) -> str:
    return source.document_id or source.id


def _joined(groups: frozenset[str]) -> str:
    return "+".join(sorted(groups)) or "nobody"
