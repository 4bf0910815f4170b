"""The figures of retrieval and refusal: recall@k, reciprocal rank, area under the curve, best cut."""

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass

DEPTHS = (1, 5, 10)


@dataclass(frozen=True, slots=True)
class Ranking:
    """How a list of questions was answered: recall by depth, and the mean reciprocal rank."""

    question_count: int
    recall: dict[int, float]
    mrr: float


@dataclass(frozen=True, slots=True)
class ThresholdCut:
    """A threshold: shares of good ones at or above it and of bad ones below it."""

    threshold: float
    kept_share: float
    refused_share: float

    @property
    def balanced_accuracy(self) -> float:
        """Their mean: balanced accuracy."""
        return (self.kept_share + self.refused_share) / 2


def find_rank(found: Sequence[str], gold: Collection[str]) -> int | None:
    """Place of the first right one, from 1."""
    return next((place for place, id in enumerate(found, start=1) if id in gold), None)


def compute_ranking(ranks: Sequence[int | None]) -> Ranking:
    """Figures of `ranks` (at least one); None: not found."""
    total = len(ranks)
    recall = {depth: sum(r is not None and r <= depth for r in ranks) / total for depth in DEPTHS}
    return Ranking(total, recall, sum(1 / r for r in ranks if r) / total)


def compute_auc(good: Sequence[float], bad: Sequence[float]) -> float:
    """Share of pairs in which the good one scores higher, a tie counting half (Mann and Whitney, 1947)."""
    low = sorted(bad)
    wins = sum(bisect_left(low, score) + bisect_right(low, score) for score in good)
    return wins / 2 / len(good) / len(bad)


def compute_cut(good: Sequence[float], bad: Sequence[float], threshold: float) -> ThresholdCut:
    """What `threshold` does."""
    kept = sum(score >= threshold for score in good) / len(good)
    return ThresholdCut(threshold, kept, sum(score < threshold for score in bad) / len(bad))


def find_best_cut(good: Sequence[float], bad: Sequence[float]) -> ThresholdCut:
    """The threshold of the highest balanced accuracy; of equals the lowest, which refuses least."""
    ups, downs = sorted(good), sorted(bad)
    best = ThresholdCut(0.0, 1.0, 0.0)
    for threshold in sorted({*good, *bad}):
        kept = 1 - bisect_left(ups, threshold) / len(ups)
        tried = ThresholdCut(threshold, kept, bisect_left(downs, threshold) / len(downs))
        if tried.balanced_accuracy > best.balanced_accuracy:
            best = tried
    return best
