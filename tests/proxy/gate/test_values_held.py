"""Which values a source holds: the same in another notation and another language, and no other."""

import pytest

from tests.proxy.gate.value_checks import is_supported

GROUNDED = [
    ("en", "It is 1,5 m.", "en", "It is 1.5 m."),
    ("de", "Es kostet 2.500 Euro.", "en", "It costs 2,500 euros."),
    ("fr", "Il coûte 2 500 €.", "zh", "价格为2,500欧元。"),
    ("hi", "मूल्य १,२३,४५६ है।", "ru", "Цена 123 456."),
    ("en", "3.10 m", "en", "3.1 m"),
    ("en", "In 2015.", "de", "Am 4.5.2015."),
    ("en", "On 5 April.", "es", "El 5 de abril de 2015."),
    ("en", "On April 5, 2015.", "en", "On 5 April, as every year; the report of 2015."),
    ("ru", "В мае 2015 года.", "zh", "2015年5月9日。"),
    ("zh", "1月开始。", "en", "It began in January."),
    ("fa", "۱۲ اردیبهشت", "fa", "۱۴۰۳/۰۲/۱۲"),
    ("zh", "2019年6月7日", "zh", "二〇一九年六月七日"),
    ("en", "in 06/2019", "en", "June 2019"),
    ("en", "It was the season of 2007-08.", "en", "The season 2007-2008."),
    ("en", "the 70s", "en", "in the 1970s"),
    ("es", "los años 70", "zh", "1970年代"),
    ("en", "open 2:30 pm", "de", "ab 14.30 Uhr"),
    ("zh", "下午2点半", "fr", "à 14h30"),
    ("en", "8 rooms", "ar", "ثمانية غرف"),
    ("en", "5 million people", "zh", "500万人"),
    ("en", "5 million people", "en", "five million people"),
    ("de", "5 Mio. Menschen", "en", "5M people"),
    ("en", "12.50 euros", "en", "twelve point fifty euros"),
    ("en", "2.5 hours", "en", "2½ hours"),
    ("ru", "27 из 100", "en", "a score of 27/100"),
    ("ru", "миссия «Аполлон-11»", "en", "Apollo 11"),
    ("en", "Q3 results", "en", "results of the third quarter"),
    ("en", "mid-1990s", "en", "in the 1990s"),
    ("zh", "20世纪70年代", "en", "in the 1970s"),
    ("en", "in the 1970s", "zh", "20世纪70年代"),
    ("en", "in the 1970s", "en", "in the 70s"),
    ("fa", "دههٔ ۷۰", "fa", "دهه‌ی ۱۳۷۰"),
    ("fa", "۲٫۵ متر", "fa", "۲/۵ متر"),
    ("de", "am 7.6. dort", "de", "am 7. Juni"),
    ("en", "on 7 June", "de", "am 7.6. dort"),
    ("pt", "em 1º/06/2019", "pt", "em 1.º de junho de 2019"),
    ("fr", "à 6 heures du soir", "en", "at 18:00"),
    ("es", "a las 6 horas de la tarde", "en", "at 18:00"),
    ("fr", "le 1er rang", "fr", "le premier rang"),
    ("es", "el 1.º", "de", "der erste"),
    ("zh", "第1章", "zh", "第一章"),
]


@pytest.mark.parametrize(("language", "answer", "other", "source"), GROUNDED)
def test_one_value_in_two_notations(language: str, answer: str, other: str, source: str) -> None:
    assert is_supported(answer, source, language, other)


UNGROUNDED = [
    ("en", "5 rooms", "en", "15 rooms, 5.2 m, 50 beds, 1,005 books, B5 and v5"),
    ("en", "4 and 50", "en", "$4.50"),
    ("en", "24 hours", "en", "open 24/7"),
    ("en", "2,500", "de", "2,5"),
    ("en", "1.234", "de", "1.234"),
    ("en", "5 million", "en", "5 billion"),
    ("en", "5 million", "en", "5"),
    ("en", "5", "en", "5 million"),
    ("zh", "500亿", "zh", "500万"),
    ("en", "12 May 2015", "en", "12 May 2016 and 11 May 2015"),
    ("en", "5 March 2015", "en", "5 March 2014 and 7 April 2015"),
    ("es", "3/4/2015", "es", "4 de marzo de 2015"),
    ("fa", "۲ فروردین", "fa", "2 January"),
    ("en", "9:30 pm", "en", "9:30 am"),
    ("en", "14 pm or 3:30", "en", "2 pm or 3.30"),
    ("en", "COVID-18", "en", "COVID-19, 18"),
    ("en", "B2C", "en", "B2B"),
    ("en", "1.2.4", "en", "1.2.40 and 1.2"),
    ("en", "-5", "en", "5 and 2-5"),
    ("en", "10²", "en", "102, 10 and 2"),
    ("en", "Call 7946", "en", "+44 20 7946 0958"),
    ("en", "2О", "en", "20 and 2"),  # the second sign is a Cyrillic letter
    ("es", "el 2O", "es", "el 2"),
    ("en", "l5 and O5", "en", "15 and 05"),
    ("ru", "З0 мест", "ru", "30 мест"),
    ("ru", "дом 7а", "ru", "дом 7"),
    ("en", "2.5 m", "en", "2/5 m"),
    ("de", "am 8.6. dort", "de", "am 7. Juni"),
    ("zh", "20世纪60年代", "en", "in the 1970s"),
    ("en", "in the 1870s", "en", "in the 1970s, the 70s"),
    ("en", "the mid-1670s", "en", "the mid-1970s, flight A-670"),
    ("ru", "50 003", "ru", "50 и 3"),
    ("fr", "à 6 heures du soir", "en", "at 6:00"),
    ("en", "20 [7]", "en", "see [20]"),
]


@pytest.mark.parametrize(("language", "answer", "other", "source"), UNGROUNDED)
def test_another_value_is_not_held(language: str, answer: str, other: str, source: str) -> None:
    assert not is_supported(answer, source, language, other)


def test_a_number_of_unknown_convention_is_known_by_its_spelling() -> None:
    assert is_supported("1,234", "1,234", None)
    assert not is_supported("1,234", "1.234", None)
    assert is_supported("1,234", "1234", None)
