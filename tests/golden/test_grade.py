"""Grading: each figure is right or wrong for its own reason, and says which."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden.cases import GoldenCase
from golden.grade import Figure, grade_case, grade_failure
from golden.outcome import CaseOutcome
from indexes.types import Access
from proxy.domain.types import Decision
from tests.golden.case_builders import (
    NOW,
    SINCE,
    cite_source,
    make_case,
    make_handed_record,
    make_handed_source,
    make_outcome,
)

PLANS = make_handed_source("plans")
OTHERS = tuple(make_handed_source(f"other-{n}") for n in range(5))


def find_verdict_fault(figure: Figure, case: GoldenCase, outcome: CaseOutcome) -> str | None:
    """The verdict's fault; "" right, None not graded."""
    return next((v.fault for v in grade_case(case, outcome).verdicts if v.figure == figure), None)


def test_an_expected_source_counts_by_id_document_url_or_title() -> None:
    for name in ("plans", "tolva/plans.md", "https://tolva.example/plans", "Plans"):
        assert (
            find_verdict_fault(
                Figure.RETRIEVAL, make_case(expect_source=(name,)), make_outcome(handed=(PLANS,))
            )
            == ""
        )


def test_a_source_that_was_not_handed_over_is_missed() -> None:
    said = find_verdict_fault(
        Figure.RETRIEVAL, make_case(expect_source=("plans",)), make_outcome(handed=OTHERS[:1])
    )
    assert said == "want plans handed over, got tolva/other-0.md"


def test_recall_looks_at_the_first_five_alone() -> None:
    got = make_outcome(handed=(*OTHERS, PLANS))
    assert find_verdict_fault(Figure.RETRIEVAL, make_case(expect_source=("plans",)), got) == ""
    assert "among the first 5" in (
        find_verdict_fault(Figure.RECALL, make_case(expect_source=("plans",)), got) or ""
    )
    assert (
        find_verdict_fault(
            Figure.RECALL, make_case(expect_source=("plans",)), make_outcome(handed=(*OTHERS[:4], PLANS))
        )
        == ""
    )


def test_an_answer_is_compared_folded() -> None:
    case = make_case(contains=("12,50 EUROS", "۱۲"))
    assert find_verdict_fault(Figure.ANSWER, case, make_outcome(answer="Cuesta 12,50 euros.")) == ""


def test_an_answer_must_say_all_and_none_of_the_forbidden() -> None:
    assert "want '9'" in (
        find_verdict_fault(Figure.ANSWER, make_case(contains=("12", "9")), make_outcome(answer="12")) or ""
    )
    assert "want no '9'" in (
        find_verdict_fault(Figure.ANSWER, make_case(lacks=("9",)), make_outcome(answer="9")) or ""
    )


def test_a_refusal_too_must_lack_what_is_forbidden() -> None:
    got = make_outcome(Decision.NO_EVIDENCE, "Salaries are 3,450.")
    assert find_verdict_fault(Figure.ANSWER, make_case("no_evidence", lacks=("3,450",)), got)


def test_an_answer_cites_an_expected_source() -> None:
    case = make_case(expect_source=("plans",))
    assert (
        find_verdict_fault(Figure.ANSWER, case, make_outcome(handed=(PLANS,), citations=cite_source(PLANS)))
        == ""
    )
    got = make_outcome(handed=(PLANS, OTHERS[0]), citations=cite_source(OTHERS[0]))
    assert find_verdict_fault(Figure.ANSWER, case, got) == "want a citation of plans, got Other-0"


def test_a_source_without_url_is_cited_by_its_title() -> None:
    bare = replace(PLANS, url=None)
    got = make_outcome(handed=(bare,), citations=cite_source(bare))
    assert find_verdict_fault(Figure.ANSWER, make_case(expect_source=("plans",)), got) == ""


@pytest.mark.parametrize("decision", list(Decision))
def test_only_the_expected_decision_is_right(decision: Decision) -> None:
    assert (find_verdict_fault(Figure.ANSWERED, make_case("answered"), make_outcome(decision)) == "") == (
        decision == "answered"
    )
    assert (find_verdict_fault(Figure.REFUSED, make_case("no_evidence"), make_outcome(decision)) == "") == (
        decision == "no_evidence"
    )


def test_any_of_several_expectations_is_right() -> None:
    case = replace(make_case("no_evidence"), expect=("no_evidence", "not_in_sources"))
    assert find_verdict_fault(Figure.REFUSED, case, make_outcome(Decision.NOT_IN_SOURCES)) == ""
    assert find_verdict_fault(Figure.REFUSED, case, make_outcome(Decision.ANSWERED))


def test_a_refusal_must_come_from_the_topic_named() -> None:
    got = make_outcome(Decision.REFUSED, topic="private")
    assert (
        find_verdict_fault(Figure.REFUSED, make_case("refused", topic="fees"), got)
        == "want topic fees, got private"
    )


