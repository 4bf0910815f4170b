"""What a run of golden cases showed: figures apart and per language, faults in words; as text or data."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from golden.grade import Figure, Grade, Verdict

Json = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Count:
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
    def passed(self) -> bool:
        return all(grade.right for grade in self.grades)

    @property
    def exit_code(self) -> int:
        """0: every verdict is right; 1: one is not."""
        return 0 if self.passed else 1

    @property
    def languages(self) -> tuple[str, ...]:
        """The cases' languages in the order of their first case."""
        return tuple(dict.fromkeys(grade.case.language for grade in self.grades))

    def count(self, figure: Figure, language: str | None = None) -> Count:
        """One figure over all languages, or over one."""
        right = [
            verdict.right
            for grade in self.grades
            if language is None or grade.case.language == language
            for verdict in grade.verdicts
            if verdict.figure == figure
        ]
        return Count(sum(right), len(right))


def text(report: Report) -> str:
    """The report for people: faults first, the table of figures last, where a terminal leaves it in sight."""
    lines = [line for grade in report.grades if not grade.right for line in _fault(grade)]
    wrong = sum(not grade.right for grade in report.grades)
    said = (
        f"{wrong} of {len(report.grades)} cases are wrong"
        if wrong
        else f"all {len(report.grades)} cases are right"
    )
    return "\n".join([*lines, *_table(report), "", said])


def data(report: Report) -> Json:
    """The report for programs: `passed`, `cases`, `figures` (all and per language) and `faults`."""
    return {
        "passed": report.passed,
        "cases": len(report.grades),
        "figures": {
            figure.value: {
                language or "all": {"right": count.right, "total": count.total}
                for language, count in _counts(report, figure)
                if count.total
            }
            for figure in Figure
        },
        "faults": [_json(grade) for grade in report.grades if not grade.right],
    }


def _counts(report: Report, figure: Figure) -> Iterator[tuple[str, Count]]:
    yield "", report.count(figure)
    for language in report.languages:
        yield language or "unsaid", report.count(figure, language)


def _fault(grade: Grade) -> Iterator[str]:
    yield f"✗ {grade.case.id} ({grade.case.place}): {grade.case.question}"
    yield from (f"    {verdict.figure}: {verdict.why}" for verdict in _wrong(grade))


def _wrong(grade: Grade) -> Iterator[Verdict]:
    return (verdict for verdict in grade.verdicts if not verdict.right)


def _json(grade: Grade) -> Json:
    return {
        "id": grade.case.id,
        "place": grade.case.place,
        "question": grade.case.question,
        "language": grade.case.language,
        "why": {verdict.figure.value: verdict.why for verdict in _wrong(grade)},
    }


def _table(report: Report) -> Iterator[str]:
    heads = ["", "all", *(language or "unsaid" for language in report.languages)]
    rows = [[figure.value, *(str(count) for _, count in _counts(report, figure))] for figure in Figure]
    widths = [max(len(row[column]) for row in [heads, *rows]) for column in range(len(heads))]
    for row in [heads, *rows]:
        first, *rest = (cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        yield "  ".join([row[0].ljust(len(first)), *rest]).rstrip()
