"""Which similarity separates questions with an answer from those without? Pure: a report in, values out.

The rule: the threshold is the middle between the highest similarity of a question that must be refused and
the lowest of an answerable one above it: every question to be refused is, with the same margin on both sides.
If that loses more than `lose_max` of the answerable questions, there is no separating threshold, and that is
said instead. A language gets its own value from `QUESTIONS_MIN` questions of each kind on; all together are
judged too.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean

from golden.cases import GoldenCase
from golden.report import Report
from proxy.settings.lock import AssistantLock, CalibratedThreshold, ThresholdLock

QUESTIONS_MIN = 5
"""Questions of each kind below which a language has no value of its own."""
ALL_LANGUAGES = "all"
"""The row over all languages."""


@dataclass(frozen=True, slots=True)
class SimilaritySample:
    """The best similarity (0..1) of one question, and whether the corpus answers it."""

    id: str
    language: str
    similarity: float
    is_answerable: bool


@dataclass(frozen=True, slots=True)
class Separation:
    """How far the two kinds lie apart. `threshold` None: nothing separates them; `explanation` says why."""

    samples: tuple[SimilaritySample, ...]
    threshold: float | None = None
    lost_ids: tuple[str, ...] = ()
    """Ids of answerable questions that the threshold would refuse."""
    explanation: str = ""

    @property
    def answerable(self) -> tuple[SimilaritySample, ...]:
        return tuple(s for s in self.samples if s.is_answerable)

    @property
    def unanswerable(self) -> tuple[SimilaritySample, ...]:
        return tuple(s for s in self.samples if not s.is_answerable)

    @property
    def auc(self) -> float | None:
        """Chance that an answerable question scores above another, ties half (Mann and Whitney 1947)."""
        pairs = [
            (good.similarity > bad.similarity) + (good.similarity == bad.similarity) / 2
            for good in self.answerable
            for bad in self.unanswerable
        ]
        return fmean(pairs) if pairs else None


Separations = Mapping[str, Mapping[str, Separation]]
"""By assistant, then by language; `ALL_LANGUAGES` is the row over all."""


def find_separation(samples: Iterable[SimilaritySample], lose_max: float = 0.0) -> Separation:
    """Finds the threshold of the rule above; `lose_max` is the share of answerable questions it may cost."""
    ranked = Separation(tuple(sorted(samples, key=lambda s: s.similarity)))
    if not ranked.answerable or not ranked.unanswerable:
        kind = "question that must be refused" if ranked.answerable else "case with an `expect_source`"
        return Separation(ranked.samples, explanation=f"no {kind} was searched for")
    top = ranked.unanswerable[-1]
    lost = [s for s in ranked.answerable if s.similarity <= top.similarity]
    kept = ranked.answerable[len(lost) :]
    if not kept or len(lost) > lose_max * len(ranked.answerable):
        return Separation(
            ranked.samples, lost_ids=tuple(s.id for s in lost), explanation=_explain_overlap(top, lost)
        )
    middle = _choose_middle(top.similarity, kept[0].similarity)
    return Separation(ranked.samples, middle, tuple(s.id for s in lost))


def separate_report(report: Report, lose_max: float = 0.0) -> Separations:
    """Per assistant: all languages together, then each language with enough questions of both kinds."""
    separations: dict[str, dict[str, Separation]] = {}
    for assistant, samples in _collect_samples(report).items():
        rows = {ALL_LANGUAGES: find_separation(samples, lose_max)}
        for language in dict.fromkeys(s.language for s in samples):
            own = find_separation((s for s in samples if s.language == language), lose_max)
            if min(len(own.answerable), len(own.unanswerable)) >= QUESTIONS_MIN:
                rows[language] = own
        separations[assistant] = rows
    return separations


def build_lock(separations: Separations, *, model: str, generation: str, date: str) -> ThresholdLock:
    """What `threshold.lock.toml` is to say: the values that were found, and what they were measured on."""
    return ThresholdLock(
        model=model,
        generation=generation,
        date=date,
        rule="middle between the highest question to be refused and the lowest answerable one above it",
        assistants={
            assistant: AssistantLock(
                every=_build_calibrated_threshold(rows[ALL_LANGUAGES]),
                languages={
                    language: value
                    for language, row in rows.items()
                    if language != ALL_LANGUAGES and (value := _build_calibrated_threshold(row))
                },
            )
            for assistant, rows in separations.items()
        },
    )


def render_separations(separations: Separations) -> str:
    """The separations as a table for people, and a sentence for each that has no threshold."""
    lines = [f"{'':24}{'answerable':>12}{'lowest':>8}{'refuse':>8}{'highest':>9}{'AUC':>7}{'threshold':>11}"]
    for assistant, rows in separations.items():
        for language, row in rows.items():
            lines.append(f"{f'{assistant} {language}':24}{_format_separation_row(row)}")
            if row.explanation:
                lines.append(f"    no separating threshold: {row.explanation}")
            elif row.lost_ids:
                lines.append(
                    f"    the threshold refuses {len(row.lost_ids)} answerable: {', '.join(row.lost_ids)}"
                )
    if not separations:
        lines.append("    nothing to separate: no case searched has `expect_source` or `expect: no_evidence`")
    return "\n".join(lines)


def build_separation_data(separations: Separations) -> Mapping[str, object]:
    """The separations for programs: by assistant and language, the figures of the table and the ids lost."""
    return {
        assistant: {language: _build_separation_row(row) for language, row in rows.items()}
        for assistant, rows in separations.items()
    }


def _build_separation_row(row: Separation) -> Mapping[str, object]:
    return {
        "threshold": row.threshold,
        "answerable": len(row.answerable),
        "lowest": row.answerable[0].similarity if row.answerable else None,
        "refuse": len(row.unanswerable),
        "highest": row.unanswerable[-1].similarity if row.unanswerable else None,
        "auc": row.auc,
        "lost": row.lost_ids,
        "why": row.explanation,
    }


def _collect_samples(report: Report) -> dict[str, list[SimilaritySample]]:
    """By assistant: every case that was searched for and says whether the corpus answers it."""
    samples: dict[str, list[SimilaritySample]] = {}
    for grade in report.grades:
        outcome, answerable = grade.outcome, _is_answerable(grade.case)
        if outcome and outcome.similarity is not None and answerable is not None:
            sample = SimilaritySample(grade.case.id, grade.case.language, outcome.similarity, answerable)
            samples.setdefault(outcome.assistant, []).append(sample)
    return samples


def _is_answerable(case: GoldenCase) -> bool | None:
    """None: the case says nothing about similarity (a pattern refuses it, records answer it, …)."""
    if case.expect == ("no_evidence",):
        return False
    return True if case.expect_source and not case.expects_refusal else None


def _choose_middle(low: float, high: float) -> float:
    """Short where it may be: `low < middle <= high` must hold after rounding too."""
    middle = round((low + high) / 2, 3)
    return middle if low < middle <= high else high


def _explain_overlap(top: SimilaritySample, lost: list[SimilaritySample]) -> str:
    below = ", ".join(f"{s.id} ({s.similarity:.3f})" for s in lost[:5]) + (" …" if len(lost) > 5 else "")
    return f"{top.id} must be refused and reaches {top.similarity:.3f}; not above it: {below}"


def _build_calibrated_threshold(row: Separation) -> CalibratedThreshold | None:
    if row.threshold is None:
        return None
    counts = {"answerable": len(row.answerable), "unanswerable": len(row.unanswerable)}
    return CalibratedThreshold(threshold=row.threshold, **counts)


def _format_separation_row(row: Separation) -> str:
    low = f"{row.answerable[0].similarity:.3f}" if row.answerable else "–"
    high = f"{row.unanswerable[-1].similarity:.3f}" if row.unanswerable else "–"
    auc = "–" if row.auc is None else f"{row.auc:.3f}"
    chosen = "–" if row.threshold is None else f"{row.threshold:.3f}"
    return f"{len(row.answerable):12}{low:>8}{len(row.unanswerable):8}{high:>9}{auc:>7}{chosen:>11}"
