"""Cases and outcomes to grade, as short as a test wants them."""

from datetime import UTC, datetime

from golden.cases import GoldenCase
from golden.form import Expectation
from golden.outcome import CaseOutcome, HandedSource
from indexes.types import Access
from proxy.domain.types import Citation, Decision

NOW = datetime(2026, 5, 1, tzinfo=UTC)
PUBLIC = frozenset({"public"})
SINCE = datetime(2024, 1, 1, tzinfo=UTC)


def make_case(expect: Expectation = "answered", **fields: object) -> GoldenCase:
    base: dict[str, object] = {"id": "one", "question": "Why?", "model": "help", "language": "en"}
    return GoldenCase(**{**base, "expect": (expect,), **fields})  # type: ignore[arg-type]


def make_handed_source(
    name: str = "plans", groups: frozenset[str] = PUBLIC, **fields: object
) -> HandedSource:
    url = f"https://tolva.example/{name}"
    base = {"document_id": f"tolva/{name}.md", "url": url, "access": Access(groups, SINCE)}
    return HandedSource(name, name.title(), **{**base, **fields})  # type: ignore[arg-type]


def make_handed_record(name: str) -> HandedSource:
    return make_handed_source(f"book/{name}", kind="record", document_id="")


def make_outcome(decision: Decision = Decision.ANSWERED, answer: str = "", **fields: object) -> CaseOutcome:
    base: dict[str, object] = {"groups": PUBLIC, "now": NOW}
    return CaseOutcome(decision, answer, **{**base, **fields})  # type: ignore[arg-type]


def cite_source(source: HandedSource) -> tuple[Citation, ...]:
    return (Citation(0, 1, source.title, source.url or ""),)
