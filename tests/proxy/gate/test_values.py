"""Numbers, dates, times and codes: what each text holds, in ten languages."""

import pytest

from proxy.gate.values import read_values
from tests.proxy.gate.value_checks import PACKS, is_supported, list_value_keys, read_first_value

NUMBERS = [
    ("en", "Between 1,500 and 2,750.5 tons", ["n:1500", "n:2750.5"]),
    ("en", "a pH of 7.40, .5 mg and 0.125", ["n:7.4", "n:0.5", "n:0.125"]),
    ("en", "pages 3,4,5", ["n:3", "n:4", "n:5"]),
    ("en", "1.6e-19 C and 3E8 m/s", ["n:0.00000000000000000016", "n:300000000"]),
    ("en", "minus 5, −6 and -7 but 8-9", ["n:-5", "n:-6", "n:-7", "n:8", "n:9"]),
    ("en", "the 22nd, 35km, 12kg, 40°C, $4.50", ["n:22", "n:35", "n:12", "n:40", "n:4.5"]),
    ("en", "since the 1980s, the 60s and 2000's", ["n:1980", "n:60", "n:2000"]),
    ("en", "a 12-year-old in his mid-1950s, 3-to-5-day", ["n:12", "mix:mid-1950s", "n:3", "mix:to-5"]),
    ("en", "1920x1080 px or 16:9", ["mix:1920x1080", "comp:16:9"]),
    ("en", "open 24/7, scored 27/100", ["comp:24/7", "comp:27/100"]),
    ("en", "from 2007-08 to 2015/16 and 1998-99", ["date:2007-08", "comp:2015/16", "comp:1998-99"]),
    ("en", "1994–1997 and 2001/2002", ["n:1994", "n:1997", "n:2001", "n:2002"]),
    ("en", "Rs 12,34,567 in 3 lakh", ["n:1234567", "n:3"]),
    ("en", "half: ½ or 2½ or 10²", ["mix:½", "mix:2½", "mix:10²"]),
    ("en", "20 m² of H2O, CO₂ and PM2.5", ["n:20", "mix:h2o", "mix:co2", "mix:pm2.5"]),
    ("en", "v1.4.2, 3.11.9 and 10.0.0.1", ["comp:v1.4.2", "comp:3.11.9", "comp:10.0.0.1"]),
    ("en", "GPT-4o, SARS-CoV-2-related, Boeing 737-800", ["mix:gpt-4o", "mix:sars-cov-2", "n:737", "n:800"]),
    ("en", "a fact [7] and `arr[7]`, published [2024]", ["n:7", "n:2024"]),
    ("es", "Cerca de 3.400.000 habitantes, un 0,75 %", ["n:3400000", "n:0.75"]),
    ("es", "los años 70, el 2.º puesto y el 3.er piso", ["n:70", "n:2", "n:3"]),
    ("es", "22 338 618 personas y 500 000 más", ["n:22338618", "n:500000"]),
    ("pt", "R$ 2.345,67 e 1.ª vez", ["n:2345.67", "n:1"]),
    ("fr", "12\u00a0345,6 m, la 2e et la 3ème", ["n:12345.6", "n:2", "n:3"]),
    ("de", "2-Zimmer-Wohnung, 70er, 1.234.567,8 und 5fach", ["n:2", "n:70", "n:1234567.8", "n:5"]),
    ("de", "ca. 0,5 l in Covid-19-Zeiten", ["n:0.5", "mix:covid-19"]),
    ("ru", "10-летие, 3й этаж, 500 000 руб., 2,5 млн", ["n:10", "n:3", "n:500000", "n:2.5"]),
    ("fa", "۵‌ساله، ۱۰۰هزار و ۱۲٫۷۵ درصد", ["n:5", "n:100", "n:12.75"]),
    ("fa", "منفی ۴ درجه", ["n:-4"]),
    ("ar", "22،338،618 نسمة و ٥٫٢٥", ["n:22338618", "n:5.25"]),
    ("hi", "१२,३४,५६७ रुपये और 5वां", ["n:1234567", "n:5"]),
    ("zh", "约3700万人，20世纪70年代，第5条，零下8度", ["n:3700", "n:20", "n:70", "n:5", "n:-8"]),
    ("zh", "面积为１２，３４５．６平方米", ["n:12345.6"]),
    ("zh", "共1400,1777元", ["n:1400", "n:1777"]),
    ("en", "It seats 48.It opens", ["n:48"]),
    ("en", "five..st1 and a-.b2", ["mix:st1", "mix:b2"]),
    (None, "about 1,234 or 1.234", ["n:1234", "n:1234"]),
]


