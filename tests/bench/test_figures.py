"""The figures mean what their names say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.quality.figures import auc, best_cut, cut, rank, ranking

scores = st.lists(st.sampled_from([0.0, 0.2, 0.4, 0.6, 0.8, 1.0]), min_size=1, max_size=12)


def test_rank_is_the_place_of_the_first_right_one() -> None:
    assert rank(["a", "b", "c"], {"c", "b"}) == 2
    assert rank(["a"], {"z"}) is None


def test_recall_counts_by_depth_and_mrr_by_place() -> None:
    figures = ranking([1, 2, 7, None])
    assert figures.recall == {1: 0.25, 5: 0.5, 10: 0.75}
    assert figures.mrr == pytest.approx((1 + 1 / 2 + 1 / 7) / 4)


def test_a_tie_counts_half() -> None:
    assert auc([1, 0.5], [0.5, 0.2]) == pytest.approx(3.5 / 4)


@given(scores, scores)
def test_the_area_is_the_share_of_pairs(good: list[float], bad: list[float]) -> None:
    wins = sum((g > b) + (g == b) / 2 for g in good for b in bad)
    assert auc(good, bad) == pytest.approx(wins / len(good) / len(bad))


@given(scores, scores)
def test_no_cut_beats_the_best(good: list[float], bad: list[float]) -> None:
    best = best_cut(good, bad)
    assert best.balanced == pytest.approx(max(cut(good, bad, at).balanced for at in {0.0, *good, *bad}))
    assert (best.kept, best.refused) == pytest.approx(
        (cut(good, bad, best.threshold).kept, cut(good, bad, best.threshold).refused)
    )
