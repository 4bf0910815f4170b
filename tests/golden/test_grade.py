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
from tests.golden.people import NOW, SINCE, case, citing, handed, outcome, record

PLANS = handed("plans")
OTHERS = tuple(handed(f"other-{n}") for n in range(5))


def why(figure: Figure, asked: GoldenCase, got: CaseOutcome) -> str | None:
    """The verdict's fault; "" right, None not graded."""
    return next((v.fault for v in grade_case(asked, got).verdicts if v.figure == figure), None)


def test_an_expected_source_counts_by_id_document_url_or_title() -> None:
    for name in ("plans", "tolva/plans.md", "https://tolva.example/plans", "Plans"):
        assert why(Figure.RETRIEVAL, case(expect_source=(name,)), outcome(handed=(PLANS,))) == ""


def test_a_source_that_was_not_handed_over_is_missed() -> None:
    said = why(Figure.RETRIEVAL, case(expect_source=("plans",)), outcome(handed=OTHERS[:1]))
    assert said == "want plans handed over, got tolva/other-0.md"


def test_recall_looks_at_the_first_five_alone() -> None:
    got = outcome(handed=(*OTHERS, PLANS))
    assert why(Figure.RETRIEVAL, case(expect_source=("plans",)), got) == ""
    assert "among the first 5" in (why(Figure.RECALL, case(expect_source=("plans",)), got) or "")
    assert why(Figure.RECALL, case(expect_source=("plans",)), outcome(handed=(*OTHERS[:4], PLANS))) == ""


def test_an_answer_is_compared_folded() -> None:
    asked = case(contains=("12,50 EUROS", "۱۲"))
    assert why(Figure.ANSWER, asked, outcome(answer="Cuesta 12,50 euros.")) == ""


def test_an_answer_must_say_all_and_none_of_the_forbidden() -> None:
    assert "want '9'" in (why(Figure.ANSWER, case(contains=("12", "9")), outcome(answer="12")) or "")
    assert "want no '9'" in (why(Figure.ANSWER, case(lacks=("9",)), outcome(answer="9")) or "")


def test_a_refusal_too_must_lack_what_is_forbidden() -> None:
    got = outcome(Decision.NO_EVIDENCE, "Salaries are 3,450.")
    assert why(Figure.ANSWER, case("no_evidence", lacks=("3,450",)), got)


def test_an_answer_cites_an_expected_source() -> None:
    asked = case(expect_source=("plans",))
    assert why(Figure.ANSWER, asked, outcome(handed=(PLANS,), citations=citing(PLANS))) == ""
    got = outcome(handed=(PLANS, OTHERS[0]), citations=citing(OTHERS[0]))
    assert why(Figure.ANSWER, asked, got) == "want a citation of plans, got Other-0"


def test_a_source_without_url_is_cited_by_its_title() -> None:
    bare = replace(PLANS, url=None)
    got = outcome(handed=(bare,), citations=citing(bare))
    assert why(Figure.ANSWER, case(expect_source=("plans",)), got) == ""


@pytest.mark.parametrize("decision", list(Decision))
def test_only_the_expected_decision_is_right(decision: Decision) -> None:
    assert (why(Figure.ANSWERED, case("answered"), outcome(decision)) == "") == (decision == "answered")
    assert (why(Figure.REFUSED, case("no_evidence"), outcome(decision)) == "") == (decision == "no_evidence")


def test_any_of_several_expectations_is_right() -> None:
    asked = replace(case("no_evidence"), expect=("no_evidence", "not_in_sources"))
    assert why(Figure.REFUSED, asked, outcome(Decision.NOT_IN_SOURCES)) == ""
    assert why(Figure.REFUSED, asked, outcome(Decision.ANSWERED))


def test_a_refusal_must_come_from_the_topic_named() -> None:
    got = outcome(Decision.REFUSED, topic="private")
    assert why(Figure.REFUSED, case("refused", topic="fees"), got) == "want topic fees, got private"