def test_a_refusal_that_called_the_model_or_embedded_is_wrong() -> None:
    for case, got in (
        (make_case("refused"), make_outcome(Decision.REFUSED, upstream_calls=1)),
        (make_case("refused"), make_outcome(Decision.REFUSED, embedded=True)),
        (make_case("no_evidence"), make_outcome(Decision.NO_EVIDENCE, upstream_calls=1)),
    ):
        assert find_verdict_fault(Figure.REFUSED, case, got)
    assert (
        find_verdict_fault(
            Figure.REFUSED, make_case("no_evidence"), make_outcome(Decision.NO_EVIDENCE, embedded=True)
        )
        == ""
    )


def test_a_stop_names_the_rule() -> None:
    got = make_outcome(Decision.STOPPED, rule="voice")
    assert (
        find_verdict_fault(Figure.ANSWERED, make_case("stopped", rule="values"), got)
        == "want the gate's rule values, got voice"
    )


def test_an_overview_is_answered_from_records_alone() -> None:
    assert (
        find_verdict_fault(
            Figure.OVERVIEW, make_case("records"), make_outcome(handed=(make_handed_record("a"),))
        )
        == ""
    )
    for sources in ((), (PLANS,), (make_handed_record("a"), PLANS)):
        assert find_verdict_fault(Figure.OVERVIEW, make_case("records"), make_outcome(handed=sources))
    assert find_verdict_fault(
        Figure.OVERVIEW,
        make_case("records"),
        make_outcome(Decision.NOT_IN_SOURCES, handed=(make_handed_record("a"),)),
    )


def test_records_come_in_the_order_named() -> None:
    case = make_case("records", expect_records=("book/b", "book/a"))
    assert (
        find_verdict_fault(
            Figure.OVERVIEW,
            case,
            make_outcome(handed=(make_handed_record("b"), make_handed_record("a"), make_handed_record("c"))),
        )
        == ""
    )
    assert find_verdict_fault(
        Figure.OVERVIEW, case, make_outcome(handed=(make_handed_record("a"), make_handed_record("b")))
    )
    assert find_verdict_fault(Figure.OVERVIEW, case, make_outcome(handed=(make_handed_record("b"),)))


def test_a_source_of_another_group_is_a_leak_whatever_was_said() -> None:
    secret = make_handed_source("salaries", frozenset({"finance"}))
    got = make_outcome(Decision.NO_EVIDENCE, handed=(PLANS, secret))
    said = "tolva/salaries.md is for finance, handed over to public"
    assert find_verdict_fault(Figure.PERMISSIONS, make_case("no_evidence"), got) == said
    assert (
        find_verdict_fault(Figure.PERMISSIONS, make_case(groups=frozenset({"finance", "public"})), got) == ""
    )


def test_the_case_own_groups_are_believed_not_the_pipeline() -> None:
    secret = make_handed_source("salaries", frozenset({"finance"}))
    got = make_outcome(handed=(secret,), groups=frozenset({"finance"}))
    assert find_verdict_fault(Figure.PERMISSIONS, make_case(groups=frozenset({"public"})), got)


def test_a_source_outside_its_validity_is_a_leak() -> None:
    until = make_handed_source("old", access=Access(frozenset({"public"}), SINCE, NOW))
    later = make_handed_source("new", access=Access(frozenset({"public"}), NOW))
    assert find_verdict_fault(Figure.PERMISSIONS, make_case(), make_outcome(handed=(until,)))
    assert find_verdict_fault(Figure.PERMISSIONS, make_case(), make_outcome(handed=(later,))) == ""
    early = datetime(2025, 1, 1, tzinfo=UTC)
    assert find_verdict_fault(Figure.PERMISSIONS, make_case(at=early), make_outcome(handed=(until,))) == ""
    assert find_verdict_fault(Figure.PERMISSIONS, make_case(at=early), make_outcome(handed=(later,)))


def test_a_pipeline_that_failed_is_a_wrong_case() -> None:
    graded = grade_failure(make_case("refused"), "the store is gone")
    assert not graded.is_right
    assert graded.verdicts[0].figure == Figure.REFUSED
    assert "the store is gone" in graded.verdicts[0].fault


GROUPS = st.frozensets(st.sampled_from(["public", "staff", "finance", "board"]))


@given(st.lists(GROUPS, max_size=4), GROUPS, st.sampled_from(list(Decision)))
def test_nothing_outside_the_groups_ever_passes_as_right(
    sources: list[frozenset[str]], groups: frozenset[str], decision: Decision
) -> None:
    got = make_outcome(
        decision, handed=tuple(make_handed_source(f"{n}", own) for n, own in enumerate(sources))
    )
    fits = all(own & groups for own in sources)
    assert (find_verdict_fault(Figure.PERMISSIONS, make_case(groups=groups), got) == "") == fits


@given(st.permutations([f"{n}" for n in range(8)]))
def test_recall_is_right_exactly_when_the_source_is_among_the_first_five(names: list[str]) -> None:
    got = make_outcome(handed=tuple(make_handed_source(name) for name in names))
    assert (find_verdict_fault(Figure.RECALL, make_case(expect_source=("3",)), got) == "") == (
        names.index("3") < 5
    )
