"""proxy.commands.console: money is exact, and text that runs from right to left keeps its punctuation."""

import io

import pytest
from rich.console import Console

from proxy.commands.console import format_usd, isolate_direction, print_table


@pytest.mark.parametrize(
    ("nanousd", "shown"),
    [(0, "$0.00"), (3_221_500, "$0.0032215"), (12_000_000_000, "$12.00"), (-500_000_000, "-$0.50")],
)
def test_money_is_shown_exactly(nanousd: int, shown: str) -> None:
    assert format_usd(nanousd) == shown


@pytest.mark.parametrize("text", ["قیمت ۱۲٫۵۰ یورو است.", "يفتح عند 9:30 (Tolva)."])
def test_each_line_from_right_to_left_is_isolated(text: str) -> None:
    assert isolate_direction(f"{text}\n\nplain") == f"\u2068{text}\u2069\n\n\u2068plain\u2069"


def test_text_from_left_to_right_is_left_alone() -> None:
    assert isolate_direction("It opens at 9:30.") == "It opens at 9:30."


ROW = (
    "fiador_0123456789abcdef",
    "a name [red] of many words longer than any line",
    "$1234567.123456789",
)


def render_row(*, terminal: bool) -> str:
    out = io.StringIO()
    print_table(
        ("id", "name", "cap"), [ROW], Console(file=out, width=40, force_terminal=terminal, no_color=True)
    )
    return out.getvalue()


def test_a_table_for_no_terminal_is_as_wide_as_its_cells() -> None:
    assert [cell.strip() for cell in render_row(terminal=False).splitlines()[3].split("│")[1:4]] == list(ROW)


def test_a_table_on_a_narrow_terminal_folds_and_loses_nothing() -> None:
    lines = [line.split("│")[1:4] for line in render_row(terminal=True).splitlines() if line.startswith("│")]
    columns = ["".join(cell.strip() for cell in column) for column in zip(*lines, strict=True)]
    assert [text.replace(" ", "") for text in columns] == [cell.replace(" ", "") for cell in ROW]
    assert "…" not in render_row(terminal=True)
