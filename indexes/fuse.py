"""Two ranked lists become one order; a cosine and a coverage become one bounded similarity. Pure."""

from collections.abc import Sequence
from itertools import chain
from math import fsum

from indexes.types import Band

RANK_MAX = 10
"""Ranks that tell anything: what one list has further behind says as little as its absence."""


def fuse_ranks(lists: Sequence[Sequence[int]], k: int = 60) -> list[int]:
    """Ids of all `lists` (each best first), best first by reciprocal rank fusion.

    An id scores Σ 1 / (k + rank), ranks from 1 (Cormack, Clarke and Büttcher, SIGIR 2009), where a rank
    beyond `RANK_MAX`, or none, counts as `RANK_MAX`: a list does not forbid what it does not hold, and what
    both have at their far ends must not stand before the best of one. Equal sums are told apart by the plain
    formula, then by who was met first: an earlier list wins over a later one. An id repeated in a list counts
    once.
    """
    ranks = [{id: rank for rank, id in enumerate(dict.fromkeys(ids), start=1)} for ids in lists]

    def score_id(id: int) -> tuple[float, float]:
        capped = fsum(1 / (k + min(rank.get(id, RANK_MAX), RANK_MAX)) for rank in ranks)
        return capped, fsum(1 / (k + rank[id]) for rank in ranks if id in rank)

    return sorted(dict.fromkeys(chain.from_iterable(lists)), key=score_id, reverse=True)


def compute_similarity(cosine: float | None, band: Band, coverage: float) -> float:
    """0..1: the greater of `coverage` (0..1) and the cosine's place in `band`.

    A model's cosines live in a narrow band: the raw value means nothing beside a threshold. None: no vectors.
    """
    if cosine is None:
        return coverage
    place = (cosine - band.floor) / (band.ceiling - band.floor)
    return max(min(max(place, 0.0), 1.0), coverage)
