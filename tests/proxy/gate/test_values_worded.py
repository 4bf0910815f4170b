"""Signs, scales, look-alikes, Roman numerals, hours and days in words make another value of a value."""

import pytest

from proxy.domain.types import Source
from tests.proxy.gate.gate_runs import find_stop_rule, run_gate
from tests.proxy.gate.value_checks import is_supported, list_value_keys

SIGNS = [
    ("en", "‐5, ‑6, ⁻7, ➖8 and －9", ["n:-5", "n:-6", "n:-7", "n:-8", "n:-9"]),
    ("en", "COVID‑19 in 5‑7 rooms", ["mix:covid-19", "n:5", "n:7"]),
    ("es", "menos 5 grados, al menos 6 y más o menos 7", ["n:-5", "n:6", "n:7"]),
    ("pt", "menos 5 graus e pelo menos 6", ["n:-5", "n:6"]),
    ("fr", "moins 5 degrés, au moins 6", ["n:-5", "n:6"]),
    ("en", "‒5, ˗6, -\u00a07, (minus) 8 but 3 - 5", ["n:-5", "n:-6", "n:-7", "n:-8", "n:3", "n:5"]),
    ("zh", "为－5欧元，100元－200元，1元-3元", ["n:-5", "n:100", "n:200", "n:1", "n:3"]),
]


@pytest.mark.parametrize(("language", "text", "found"), SIGNS)
def test_every_sign_is_read_and_no_dash_of_a_range(language: str, text: str, found: list[str]) -> None:
    assert list_value_keys(text, language) == found


@pytest.mark.parametrize(
    ("language", "answer"),
    [
        ("zh", "45多万"),
        ("zh", "45余万"),
        ("ru", "45-ти тысяч"),
        ("ru", "45-тысячный"),
        ("en", "45 [thousand]"),
        ("en", "45 OOO"),
        ("en", "45  million"),
        ("en", "45 € million"),
        ("en", "45€ million"),
        ("en", "45 EUR million"),
        ("en", "45+ thousand"),
        ("en", "45 ‹thousand›"),
        ("en", "45,OOO"),
        ("ru", "45ооо"),
        ("ru", "45зо"),
        ("hi", "साढ़े 45"),
        ("hi", "सवा 45"),
    ],
)
def test_what_scales_a_number_makes_another(language: str, answer: str) -> None:
    assert not is_supported(answer, "45", language)
    assert is_supported(answer, answer, language)


def test_revolutions_and_companies_are_no_zeros() -> None:
    assert list_value_keys("45об", "ru") == ["n:45"]
    assert is_supported("Договор 45 ООО «Ромашка»", "Договор 45 ООО «Ромашка» действует", "ru")


@pytest.mark.parametrize(
    "text",
    [
        "It costs 45 [thousand](https://hall.example/a) euros [1].",
        "It costs [45](https://hall.example/a) thousand euros [1].",
        "It opens at [9:30](https://hall.example/a) pm [1].",
    ],
)
def test_a_link_between_a_value_and_its_scale_hides_neither(text: str) -> None:
    hall = Source(1, "a", "Hall", "It costs 45 euros and opens at 9:30. See https://hall.example/a.")
    assert find_stop_rule(run_gate(text, sources=(hall,))) == "values"


ROMANS = [
    ("es", "el siglo XIX y el XX", ["n:19", "n:20"]),
    ("fr", "du XIXᵉ au XXe siècle, le Ve", ["n:19", "n:20", "n:5"]),
    ("ru", "ХХ век, XXI-го века", ["n:20", "n:21"]),
    ("en", "John Paul II and Louis XIV", ["n:2", "n:14"]),
    ("en", "II. Rooms", []),
    ("en", "I saw an MIX of VV on CD", []),
    ("en", "https://x.org/II/XX", ["url:x.org/II/XX"]),
]


@pytest.mark.parametrize(("language", "text", "found"), ROMANS)
def test_roman_numerals_are_numbers(language: str, text: str, found: list[str]) -> None:
    assert list_value_keys(text, language) == found


def test_a_roman_century_is_that_century_in_every_notation() -> None:
    assert is_supported("siglo XIX", "the 19th century", "es", "en")
    assert is_supported("19th century", "siglo XIX", "en", "es")
    assert is_supported("XIX век", "the nineteenth century", "ru", "en")
    assert not is_supported("siglo XX", "the 19th century", "es", "en")


HOURS = [
    ("en", "at two o'clock", ["time:02:00", "time:14:00"]),
    ("en", "at three in the afternoon", ["time:15:00"]),
    ("en", "at half past nine", ["time:09:30", "time:21:30"]),
    ("en", "at a quarter to ten", ["time:09:45", "time:21:45"]),
    ("en", "at half past 9", ["time:09:30", "time:21:30"]),
    ("es", "a las dos en punto", ["time:02:00", "time:14:00"]),
    ("fr", "à neuf heures et demie du soir", ["time:21:30"]),
    ("de", "um ein Uhr", ["time:01:00", "time:13:00"]),
    ("de", "um halb elf", ["time:10:30", "time:22:30"]),
    ("de", "um Viertel vor zehn", ["time:09:45", "time:21:45"]),
    ("ru", "в половине десятого", ["time:09:30", "time:21:30"]),
    ("fa", "ساعت دو", ["time:02:00", "time:14:00"]),
    ("ar", "الساعة الثانية", ["time:02:00", "time:14:00"]),
    ("hi", "एक बजे", ["time:01:00", "time:13:00"]),
    ("hi", "शाम साढ़े 9 बजे", ["time:21:30"]),
]


