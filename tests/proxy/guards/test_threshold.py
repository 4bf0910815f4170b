"""The threshold: the best bounded similarity decides; an explicit setting beats a calibrated one."""

import pytest

from indexes.types import Evidence, Hit, Passage
from proxy.guards.threshold import DEFAULT_THRESHOLD, choose_threshold, has_enough_evidence

HIT = Hit(Passage(1, "d", "s", "t", None, "en", (), "x"), similarity=0.4, coverage=0.4, cosine=None)


@pytest.mark.parametrize(
    ("best", "threshold", "passes"), [(0.4, 0.35, True), (0.35, 0.35, True), (0.34, 0.35, False)]
)
def test_the_best_similarity_must_reach_it(best: float, threshold: float, passes: bool) -> None:
    assert has_enough_evidence(Evidence((HIT,), best, "keywords", ("s",)), threshold) is passes


def test_no_hit_is_never_enough() -> None:
    assert not has_enough_evidence(Evidence((), 0.0, "keywords", ()), 0.0)


@pytest.mark.parametrize(
    ("explicit", "languages", "lock", "value"),
    [
        (None, {}, {}, DEFAULT_THRESHOLD),
        (None, {}, {"*": 0.5}, 0.5),
        (None, {}, {"*": 0.5, "fa": 0.6}, 0.6),
        (0.2, {}, {"fa": 0.6}, 0.2),
        (0.2, {"fa": 0.3}, {"fa": 0.6}, 0.3),
    ],
)
def test_the_nearest_explicit_setting_wins(
    explicit: float | None, languages: dict[str, float], lock: dict[str, float], value: float
) -> None:
    assert choose_threshold(explicit, languages, "fa", lock) == value
