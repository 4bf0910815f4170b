"""Spelled-out numbers and ordinals of ten languages."""

import pytest

from proxy.gate.values import read_values
from tests.proxy.gate.value_checks import PACKS, is_supported, list_value_keys

SPELLED = [
    ("en", "thirty-seven, four hundred and six, two thousand three hundred", [37, 406, 2300]),
    ("en", "the twenty-first, the ninetieth and eleven", [21, 90, 11]),
    ("en", "three million five hundred thousand", [3500000]),
    ("es", "treinta y siete, cuatrocientos seis, dos mil trescientas, dieciséis", [37, 406, 2300, 16]),
    ("es", "tres mil millones", [3000000000]),
    ("pt", "trinta e sete, quatrocentos e seis, dois mil e trezentos", [37, 406, 2300]),
    ("fr", "trente-sept, quatre-vingt-seize, soixante et onze, deux mille trois cents", [37, 96, 71, 2300]),
    ("fr", "quatre-vingts, quatre-vingt-dix-neuf, vingtième", [80, 99, 20]),
    ("de", "siebenunddreißig, vierhundertsechs, zweitausenddreihundert, sechzehn", [37, 406, 2300, 16]),
    ("de", "der siebzehnte Band der fünfundzwanzigsten Reihe", [17, 25]),
    ("ru", "тридцать семь, четыреста шесть, две тысячи триста", [37, 406, 2300]),
    ("ru", "двадцать первый, восьмидесяти", [21, 80]),
    ("fa", "سی و هفت، چهارصد و شش، دو هزار و سیصد", [37, 406, 2300]),
    ("ar", "سبعة وثلاثون، أربعمئة وستة، ثلاثة عشر", [37, 406, 13]),
    ("hi", "सैंतीस, चार सौ छह, दो हज़ार तीन सौ, तीन लाख", [37, 406, 2300, 300000]),
    ("zh", "三十七人、四百零六个、两千三百元、三万五千台", [37, 406, 2300, 35000]),
]


@pytest.mark.parametrize(("language", "text", "numbers"), SPELLED)
def test_spelled_out_numbers(language: str, text: str, numbers: list[int]) -> None:
    assert list_value_keys(text, language, spelled=True) == [f"n:{number}" for number in numbers]


@pytest.mark.parametrize(("language", "text", "numbers"), SPELLED)
def test_digits_are_held_by_words_of_a_source(language: str, text: str, numbers: list[int]) -> None:
    for number in numbers:
        assert is_supported(str(number), text, language)
        assert not is_supported(str(number + 1), text, language)


UNREAD = [
    ("en", "one of a hundred, a second, hundreds, the first two-thirds".replace("two-", "")),
    ("es", "once, un segundo cuarto, miles"),
    ("pt", "segunda-feira, um quarto, milhares"),
    ("fr", "un neuf, une seconde, des milliers"),
    ("de", "Achtung, ein Elf, acht, Dreieck, einander"),
    ("ru", "семью, один, сторона"),
    ("fa", "نه، ده، یک، سی"),
    ("ar", "الثاني، واحد"),
    ("hi", "दो, एक, सौ"),
    ("zh", "三明治、四川、十分、一个、万一、千万不要、三四个"),
]


@pytest.mark.parametrize(("language", "text"), UNREAD)
def test_words_that_also_mean_something_else_are_not_asked_for(language: str, text: str) -> None:
    assert list_value_keys(text, language, spelled=True) == []


def test_answers_are_read_for_words_only_if_asked() -> None:
    assert list_value_keys("thirty rooms", spelled=False) == []
    assert list_value_keys("thirty rooms", spelled=True) == ["n:30"]


def test_seconds_after_a_number_are_not_its_ordinal() -> None:
    assert list_value_keys("thirty seconds", spelled=True) == ["n:30"]
    assert list_value_keys("treinta segundos", "es", spelled=True) == ["n:30"]
    assert list_value_keys("the thirty-second time", spelled=True) == ["n:32"]


