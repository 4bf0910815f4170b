"""What a run of golden cases showed: figures apart and per language, faults in words; as text or data."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from golden.grade import Figure, FigureVerdict, Grade

Json = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class ReportCount:
    """How many verdicts on one figure were right."""

    right: int
    total: int

    def __str__(self) -> str:
        return f"{self.right}/{self.total}" if self.total else "–"


@dataclass(frozen=True, slots=True)
class Report:
    """The grades of one run. It passed when every verdict is right: there are no partial marks."""

    grades: tuple[Grade, ...]

    @property
    def has_passed(self) -> bool:
        return all(grade.is_right for grade in self.grades)

    @property
    def exit_code(self) -> int:
        """0: every verdict is right; 1: one is not."""
        return 0 if self.has_passed else 1

    @property
    def languages(self) -> tuple[str, ...]:
        """The cases' languages in the order of their first case."""
        return tuple(dict.fromkeys(grade.case.language for grade in self.grades))

    def count_right(self, figure: Figure, language: str | None = None) -> ReportCount:
        """One figure over all languages, or over one."""
        right = [
            verdict.is_right
            for grade in self.grades
            if language is None or grade.case.language == language
            for verdict in grade.verdicts
            if verdict.figure == figure
        ]
        return ReportCount(sum(right), len(right))


def render_report(report: Report) -> str:
    """The report for people: faults first, the table of figures last, where a terminal leaves it in sight."""
    lines = [line for grade in report.grades if not grade.is_right for line in _describe_grade_faults(grade)]
    wrong = sum(not grade.is_right for grade in report.grades)
    summary = (
        f"{wrong} of {len(report.grades)} cases are wrong"
        if wrong
        else f"all {len(report.grades)} cases are right"
    )
    return "\n".join([*lines, *_render_figure_table(report), "", summary])


def build_report_data(report: Report) -> Json:
    """The report for programs: `passed`, `cases`, `figures` (all and per language) and `faults`."""
    return {
        "passed": report.has_passed,
        "cases": len(report.grades),
        "figures": {
            figure.value: {
                language or "all": {"right": count.right, "total": count.total}
                for language, count in _iterate_counts(report, figure)
                if count.total
            }
            for figure in Figure
        },
        "faults": [_build_fault_data(grade) for grade in report.grades if not grade.is_right],
    }


def _iterate_counts(report: Report, figure: Figure) -> Iterator[tuple[str, ReportCount]]:
    yield "", report.count_right(figure)
    for language in report.languages:
        yield language or "unsaid", report.count_right(figure, language)


def _describe_grade_faults(grade: Grade) -> Iterator[str]:
    yield f"✗ {grade.case.id} ({grade.case.location}): {grade.case.question}"
    yield from (f"    {verdict.figure}: {verdict.fault}" for verdict in _iterate_wrong_verdicts(grade))


def _iterate_wrong_verdicts(grade: Grade) -> Iterator[FigureVerdict]:
    return (verdict for verdict in grade.verdicts if not verdict.is_right)


def _build_fault_data(grade: Grade) -> Json:
    return {
        "id": grade.case.id,
        "place": grade.case.location,
        "question": grade.case.question,
        "language": grade.case.language,
        "why": {verdict.figure.value: verdict.fault for verdict in _iterate_wrong_verdicts(grade)},
    }


def _render_figure_table(report: Report) -> Iterator[str]:
    headers = ["", "all", *(language or "unsaid" for language in report.languages)]
    rows = [
        [figure.value, *(str(count) for _, count in _iterate_counts(report, figure))] for figure in Figure
    ]
    widths = [max(len(row[column]) for row in [headers, *rows]) for column in range(len(headers))]
    for row in [headers, *rows]:
        first, *rest = (cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        yield "  ".join([row[0].ljust(len(first)), *rest]).rstrip()