@pytest.mark.parametrize(("language", "text", "times"), HOURS)
def test_an_hour_in_words_is_that_time_and_no_other(language: str, text: str, times: list[str]) -> None:
    for time in times:
        assert is_supported(text, time.removeprefix("time:"), language), time
    assert not is_supported(text, "4:50, 4:00", language)
    if "30" in times[0] or "45" in times[0]:
        hour = int(times[0][5:7])
        assert not is_supported(text, f"{hour}:00, {hour + 1}:00", language)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("hi", "एक शाम"),
        ("fa", "یک شب"),
        ("ar", "ساعة واحدة"),
        ("es", "una opción"),
        ("es", "una de la mañana y otra de la tarde"),
        ("en", "one in the morning and one in the evening"),
        ("pt", "uma da manhã"),
        ("de", "Das ist eine Uhr"),
    ],
)
def test_one_is_no_hour_where_it_may_be_an_article(language: str, text: str) -> None:
    assert is_supported(text, "", language)


DAYS = [
    ("en", "the third of June"),
    ("en", "June the third"),
    ("en", "the first of May 2024"),
    ("en", "the Second of May"),
    ("es", "el tres de junio"),
    ("es", "el primero de junio"),
    ("pt", "em três de junho"),
    ("fr", "le premier juin"),
    ("de", "am dritten Juni"),
    ("ru", "третьего июня"),
    ("fa", "سوم تیر"),
    ("ar", "الثالث من يونيو"),
    ("hi", "तीन जून"),
]


@pytest.mark.parametrize(("language", "text"), DAYS)
def test_a_day_in_words_is_a_date(language: str, text: str) -> None:
    day = next(key for key in list_value_keys(text, language, spelled=True) if key.count("-") >= 2)
    assert is_supported(text, text, language)
    assert not is_supported(
        text, "3 April 2024, 1 March and 2 August; three, first, second", language, "en"
    ), day


def test_a_modal_verb_is_no_month_and_an_article_no_day() -> None:
    assert is_supported("One may ask, the third may be first", "", "en")
    assert is_supported("Ein Juni ohne Regen", "", "de")


def test_two_june_workshops_are_two_workshops() -> None:
    assert is_supported("There are two June workshops", "A workshop on 8 June, another on 9 June")
    assert is_supported("Es gibt zwei Juni-Termine", "Termine am 8. Juni und 9. Juni", "de")
    assert not is_supported("It is on the two of June", "8 June")


COUNTED = [
    ("de", "acht Euro"),
    ("de", "elf Stunden"),
    ("es", "once euros"),
    ("fa", "شش ساعت"),
    ("ar", "خمس سنوات"),
    ("hi", "दो घंटे"),
    ("zh", "一百个"),
    ("zh", "廿元"),
    ("zh", "四十多万个"),
    ("en", "45 Milliarden"),
    ("ru", "45 millones"),
]
FRACTIONS = [
    ("en", "three quarters"),
    ("de", "drei Viertel"),
    ("fr", "trois quarts"),
    ("es", "tres cuartos"),
    ("ru", "три четверти"),
    ("fa", "دو سوم"),
    ("hi", "तीन चौथाई"),
    ("zh", "三分之二"),
]


@pytest.mark.parametrize(("language", "text"), COUNTED + FRACTIONS)
def test_a_word_of_two_meanings_is_a_number_before_a_measure(language: str, text: str) -> None:
    assert is_supported(text, text, language)
    assert not is_supported(text, "45; 7", language)


def test_ten_and_some_is_no_exact_number() -> None:
    assert is_supported("十几个", "15个", "zh")


@pytest.mark.parametrize(
    ("answer", "source", "passes"),
    [
        ("Room 12A", "Room 12", False),
        ("Room 12a", "Room 12", False),
        ("seat 12F", "seat 12", False),
        ("Room 12A", "Room 12a", True),
        ("Room 12", "Room 12A", True),
        ("a 16A fuse", "a 16 A fuse", True),
        ("20C", "20 °C", True),
        ("20 °C", "20 degrees", True),
    ],
)
def test_a_letter_on_a_number_names_another_room(answer: str, source: str, passes: bool) -> None:
    assert is_supported(answer, source) == passes


BELOW_ZERO = [
    ("en", "minus five"),
    ("es", "menos cinco"),
    ("fr", "moins cinq"),
    ("de", "minus fünf"),
    ("ru", "минус пять"),
    ("fa", "منفی پنج"),
    ("zh", "零下五度"),
    ("hi", "माइनस पाँच"),
]


@pytest.mark.parametrize(("language", "text"), BELOW_ZERO)
def test_a_number_in_words_below_zero_is_negative(language: str, text: str) -> None:
    assert is_supported(text, "-5", language)
    assert is_supported("-5", text, language)
    assert not is_supported(text, "5", language)


def test_at_least_and_more_or_less_are_no_signs() -> None:
    assert is_supported("al menos cinco euros", "5 euros", "es")
    assert is_supported("plus ou moins cinq euros", "5 euros", "fr")