def test_a_refusal_that_called_the_model_or_embedded_is_wrong() -> None:
    for asked, got in (
        (case("refused"), outcome(Decision.REFUSED, upstream_calls=1)),
        (case("refused"), outcome(Decision.REFUSED, embedded=True)),
        (case("no_evidence"), outcome(Decision.NO_EVIDENCE, upstream_calls=1)),
    ):
        assert why(Figure.REFUSED, asked, got)
    assert why(Figure.REFUSED, case("no_evidence"), outcome(Decision.NO_EVIDENCE, embedded=True)) == ""


def test_a_stop_names_the_rule() -> None:
    got = outcome(Decision.STOPPED, rule="voice")
    assert (
        why(Figure.ANSWERED, case("stopped", rule="values"), got) == "want the gate's rule values, got voice"
    )


def test_an_overview_is_answered_from_records_alone() -> None:
    assert why(Figure.OVERVIEW, case("records"), outcome(handed=(record("a"),))) == ""
    for sources in ((), (PLANS,), (record("a"), PLANS)):
        assert why(Figure.OVERVIEW, case("records"), outcome(handed=sources))
    assert why(Figure.OVERVIEW, case("records"), outcome(Decision.NOT_IN_SOURCES, handed=(record("a"),)))


def test_records_come_in_the_order_named() -> None:
    asked = case("records", expect_records=("book/b", "book/a"))
    assert why(Figure.OVERVIEW, asked, outcome(handed=(record("b"), record("a"), record("c")))) == ""
    assert why(Figure.OVERVIEW, asked, outcome(handed=(record("a"), record("b"))))
    assert why(Figure.OVERVIEW, asked, outcome(handed=(record("b"),)))


def test_a_source_of_another_group_is_a_leak_whatever_was_said() -> None:
    secret = handed("salaries", frozenset({"finance"}))
    got = outcome(Decision.NO_EVIDENCE, handed=(PLANS, secret))
    said = "tolva/salaries.md is for finance, handed over to public"
    assert why(Figure.PERMISSIONS, case("no_evidence"), got) == said
    assert why(Figure.PERMISSIONS, case(groups=frozenset({"finance", "public"})), got) == ""


def test_the_case_own_groups_are_believed_not_the_pipeline() -> None:
    secret = handed("salaries", frozenset({"finance"}))
    got = outcome(handed=(secret,), groups=frozenset({"finance"}))
    assert why(Figure.PERMISSIONS, case(groups=frozenset({"public"})), got)


def test_a_source_outside_its_validity_is_a_leak() -> None:
    until = handed("old", access=Access(frozenset({"public"}), SINCE, NOW))
    later = handed("new", access=Access(frozenset({"public"}), NOW))
    assert why(Figure.PERMISSIONS, case(), outcome(handed=(until,)))
    assert why(Figure.PERMISSIONS, case(), outcome(handed=(later,))) == ""
    early = datetime(2025, 1, 1, tzinfo=UTC)
    assert why(Figure.PERMISSIONS, case(at=early), outcome(handed=(until,))) == ""
    assert why(Figure.PERMISSIONS, case(at=early), outcome(handed=(later,)))


def test_a_pipeline_that_failed_is_a_wrong_case() -> None:
    graded = grade_failure(case("refused"), "the store is gone")
    assert not graded.is_right
    assert graded.verdicts[0].figure == Figure.REFUSED
    assert "the store is gone" in graded.verdicts[0].fault


GROUPS = st.frozensets(st.sampled_from(["public", "staff", "finance", "board"]))


@given(st.lists(GROUPS, max_size=4), GROUPS, st.sampled_from(list(Decision)))
def test_nothing_outside_the_groups_ever_passes_as_right(
    sources: list[frozenset[str]], groups: frozenset[str], decision: Decision
) -> None:
    got = outcome(decision, handed=tuple(handed(f"{n}", own) for n, own in enumerate(sources)))
    fits = all(own & groups for own in sources)
    assert (why(Figure.PERMISSIONS, case(groups=groups), got) == "") == fits


@given(st.permutations([f"{n}" for n in range(8)]))
def test_recall_is_right_exactly_when_the_source_is_among_the_first_five(names: list[str]) -> None:
    got = outcome(handed=tuple(handed(name) for name in names))
    assert (why(Figure.RECALL, case(expect_source=("3",)), got) == "") == (names.index("3") < 5)
