"""Digits of every script, also of those that Python's own tables do not know yet."""

import unicodedata

import pytest
import regex

from proxy.gate.values.page import flatten_text
from tests.proxy.gate.gate_runs import LIBRARY, find_stop_rule, run_gate
from tests.proxy.gate.value_checks import is_supported

DIGITS = regex.findall(r"\d", "".join(map(chr, range(0x110000))))
KAWI = [chr(0x11F50 + digit) for digit in range(10)]
"""Unicode 15; Python 3.11 has the tables of 14."""


def test_a_digit_of_any_script_is_its_ascii_form() -> None:
    flat = [flatten_text(digit) for digit in DIGITS]
    assert all(len(digit) == 1 and digit in "0123456789" for digit in flat)
    assert all(
        flat[at] == str(unicodedata.digit(digit)) for at, digit in enumerate(DIGITS) if digit.isdecimal()
    )


def test_a_digit_that_python_does_not_know_is_a_value() -> None:
    assert is_supported(f"It costs {KAWI[1]}{KAWI[2]} euros", "It costs 12 euros")
    assert not is_supported(f"It costs {KAWI[1]}{KAWI[3]} euros", "It costs 12 euros")


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (f"{KAWI[1]}. The card costs 12 euros [1].\n{KAWI[2]}. It lasts two years [1].", ""),
        (f"Two things: {KAWI[1]}. The card costs 12 euros. {KAWI[2]}. It lasts two years [1].", "present"),
        (f"The card costs 12 euros [{KAWI[1]}].", "present"),
        (f"The card costs {KAWI[1]}{KAWI[3]} euros [1].", "values"),
    ],
)
def test_such_digits_break_no_list_and_no_marker(text: str, rule: str) -> None:
    assert find_stop_rule(run_gate(text, sources=(LIBRARY,))) == rule
