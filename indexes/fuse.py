"""Two ranked lists become one order; a cosine and a coverage become one bounded similarity. Pure."""

from collections.abc import Sequence

from indexes.types import Band


def rrf(lists: Sequence[Sequence[int]], k: int = 60) -> list[int]:
    """Ids of all `lists` (each best first), best first by reciprocal rank fusion.

    An id scores Σ 1 / (k + rank), ranks from 1 (Cormack, Clarke and Büttcher, SIGIR 2009). Ties go to the
    id met first, so an earlier list wins over a later one. An id repeated in one list counts once.
    """
    scores: dict[int, float] = {}
    for ranked in lists:
        for rank, found in enumerate(dict.fromkeys(ranked), start=1):
            scores[found] = scores.get(found, 0.0) + 1 / (k + rank)
    return sorted(scores, key=scores.__getitem__, reverse=True)


def similarity(cosine: float | None, band: Band, coverage: float) -> float:
    """0..1: the greater of `coverage` (0..1) and the cosine's place in `band`.

    A model's cosines live in a narrow band: the raw value means nothing beside a threshold. None: no vectors.
    """
    if cosine is None:
        return coverage
    place = (cosine - band.floor) / (band.ceiling - band.floor)
    return max(min(max(place, 0.0), 1.0), coverage)