@pytest.mark.parametrize(("language", "text", "found"), NUMBERS)
def test_numbers_and_codes(language: str | None, text: str, found: list[str]) -> None:
    values = read_values(text, language, PACKS, spelled=False)
    assert [value.key for value in values.items] == found
    assert not values.leftover
    assert not values.markup


DATES = [
    ("en", "May 3 to 5, 2024 or May 3 till 5, 2024", ["date:2024-05-03", "date:2024-05-05"] * 2),
    ("en", "May 3 and 5 rooms", ["date:--05-03", "n:5"]),
    ("es", "mayo 3 al 5 de 2024", ["date:2024-05-03", "date:2024-05-05"]),
    (
        "en",
        "on 7 June 2019, June 7, 2019 and Jun. 7th",
        ["date:2019-06-07", "date:2019-06-07", "date:--06-07"],
    ),
    ("en", "2019-6-7, 2019/06/07, 2019.06.07", ["date:2019-06-07"] * 3),
    ("en", "at 2019-06-07T08:15:00Z", ["date:2019-06-07", "time:08:15"]),
    ("en", "June 5–7, 2019", ["date:2019-06-05", "date:2019-06-07"]),
    ("en", "of June 2019", ["date:2019-06"]),
    ("es", "del 5 al 7 de junio de 2019", ["date:2019-06-05", "date:2019-06-07"]),
    ("es", "el 7/6/19", ["date:2019-06-07"]),
    ("pt", "no dia 7 de junho de 2019", ["date:2019-06-07"]),
    ("fr", "le 1er août, en août 2019", ["date:--08-01", "date:2019-08"]),
    ("de", "am 13. Oktober, am 7.6.2019, 7. 6. 2019", ["date:--10-13", "date:2019-06-07", "date:2019-06-07"]),
    ("de", "13. Oktober 2019 war ein Sonntag", ["date:2019-10-13"]),
    ("ru", "7 июня 2019 года, в мае 2020 г.", ["date:2019-06-07", "date:2020-05"]),
    ("fa", "۷ ژوئن ۲۰۱۹ و ۲۵ مهر ۱۳۹۸", ["date:2019-06-07", "date:1398-07-25"]),
    ("fa", "در ۱۵ مرداد", ["date:--05-15@jalali"]),
    ("ar", "في 7 حزيران 2019 و 7 يونيو", ["date:2019-06-07", "date:--06-07"]),
    ("ar", "في 12 رمضان 1445", ["date:1445-09-12"]),
    ("ar", "في 3 كانون الثاني 2019", ["date:2019-01-03"]),
    ("hi", "7 जून 2019 को", ["date:2019-06-07"]),
    (
        "zh",
        "2019年6月7日，6月7日，2019年6月，2019年",
        ["date:2019-06-07", "date:--06-07", "date:2019-06", "n:2019"],
    ),
    ("zh", "二〇一九年六月七日，六月七日，十二月", ["date:2019-06-07", "date:--06-07", "date:--12"]),
    ("es", "en 06/2019", ["date:2019-06"]),
    ("de", "ab 06.2019", ["date:2019-06"]),
    ("en", "since 06.2019", ["n:6.2019"]),
    ("en", "13/25/2019 is no date", ["comp:13/25/2019"]),
]


@pytest.mark.parametrize(("language", "text", "found"), DATES)
def test_dates(language: str, text: str, found: list[str]) -> None:
    assert list_value_keys(text, language) == found