def test_neighbours_are_two_numbers() -> None:
    assert list_value_keys("four, six or five and seven", spelled=True) == ["n:4", "n:6", "n:5", "n:7"]
    assert list_value_keys("between twenty and thirty", spelled=True) == ["n:20", "n:30"]


def test_a_lone_two_or_three_is_a_figure_only_of_time_money_or_measure() -> None:
    """Answers count what they list: "two friends, Ann and Bo" claims no figure."""
    assert list_value_keys("Two friends chose three of the plans", spelled=True) == []
    assert list_value_keys("two years, three euros and a two-day visit", spelled=True) == [
        "n:2",
        "n:3",
        "n:2",
    ]
    assert list_value_keys("four friends", spelled=True) == ["n:4"]
    assert list_value_keys("Two friends", source=True) == ["n:2"]


@pytest.mark.parametrize(
    ("language", "text", "number"),
    [
        ("es", "quinientas plazas", 500),
        ("fr", "deux cents places", 200),
        ("fr", "mille euros", 1000),
        ("pt", "duzentos lugares", 200),
        ("de", "hundert Euro", 100),
        ("ru", "пятьсот мест", 500),
        ("ru", "сто рублей", 100),
        ("fa", "پانصد صندلی", 500),
        ("ar", "خمسمئة مقعد", 500),
        ("hi", "सौ रुपये", 100),
        ("en", "48 dozen seats", 12),
    ],
)
def test_a_great_number_in_one_word_is_a_figure(language: str, text: str, number: int) -> None:
    assert f"n:{number}" in list_value_keys(text, language, spelled=True)


@pytest.mark.parametrize(
    ("language", "text"),
    [("en", "a thousand thanks"), ("es", "mil gracias"), ("fr", "mille mercis"), ("de", "tausend Dank")],
)
def test_a_lone_hundred_or_thousand_may_be_any_great_number(language: str, text: str) -> None:
    assert list_value_keys(text, language, spelled=True) == []


@pytest.mark.parametrize(
    ("language", "text", "number"),
    [
        ("de", "die vierzehnte Ausgabe", 14),
        ("de", "der fünfzigste", 50),
        ("es", "el decimoquinto", 15),
        ("pt", "o quadragésimo", 40),
        ("fr", "la quarantième", 40),
        ("ru", "пятнадцатого зала", 15),
        ("ru", "двенадцатью местами", 12),
        ("fa", "شانزدهمین تالار", 16),
        ("ar", "القاعة الخامسة عشرة", 15),
        ("hi", "ग्यारहवाँ हॉल", 11),
    ],
)
def test_ordinals_above_ten_are_figures(language: str, text: str, number: int) -> None:
    assert list_value_keys(text, language, spelled=True) == [f"n:{number}"]


def test_a_count_goes_against_a_source_that_numbers_the_same_thing() -> None:
    """Two of what a source has nine of are a claim; two that it lists without a number are none."""
    assert not is_supported("Two rooms are open", "It has 9 rooms")
    assert is_supported("Two rooms are open", "It has 9 rooms, the red and the blue, and 2 gardens")
    assert is_supported("Two friends, Ann and Bo", "It has 9 rooms. Ann and Bo live there")
    assert not is_supported("a dozen eggs", "ten eggs")
    assert not is_supported("deux salles", "9 salles", "fr")
    assert not is_supported("Una docena de huevos", "9 huevos", "es")
    assert not is_supported("Eine Reihe und ein Dutzend Eier", "9 Eier", "de")
    assert is_supported("Une vingtaine de salles", "vingt salles", "fr")
    assert is_supported("Two and three", "9 and 3 and more")


def test_a_count_needs_no_marker() -> None:
    """It is no value of the sentence, which may stay a lead-in."""
    values = read_values("Two rooms are open:", "en", PACKS)
    assert not values.items
    assert [count.noun for count in values.counts] == ["rooms"]
