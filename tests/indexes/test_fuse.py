"""Fusion orders; similarity is bounded. Neither is ever mistaken for the other."""

from hypothesis import given
from hypothesis import strategies as st

from indexes.fuse import RANK_MAX, compute_similarity, fuse_ranks
from indexes.types import Band

ranked = st.lists(st.integers(0, 30), unique=True, max_size=12)
unit = st.floats(0, 1)


def test_found_by_both_beats_found_first_by_one() -> None:
    assert fuse_ranks([[1, 2, 3], [4, 2, 5]]) == [2, 1, 4, 3, 5]


def test_scores_are_the_published_formula() -> None:
    # 1/61 + 1/64 = .03202 for 7 against 2/62 = .03226 for 8
    assert fuse_ranks([[7, 8, 0, 1], [2, 8, 3, 7]])[:2] == [8, 7]


def test_the_best_of_one_list_stands_before_what_both_have_far_behind() -> None:
    words = [*range(100, 120), 1]
    meaning = [2, *range(200, 220), 1]
    assert fuse_ranks([words, meaning]).index(2) < fuse_ranks([words, meaning]).index(1)


def test_far_behind_the_order_is_still_that_of_the_lists() -> None:
    far = [*range(50, 50 + RANK_MAX), 1, 2]
    assert fuse_ranks([far, far])[-2:] == [1, 2]
    fused = fuse_ranks([far, [*range(80, 80 + RANK_MAX), 2]])
    assert fused.index(2) < fused.index(1)


def test_ties_keep_the_order_of_the_lists() -> None:
    assert fuse_ranks([[9], [1]]) == [9, 1]
    assert fuse_ranks([[1], [9]]) == [1, 9]


def test_an_id_repeated_in_one_list_counts_once() -> None:
    assert fuse_ranks([[1, 2, 2, 2]]) == [1, 2]


def test_nothing_fuses_to_nothing() -> None:
    assert fuse_ranks([]) == []
    assert fuse_ranks([[], []]) == []


@given(st.lists(ranked, max_size=4))
def test_fusion_loses_and_invents_nothing(lists: list[list[int]]) -> None:
    fused = fuse_ranks(lists)
    assert len(fused) == len(set(fused))
    assert set(fused) == {found for one in lists for found in one}


@given(ranked)
def test_one_list_keeps_its_order(one: list[int]) -> None:
    assert fuse_ranks([one]) == one
    assert fuse_ranks([one, one]) == one


def test_a_cosine_counts_by_its_place_in_the_band() -> None:
    assert compute_similarity(0.85, Band(0.8, 0.9), 0.0) == (0.85 - 0.8) / (0.9 - 0.8)
    assert compute_similarity(0.1, Band(0.8, 0.9), 0.0) == 0.0
    assert compute_similarity(0.99, Band(0.8, 0.9), 0.0) == 1.0


def test_the_better_of_the_two_counts() -> None:
    assert compute_similarity(0.81, Band(0.8, 0.9), 0.6) == 0.6
    assert compute_similarity(None, Band(0.8, 0.9), 0.6) == 0.6


@given(st.one_of(st.none(), st.floats(-1, 1)), unit)
def test_similarity_is_bounded_and_never_below_coverage(cosine: float | None, coverage: float) -> None:
    assert coverage <= compute_similarity(cosine, Band(0.74, 0.92), coverage) <= 1


@given(st.floats(-1, 1), st.floats(-1, 1), unit)
def test_similarity_grows_with_the_cosine(one: float, other: float, coverage: float) -> None:
    low, high = sorted((one, other))
    assert compute_similarity(low, Band(0.74, 0.92), coverage) <= compute_similarity(
        high, Band(0.74, 0.92), coverage
    )