TIMES = [
    ("en", "at 8:15, 8.15 am, 8 am, 8:15 p.m.", ["time:08:15", "time:08:15", "time:08:00", "time:20:15"]),
    ("en", "12 am, 12 pm and 11 pm", ["time:00:00", "time:12:00", "time:23:00"]),
    ("en", "from 2 to 5 pm", ["n:2", "time:17:00"]),
    ("es", "a las 8.15 h, a las 5 de la tarde", ["time:08:15", "time:17:00"]),
    ("pt", "às 8h15, 17h", ["time:08:15", "n:17"]),
    ("fr", "à 8 h 15, 18 heures 05", ["time:08:15", "time:18:05"]),
    ("de", "8.15–17.45 Uhr, um 9 Uhr", ["time:08:15", "time:17:45", "time:09:00"]),
    ("ru", "в 8.15 утра и в 9 вечера", ["time:08:15", "time:21:00"]),
    ("fa", "ساعت ۸:۱۵ و ساعت ۹ شب", ["time:08:15", "time:21:00"]),
    ("ar", "الساعة 8:15 مساءً", ["time:20:15"]),
    ("hi", "शाम 6 बजे, 8:15 बजे", ["time:18:00", "time:08:15"]),
    ("zh", "下午3点，上午8点15分，9点半，15时30分", ["time:15:00", "time:08:15", "time:09:30", "time:15:30"]),
]


@pytest.mark.parametrize(("language", "text", "found"), TIMES)
def test_times(language: str, text: str, found: list[str]) -> None:
    assert list_value_keys(text, language) == found


def test_markers_and_list_numbers_are_no_values() -> None:
    for text in (
        "1. First [1]",
        "2) Second [1, 2]",
        "(3) Third【4】",
        "۴. چهارم [۲]",
        "5、第五[1-3]",
        "**6. Bold** [^7]",
    ):
        assert list_value_keys(text) == []


def test_a_figure_at_the_start_of_a_sentence_is_a_value_where_no_line_begins() -> None:
    assert [v.key for v in read_values("4. That is all.", "en", PACKS, is_line_start=False).items] == ["n:4"]
    assert list_value_keys("500.") == ["n:500"]


def test_values_say_where_they_stand() -> None:
    value = read_first_value("It is 1,200 m high.")
    assert (value.kind, value.text, value.start, value.end) == ("number", "1,200", 6, 11)


def test_a_wrapped_line_of_a_source_begins_with_a_value_not_a_list_number() -> None:
    assert "n:7" in list_value_keys("It seats about\n7. And more", source=True)
    assert list_value_keys("Rules:\n1. Apples\n2. Pears\n\n3. Plums", source=True) == []


LEFT_OVER = [
    "a @ b",
    "see ://x",
    "www. or",
    "1\u0336 2",
    "1\u200b2",
    "5\u20602 m",
    "\u202e52\u202c",
    "a.ex\u200bample.com",
]


@pytest.mark.parametrize("text", LEFT_OVER)
def test_what_belongs_to_no_value_is_left_over(text: str) -> None:
    assert read_values(text, "en", PACKS).leftover


SEEN = [
    "۵‌ساله و می‌روم",
    "\u200e+98 21 1234 5678\u200e",
    "soft\u00adhyphen and 12",
    "5\ufe0f\u20e3 keys",
    "क्‍ष 5",
]


@pytest.mark.parametrize("text", SEEN)
def test_unseen_characters_outside_values_are_no_matter(text: str) -> None:
    assert not read_values(text, "fa", PACKS).leftover


@pytest.mark.parametrize("text", ["48 M", "48 bn", "48 k", "48 thousands", "$48 m", "48 B", "48 hundreds"])
def test_a_magnitude_apart_is_no_plain_number(text: str) -> None:
    assert not is_supported(text, "48 of them")


@pytest.mark.parametrize("text", ["48 m", "48 b", "48 M. Dupont", "48 K-pop", "48 km"])
def test_a_unit_or_an_initial_is_no_magnitude(text: str) -> None:
    assert is_supported(text, "48 of them")


@pytest.mark.parametrize("text", ["It costs $5'm.", "It costs €5ºm.", "It costs 5'M."])
def test_a_sign_between_digits_and_magnitude_leaves_it_a_magnitude(text: str) -> None:
    assert [value.alternatives for value in read_values(text, "en", PACKS).items] == [(("s:5000000",),)]


def test_a_date_near_another_month_is_read_whole() -> None:
    for length in range(40):
        values = read_values(f"In May {'y' * length} May 2019", "en", PACKS)
        assert [value.key for value in values.items] == ["date:2019-05"], length
