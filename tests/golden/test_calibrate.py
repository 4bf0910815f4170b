"""Calibration: what separates gets a threshold by the stated rule, what does not is said so."""

import xml.etree.ElementTree as ET

from hypothesis import example, given
from hypothesis import strategies as st

from golden.calibrate import (
    ALL_LANGUAGES,
    SimilaritySample,
    build_lock,
    find_separation,
    render_separations,
    separate_report,
)
from golden.grade import grade_case
from golden.plot import render_svg
from golden.report import Report
from proxy.domain.types import Decision
from proxy.settings.lock import render_lock
from tests.golden.case_builders import make_case, make_outcome


def make_samples(answerable: list[float], unanswerable: list[float]) -> list[SimilaritySample]:
    return [SimilaritySample(f"yes-{n}", "en", value, True) for n, value in enumerate(answerable)] + [
        SimilaritySample(f"no-{n}", "en", value, False) for n, value in enumerate(unanswerable)
    ]


def make_report(*similarities: tuple[str, float, bool]) -> Report:
    return Report(
        tuple(
            grade_case(
                make_case("answered", id=f"{n}", language=tag, expect_source=("plans",))
                if yes
                else make_case("no_evidence", id=f"{n}", language=tag),
                make_outcome(Decision.ANSWERED, similarity=similarity, assistant="help"),
            )
            for n, (tag, similarity, yes) in enumerate(similarities)
        )
    )


def test_the_threshold_is_the_middle_of_the_gap() -> None:
    assert find_separation(make_samples([0.6, 0.9], [0.1, 0.3])).threshold == 0.45


def test_kinds_that_overlap_have_no_threshold() -> None:
    found = find_separation(make_samples([0.3, 0.9], [0.1, 0.4]))
    assert found.threshold is None
    assert found.explanation == "no-1 must be refused and reaches 0.400; not above it: yes-0 (0.300)"


def test_a_question_level_with_one_to_be_refused_is_lost() -> None:
    assert find_separation(make_samples([0.4, 0.9], [0.4])).threshold is None


def test_some_answerable_questions_may_be_lost_if_allowed() -> None:
    found = find_separation(make_samples([0.3, 0.6, 0.9], [0.1, 0.4]), lose_max=0.34)
    assert (found.threshold, found.lost_ids) == (0.5, ("yes-0",))


def test_one_kind_alone_calibrates_nothing() -> None:
    assert (
        find_separation(make_samples([0.3], [])).explanation
        == "no question that must be refused was searched for"
    )
    assert (
        find_separation(make_samples([], [0.3])).explanation
        == "no case with an `expect_source` was searched for"
    )


def test_auc_is_the_share_of_pairs_in_order() -> None:
    assert find_separation(make_samples([0.3, 0.9], [0.1, 0.4])).auc == 0.75
    assert find_separation(make_samples([0.5], [0.5])).auc == 0.5
    assert find_separation(make_samples([0.5], [])).auc is None


values = st.lists(st.floats(0, 1), max_size=8)


@given(values, values, st.floats(0, 1))
@example([0.5000001], [0.5], 0)
@example([0.50000002], [0.5], 0)
def test_a_threshold_refuses_all_it_must_and_loses_no_more_than_allowed(
    answerable: list[float], unanswerable: list[float], lose_max: float
) -> None:
    found = find_separation(make_samples(answerable, unanswerable), lose_max)
    if found.threshold is None:
        assert found.explanation
        return
    assert all(value < found.threshold for value in unanswerable)
    lost = sum(value < found.threshold for value in answerable)
    assert lost == len(found.lost_ids) <= lose_max * len(answerable)


def test_only_searched_cases_with_one_meaning_are_samples() -> None:
    mixed = Report(
        (
            grade_case(make_case("refused"), make_outcome(Decision.REFUSED)),
            grade_case(make_case("records"), make_outcome(similarity=0.9)),
            grade_case(make_case("answered"), make_outcome(similarity=0.9)),
        )
    )
    assert separate_report(mixed) == {}


def test_a_language_gets_its_own_value_from_five_of_each_kind_on() -> None:
    rows = [("en", 0.8, True)] * 5 + [("en", 0.2, False)] * 5 + [("es", 0.7, True)] * 4 + [("es", 0.3, False)]
    found = separate_report(make_report(*rows))["help"]
    assert list(found) == [ALL_LANGUAGES, "en"]
    assert (found[ALL_LANGUAGES].threshold, found["en"].threshold) == (0.5, 0.5)


def test_the_lock_says_what_was_found_and_on_what() -> None:
    found = separate_report(make_report(*[("en", 0.8, True)] * 5, *[("en", 0.2, False)] * 5))
    made = build_lock(found, model="e5 sha256:ab", generation="7", date="2026-11-30")
    assert made.find_threshold("help", "fr") == 0.5
    assert 'model = "e5 sha256:ab"' in render_lock(made)


def test_no_threshold_is_not_locked_but_told() -> None:
    found = separate_report(make_report(("en", 0.2, True), ("en", 0.8, False)))
    assert build_lock(found, model="", generation="7", date="2026-11-30").find_threshold("help", "en") is None
    assert "no separating threshold: 1 must be refused and reaches 0.800" in render_separations(found)


def test_the_plot_is_one_dot_a_question_and_well_formed() -> None:
    found = separate_report(make_report(("<en>", 0.8, True), ("<en>", 0.2, False)))
    tree = ET.fromstring(render_svg(found))
    assert len(tree.findall(".//{*}circle")) == 2
    assert "0.500" in [node.text for node in tree.iter("{http://www.w3.org/2000/svg}text")]
