"""The words of `values.toml`: folded, complete, and each one read."""

import pytest

from indexes.text.folding import fold_text
from proxy.settings.languages import LANGUAGE_TAGS
from tests.proxy.gate.value_checks import PACKS, list_value_keys

FIELDS = (
    *("of", "until", "minus", "minus_never", "month_words", "clock", "clock_before", "hours", "minutes"),
    *("morning", "evening", "night", "loose", "joins", "point", "measures"),
)


@pytest.mark.parametrize("tag", LANGUAGE_TAGS)
def test_every_word_is_folded(tag: str) -> None:
    pack = PACKS[tag]
    words = [word for row in (*pack.months, *pack.jalali, *pack.hijri) for word in row]
    words += [*pack.scales, *pack.cardinals, *pack.ranks]
    words += [word for name in FIELDS for word in getattr(pack, name)]
    assert [word for word in words if fold_text(word) != word] == []


@pytest.mark.parametrize("tag", LANGUAGE_TAGS)
def test_months_are_twelve_and_no_name_means_two(tag: str) -> None:
    for rows in (PACKS[tag].months, PACKS[tag].jalali, PACKS[tag].hijri):
        assert len(rows) in (0, 12)
        names = [name for row in rows for name in row]
        assert len(names) == len(set(names))


@pytest.mark.parametrize("tag", LANGUAGE_TAGS)
def test_every_month_name_makes_a_date(tag: str) -> None:
    for number, row in enumerate(PACKS[tag].months, 1):
        for name in row:
            text = f"2019年{name}9日" if tag == "zh" else f"9 {name} 2019"
            assert list_value_keys(text, tag) == [f"date:2019-{number:02d}-09"], name


@pytest.mark.parametrize("tag", LANGUAGE_TAGS)
def test_every_cardinal_from_two_is_read_in_a_source(tag: str) -> None:
    for word, number in PACKS[tag].cardinals.items():
        if number >= 2 and tag != "zh":
            assert f"n:{number}" in list_value_keys(word, tag, source=True), word


@pytest.mark.parametrize("tag", LANGUAGE_TAGS)
def test_every_scale_word_sets_its_number_apart(tag: str) -> None:
    pack = PACKS[tag]
    for word, power in pack.scales.items():
        assert list_value_keys(f"5 {word}", tag) == ["n:5"], word
        assert power >= 2


@pytest.mark.parametrize("tag", LANGUAGE_TAGS)
def test_a_loose_word_stands_in_a_table(tag: str) -> None:
    pack = PACKS[tag]
    assert set(pack.loose) <= {*pack.cardinals, *pack.ranks}
