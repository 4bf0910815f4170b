"""proxy.commands.shown: money is exact, and text that runs from right to left keeps its punctuation."""

import pytest

from proxy.commands.shown import directed, money


@pytest.mark.parametrize(
    ("nanousd", "shown"),
    [(0, "$0.00"), (3_221_500, "$0.0032215"), (12_000_000_000, "$12.00"), (-500_000_000, "-$0.50")],
)
def test_money_is_shown_exactly(nanousd: int, shown: str) -> None:
    assert money(nanousd) == shown


@pytest.mark.parametrize("text", ["قیمت ۱۲٫۵۰ یورو است.", "يفتح عند 9:30 (Tolva)."])
def test_each_line_from_right_to_left_is_isolated(text: str) -> None:
    assert directed(f"{text}\n\nplain") == f"\u2068{text}\u2069\n\n\u2068plain\u2069"


def test_text_from_left_to_right_is_left_alone() -> None:
    assert directed("It opens at 9:30.") == "It opens at 9:30."
