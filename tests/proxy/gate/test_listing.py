"""List numbers: what is one is taken away, and every other number stays to be checked."""

import pytest

from proxy.gate.listing import ListNumberParser
from tests.proxy.gate.gate_runs import load_default_rules


def strip_list_numbers(*texts: str, opens: bool = True) -> list[str]:
    parser = ListNumberParser(load_default_rules().months)
    return [parser.strip_list_number(text, opens) for text in texts]


@pytest.mark.parametrize(
    "texts",
    [
        ("1. Paint", "2. Brushes", "3. Paper"),
        ("\n1) Paint", " 2) Brushes"),
        ("(1) Paint", "(2) Brushes"),
        ("**1.** Paint", "**2.** Brushes"),
        ("- 1. Paint", "> 2. Brushes"),
        ("## 1. Paint", "### 1.1. Brushes", "### 1.2. Paper", "## 2. Ink"),
        ("۱. رنگ", "۲. قلم"),
        ("1、颜料", "2、画笔"),
        ("①颜料", "②画笔"),
        ("1️⃣ Paint", "2️⃣ Brushes"),
        ("1. Paint", "1. Oil", "2. Acrylic", "2. Brushes"),
    ],
)
def test_a_list_counts_from_one(texts: tuple[str, ...]) -> None:
    assert not any(c.isnumeric() for text in strip_list_numbers(*texts) for c in text)


@pytest.mark.parametrize(
    "texts",
    [
        ("2. Paint",),
        ("1. Paint", "3. Brushes"),
        ("1984. A year",),
        ("1.",),
        ("1.5 metres",),
        ("1 Paint",),
        ("20. is the price",),
        ("1. Mai 2020",),
        ("1. Paint", "2. Mai ist frei"),
        ("1.1. Paint", "1.3. Brushes"),
        ("9) paint",),
    ],
)
def test_a_number_out_of_turn_is_a_value(texts: tuple[str, ...]) -> None:
    assert strip_list_numbers(*texts)[-1] == texts[-1]


def test_a_bracketed_number_that_opens_a_line_is_an_item_of_a_list_begun_elsewhere() -> None:
    assert strip_list_numbers("9) Paint") == ["Paint"]
    assert strip_list_numbers("9) Paint", opens=False) == ["9) Paint"]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("You need: 1. Paint 2. Brushes 3. Paper", "You need: Paint Brushes Paper"),
        ("You need: 1) Paint 2) Brushes", "You need: Paint Brushes"),
        ("You need: 2. Paint", "You need: 2. Paint"),
        ("You need: 1. Paint 3. Paper", "You need: Paint 3. Paper"),
        ("You need 1. Paint 2. Brushes", "You need 1. Paint 2. Brushes"),
        ("It costs: 1.", "It costs: 1."),
        ("It costs: 1.50 Euro", "It costs: 1.50 Euro"),
    ],
)
def test_a_list_within_a_line_begins_with_one_after_a_colon(text: str, left: str) -> None:
    assert " ".join(strip_list_numbers(text)[0].split()) == left


def test_a_list_within_a_line_goes_on_in_the_next_sentence() -> None:
    assert strip_list_numbers("Do this: 1. Paint.", " 2. Wait.", " 4. Go.", opens=False) == [
        "Do this:  Paint.",
        "Wait.",
        " 4. Go.",
    ]
