"""Forms of one word share a root, in every script; a root is found from the question's form alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexes.text.roots import ROOT_LETTERS, find_roots
from indexes.text.words import tokenize_for_index


def find_root(word: str) -> str:
    (token,) = tokenize_for_index(word)
    return find_roots([token])[0]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("restorations", "restored"),
        ("devolución", "devoluciones"),
        ("rendezvényeket", "rendezvény"),
        ("Rückgaben", "rückgabe"),
        ("библиотеке", "библиотека"),
        ("पुस्तकालयों", "पुस्तकालय"),
        ("المكتبة", "مكتبات"),
        ("والحكومة", "حكومة"),
        ("کتاب‌ها".replace("\u200c", ""), "کتاب"),
    ],
)
def test_forms_of_one_word_share_a_root(one: str, other: str) -> None:
    assert find_root(one) == find_root(other)


@pytest.mark.parametrize(("one", "other"), [("bridge", "bride"), ("مدرسه", "مدير"), ("школа", "шкаф")])
def test_other_words_keep_apart(one: str, other: str) -> None:
    assert find_root(one) != find_root(other)


@pytest.mark.parametrize("word", ["ولد", "الله", "هات", "وان"])
def test_a_short_word_is_not_worn_down_to_nothing(word: str) -> None:
    assert len(find_root(word)) >= 2


def test_numbers_and_han_pass_through() -> None:
    assert find_roots(["2024", "员工"]) == ["2024", "员工"]


@given(st.lists(st.text(min_size=1, max_size=12)))
def test_every_token_has_one_short_root(tokens: list[str]) -> None:
    found = find_roots(tokens)
    assert len(found) == len(tokens)
    assert all(0 < len(one) <= ROOT_LETTERS for one in found)
