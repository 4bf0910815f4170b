"""Halves, decades and hours in words: what they equal, and what they do not."""

import pytest

from tests.proxy.gate.value_checks import is_supported, list_value_keys

HALVES = [
    ("en", "six and a half metres", "6.5"),
    ("en", "one and a half metres", "1.5"),
    ("en", "half a million readers", "500,000"),
    ("en", "half a dozen readers", "6"),
    ("es", "seis metros y medio", "6,5"),
    ("es", "media docena", "6"),
    ("pt", "seis horas e meia", "6,5"),
    ("pt", "meio milhão de leitores", "500.000"),
    ("fr", "six heures et demie", "6,5"),
    ("fr", "une demi-douzaine", "6"),
    ("de", "sechseinhalb Meter", "6,5"),
    ("de", "anderthalb Meter", "1,5"),
    ("de", "eine halbe Million Leser", "500.000"),
    ("ru", "шесть с половиной метров", "6,5"),
    ("ru", "полтора метра", "1,5"),
    ("ru", "полмиллиона читателей", "500 000"),
    ("fa", "شش متر و نیم", "6.5"),
    ("ar", "ستة أمتار ونصف", "6.5"),
    ("hi", "साढ़े छह मीटर", "6.5"),
    ("hi", "ढाई मीटर", "2.5"),
    ("hi", "सवा सौ मीटर", "125"),
    ("hi", "पौने दो सौ मीटर", "175"),
    ("zh", "六个半", "6.5"),
]


@pytest.mark.parametrize(("language", "text", "number"), HALVES)
def test_a_half_in_words_is_that_number_on_both_sides(language: str, text: str, number: str) -> None:
    assert is_supported(text, number, language)
    assert is_supported(number, text, language)


@pytest.mark.parametrize(("language", "text", "number"), HALVES)
def test_a_half_in_words_is_no_other_number(language: str, text: str, number: str) -> None:
    assert not is_supported(text, "6, 1, 2 and 7,5; 12 and 1,000,000" if number != "6" else "12", language)
    assert not is_supported("7", text, language)


@pytest.mark.parametrize(
    ("language", "text", "source"),
    [
        ("es", "en los años setenta", "in the 1970s"),
        ("pt", "nos anos setenta", "in the 70s"),
        ("fr", "dans les années soixante-dix", "in the 1970s"),
        ("ru", "семидесятые годы", "in the 1970s"),
        ("hi", "सत्तर के दशक में", "in the 1970s"),
        ("zh", "七十年代", "in the 1970s"),
        ("en", "the mid-70s", "the mid-1970s"),
        ("ar", "الساعة السابعة والنصف", "at 7:30 pm"),
        ("ar", "الساعة السابعة", "at 19:00"),
        ("en", "at seven o'clock", "at 7:00"),
        ("fa", "ساعت ۷ و ۴۰ دقیقه", "at 7:40"),
        ("ar", "الخامس والعشرون", "the 25th"),
        ("hi", "बारह सौ मीटर", "1,200 m"),
        ("en", "fifteen hundred metres", "1,500 m"),
        ("es", "del 3 al 8 de mayo", "from May 3 to 8"),
        ("en", "in FY2019", "in 2019"),
        ("en", "a 4x rise", "rose 4-fold"),
    ],
)
def test_decades_hours_and_spans_in_words(language: str, text: str, source: str) -> None:
    assert is_supported(text, source, language, "en")


@pytest.mark.parametrize(
    ("language", "text", "source"),
    [
        ("es", "en los años setenta", "in the 1960s, aged 17"),
        ("ar", "الساعة السابعة", "at 18:00"),
        ("en", "at seven o'clock", "at 7:30"),
        ("fa", "ساعت ۷ و ۴۰ دقیقه", "at 7:50"),
        ("en", "fifteen hundred metres", "15 m, 100 m"),
    ],
)
def test_other_decades_and_hours_are_not_held(language: str, text: str, source: str) -> None:
    assert not is_supported(text, source, language, "en")


def test_a_half_of_something_else_is_no_number() -> None:
    assert list_value_keys("half the readers, the second half, half past", spelled=True) == []
