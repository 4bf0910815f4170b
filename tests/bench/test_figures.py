"""The figures mean what their names say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.quality.figures import compute_auc, compute_cut, compute_ranking, find_best_cut, find_rank

scores = st.lists(st.sampled_from([0.0, 0.2, 0.4, 0.6, 0.8, 1.0]), min_size=1, max_size=12)


def test_rank_is_the_place_of_the_first_right_one() -> None:
    assert find_rank(["a", "b", "c"], {"c", "b"}) == 2
    assert find_rank(["a"], {"z"}) is None


def test_recall_counts_by_depth_and_mrr_by_place() -> None:
    figures = compute_ranking([1, 2, 7, None])
    assert figures.recall == {1: 0.25, 5: 0.5, 10: 0.75}
    assert figures.mrr == pytest.approx((1 + 1 / 2 + 1 / 7) / 4)


def test_a_tie_counts_half() -> None:
    assert compute_auc([1, 0.5], [0.5, 0.2]) == pytest.approx(3.5 / 4)


@given(scores, scores)
def test_the_area_is_the_share_of_pairs(good: list[float], bad: list[float]) -> None:
    wins = sum((g > b) + (g == b) / 2 for g in good for b in bad)
    assert compute_auc(good, bad) == pytest.approx(wins / len(good) / len(bad))


@given(scores, scores)
def test_no_cut_beats_the_best(good: list[float], bad: list[float]) -> None:
    best = find_best_cut(good, bad)
    assert best.balanced_accuracy == pytest.approx(
        max(compute_cut(good, bad, at).balanced_accuracy for at in {0.0, *good, *bad})
    )
    assert (best.kept_share, best.refused_share) == pytest.approx(
        (
            compute_cut(good, bad, best.threshold).kept_share,
            compute_cut(good, bad, best.threshold).refused_share,
        )
    )
