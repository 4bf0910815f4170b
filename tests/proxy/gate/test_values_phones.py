"""Telephone numbers: one number in any form, and no plain numbers in it."""

import pytest

from tests.proxy.gate.value_checks import is_supported, list_value_keys


@pytest.mark.parametrize(
    ("text", "digits"),
    [
        ("+41 (44) 555-01.23", "41445550123"),
        ("(212) 555-0147", "2125550147"),
        ("212.555.0147", "2125550147"),
        ("212 555 0147", "2125550147"),
        ("1-800-555-0147", "18005550147"),
        ("020 7946 0958", "02079460958"),
        ("020-79460958", "02079460958"),
        ("01.23.45.67.89", "0123456789"),
        ("8 (812) 555-01-47", "88125550147"),
    ],
)
def test_phone_numbers_are_known_by_their_digits(text: str, digits: str) -> None:
    assert list_value_keys(f"call {text} now") == [f"tel:{digits}"]


def test_a_russian_number_is_the_same_from_abroad() -> None:
    assert is_supported("8 (812) 555-01-47", "+7 812 555 01 47", "ru")
    assert is_supported("+7 812 5550147", "8-812-555-01-47", "ru")
    assert not is_supported("8 (812) 555-01-48", "+7 812 555 01 47", "ru")
    assert not is_supported("+8 812 555 01 47", "+7 812 555 01 47", "ru")


@pytest.mark.parametrize("part", ["212", "555", "0147", "21"])
def test_a_part_of_a_phone_number_is_no_number_of_the_source(part: str) -> None:
    assert not is_supported(part, "call 212 555 0147 or 021-55501470")
