"""The edges of what is looked at after a stop, and what a line is once parts of it have gone."""

import pytest

from proxy.gate.lookahead import LOOKAHEAD_CHARS
from tests.proxy.gate.test_sentences import make_scanner, split_units


def list_unit_kinds(text: str) -> list[str]:
    """Kinds of the units of `text`."""
    scan = make_scanner()
    return [unit.kind for unit in (*scan.feed(text), *scan.finish())]


@pytest.mark.parametrize(
    "tail", ["[1](http://a.b) c", "[[1]](b) c", "[1] Next", "\n[1]\nNext", "\n[1](b)\nNext", "\r\n    then"]
)
def test_at_the_edge_of_the_window_pieces_do_not_matter(tail: str) -> None:
    for gap in range(LOOKAHEAD_CHARS - 8, LOOKAHEAD_CHARS + 2):
        text = f"Alpha.{' ' * gap}{tail}. End"
        assert split_units(text, pieces=[1] * len(text)) == split_units(text), gap


def test_a_line_break_of_two_characters_is_one_wherever_the_window_ends() -> None:
    """A blank line would make code of the indented one."""
    for gap in range(LOOKAHEAD_CHARS - 8, LOOKAHEAD_CHARS + 2):
        scan = make_scanner()
        units = [u for c in f"Alpha.{' ' * gap}\r\n    then this" for u in scan.feed(c)]
        assert [u.kind for u in (*units, *scan.finish())] == ["text", "text"], gap


def test_a_full_window_is_decided_at_once() -> None:
    assert not make_scanner().feed("Alpha." + " " * (LOOKAHEAD_CHARS - 1))
    assert len(make_scanner().feed("Alpha." + " " * LOOKAHEAD_CHARS)) == 1


def test_a_marker_before_what_only_begins_like_one_does_not_stand_alone() -> None:
    assert split_units("Fact.\n[1] [") == ["Fact.", "\n[1] ["]


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("„So.“ Dann kam sie.", ["„So.“", " Dann kam sie."]),
        ("« Oui. » Puis non.", ["« Oui. »", " Puis non."]),
        ("« Oui. Non.", ["« Oui.", " Non."]),
        ("He left.“Then she came.”", ["He left.", "“Then she came.”"]),
    ],
)
def test_a_quote_closes_only_what_stands_open(text: str, units: list[str]) -> None:
    assert split_units(text) == units


def test_a_line_that_ended_with_a_stop_is_a_paragraph_for_the_next() -> None:
    """Below it an indented line is no code; below a blank one it is."""
    assert list_unit_kinds("Intro\n\nAlpha beta.\n    more words") == ["text", "text", "text"]
    assert list_unit_kinds("Intro\n\nAlpha beta.\n\n    more words") == ["text", "text", "code"]


def test_a_line_is_a_list_item_by_its_beginning_though_that_has_gone() -> None:
    assert list_unit_kinds("- Alpha one. Beta two\n\n    gamma words") == ["text", "text", "text"]


def test_a_kind_known_at_the_first_stop_stays() -> None:
    assert list_unit_kinds("| a | b |\n|---|---|\n| c | d |\nNo. 5 | more\n")[3] == "text"
