"""Layer 2's decision: is there evidence enough to call the model at all?"""

from collections.abc import Mapping

from indexes.types import Evidence

DEFAULT_THRESHOLD = 0.35
"""A design default, to be calibrated over one's own corpus and model (`fiador calibrate`)."""


def has_enough_evidence(evidence: Evidence, threshold: float) -> bool:
    """Whether the best bounded similarity reaches `threshold`; a rank score never comes near here."""
    return bool(evidence.hits) and evidence.best_similarity >= threshold


def choose_threshold(
    explicit: float | None,
    per_language: Mapping[str, float],
    language: str,
    calibrated: Mapping[str, float] = {},
) -> float:
    """The threshold of `language`: its own setting, the assistant's, the calibrated one, the default.

    `per_language` and `explicit` are settings and win over `calibrated`, whose `*` stands for all other
    languages.
    """
    if language in per_language:
        return per_language[language]
    if explicit is not None:
        return explicit
    return calibrated.get(language, calibrated.get("*", DEFAULT_THRESHOLD))
