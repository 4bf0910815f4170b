"""The figures of the labelled sets: hits of a total, recall@k, area under the curve, best cut."""

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass

DEPTHS = (1, 5, 10)
"""The k of recall@k."""


@dataclass(slots=True)
class HitCount:
    """How many of a total were hits, counted one by one."""

    hits: int = 0
    total: int = 0

    @property
    def misses(self) -> int:
        return self.total - self.hits

    def add(self, is_hit: bool) -> None:
        """Counts one more."""
        self.hits += is_hit
        self.total += 1


@dataclass(frozen=True, slots=True)
class Ranking:
    """How a list of questions was answered."""

    question_count: int
    recall: dict[int, float]
    """By depth, the share of questions with a right one among so many."""
    mrr: float
    """The mean reciprocal rank of the first right one; 0 where there is none."""


@dataclass(frozen=True, slots=True)
class ThresholdCut:
    """A threshold with the shares of good ones at or above it (kept) and of bad ones below it (refused)."""

    threshold: float
    kept_share: float
    refused_share: float

    @property
    def balanced_accuracy(self) -> float:
        """The mean of both shares."""
        return (self.kept_share + self.refused_share) / 2


def find_rank(ids: Sequence[str], gold: Collection[str]) -> int | None:
    """Place of the first right one, from 1."""
    return next((place for place, id in enumerate(ids, start=1) if id in gold), None)


def compute_ranking(ranks: Sequence[int | None]) -> Ranking:
    """Figures of `ranks` (at least one); None: not found."""
    total = len(ranks)
    recall = {depth: sum(rank is not None and rank <= depth for rank in ranks) / total for depth in DEPTHS}
    return Ranking(total, recall, sum(1 / rank for rank in ranks if rank) / total)


def compute_auc(good: Sequence[float], bad: Sequence[float]) -> float:
    """Share of pairs in which the good one scores higher, a tie counting half (Mann and Whitney, 1947)."""
    ordered = sorted(bad)
    wins = sum(bisect_left(ordered, score) + bisect_right(ordered, score) for score in good)
    return wins / 2 / len(good) / len(bad)


def compute_cut(good: Sequence[float], bad: Sequence[float], threshold: float) -> ThresholdCut:
    """What `threshold` does to both (at least one score each)."""
    kept = sum(score >= threshold for score in good) / len(good)
    refused = sum(score < threshold for score in bad) / len(bad)
    return ThresholdCut(threshold, kept, refused)


def find_best_cut(good: Sequence[float], bad: Sequence[float]) -> ThresholdCut:
    """The threshold of the highest balanced accuracy; of equals the lowest, which refuses least."""
    ordered_good, ordered_bad = sorted(good), sorted(bad)
    best = ThresholdCut(0.0, 1.0, 0.0)
    for threshold in sorted({*good, *bad}):
        kept = 1 - bisect_left(ordered_good, threshold) / len(good)
        cut = ThresholdCut(threshold, kept, bisect_left(ordered_bad, threshold) / len(bad))
        if cut.balanced_accuracy > best.balanced_accuracy:
            best = cut
    return best
