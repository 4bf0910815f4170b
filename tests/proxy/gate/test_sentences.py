"""Sentences: where they end, whatever the pieces."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.gate.endings import SentenceEndDetector
from proxy.gate.lexicon import SentenceLexicons, SentencePack
from proxy.gate.lookahead import LOOKAHEAD_CHARS
from proxy.gate.sentences import SentenceScanner
from proxy.settings.languages import load_packs

LEXICONS = SentenceLexicons(load_packs("sentences", SentencePack))


def make_scanner(language: str = "en", chars_max: int = 6_000) -> SentenceScanner:
    """A scanner that takes every sentence to be in `language`."""
    return SentenceScanner(SentenceEndDetector(LEXICONS, language, lambda _, default: default), chars_max)


def split_units(text: str, language: str = "en", pieces: list[int] | None = None) -> list[str]:
    """Units of `text` fed in pieces of the given sizes (the rest in one)."""
    scan, units, start = make_scanner(language), [], 0
    for size in pieces or []:
        units += scan.feed(text[start : start + size])
        start += size
    units += scan.feed(text[start:])
    return [u.text for u in [*units, *scan.finish()]]


def list_stripped_units(text: str, language: str = "en") -> list[str]:
    """Units without the white space around them, blank ones left out."""
    return [u.strip() for u in split_units(text, language) if u.strip()]


@pytest.mark.parametrize(
    ("language", "sentences"),
    [
        (
            "en",
            [
                "Mrs. Vale met Dr. Knox at 7 a.m. on Sunday [1].",
                "They left at 9 p.m.",
                "The hall is shut [2].",
            ],
        ),
        ("en", ["The price is 2.50 at shop.example/a.b?x=1.5.", "It fell [1]."]),
        ("en", ["See fig. 3, p. 12 and No. 7 [1].", "He said no.", "7 people left [1]."]),
        ("en", ["The U.S. Senate met in Washington, D.C. in May [1].", "Smith et al. [2] disagree [2]."]),
        ("en", ["Is it open? [1]", "Yes [1].", "Wow!", "It is [1]."]),
        ("en", ["“Is it open?” asked Ana [1].", "“Yes!” – she smiled [1].", "Well... maybe [1]."]),
        ("en", ["It ended.[1]", "Another began.[2][3]", "(A third one.)", "Fine [1]."]),
        ("en", ["The trial is free.", "Parking costs extra [1]."]),
        ("en", ["Take plan C.", "Parking is free [1]."]),
        ("en", ["It rose since Jan [1]. 18 of 2020 [1].", "It fell in May [1].", "18 came [1]."]),
        ("en", ["Load a file (.CSV, .Json) into it [1]."]),
        ("en", ["You need: 1. Paint 2. Brushes 3. Paper [1].", "2. Ink [1]."]),
        ("en", ["It is 9 a.m. – 5 p.m. on most days [1].", "It costs 20.", "Paint 30 [1]."]),
        ("en", ["J. S. Bach and J.-P. Rameau wrote it [1]."]),
        ("en", ["the tickets are cheap.", "the hall is large [1]."]),
        (
            "es",
            [
                "La Sra. Ruiz vive en la Avda. Mayor n.º 8, pág. 3 [1].",
                "¿Sí?",
                "¡Claro!",
                "EE. UU. paga [1].",
            ],
        ),
        ("pt", ["O Prof. Lima mora na Av. Central [1].", "Veja cap. 3 e pág. 9 [2]."]),
        (
            "fr",
            ["M. Blanc habite au bd. Voltaire, p. ex. le soir [1].", "« Est-ce sûr ? » demanda-t-il [1]."],
        ),
        ("fr", ["Il a dit : « C’est bon. »", "Le reste suit [1]."]),
        (
            "de",
            ["Am 4. Juli kamen z. B. Gäste, d. h. Kunden [1].", "Es kostet 30.", "Die Karte ist neu [1]."],
        ),
        ("de", ["Das gilt bis zum 28.", "Danach nicht mehr [1]."]),
        ("ru", ["В 1975 г. на ул. Мира, д. 4 открыли зал [1].", "Построен в 1980 г.", "Зал велик [1]."]),
        ("ru", ["А. П. Чехов и Дж. Лондон, т. е. писатели [1].", "«Правда?» — спросил он [1]."]),
        ("de", ["Er wohnt im 3. Haus am Markt [1].", "Das 2. Foto fehlt [1]."]),
        ("de", ["Friedrich II. regierte lange [1].", "Es gilt Teil II.", "Der Rest folgt [1]."]),
        (
            "de",
            ["Ab 1. 7. 2025 ist es frei [1].", "Am 3.10. um acht auch [1].", "Es sind 8.", "9 kamen [1]."],
        ),
        ("de", ["Er wohnt in der Ringstr. 8 im Zimmernr. 3 [1].", "Es ist m. a. W. frei [1]."]),
        ("es", ["Fue en el siglo XX.", "Reino Unido creció [1].", "Trabaja en la CIA.", "Otros no [1]."]),
        ("pt", ["Fica perto do mar.", "8 barcos partem em 5 mar. 2020 [1]."]),
        ("es", ["Está en https://ejemplo.es/a.b.", "Tarda poco [1].", "Vea ejemplo.es/a.b.", "Es útil [1]."]),
        ("ar", ["الصفحة https://example.ae/a.b.", "تغلق غدا [1]."]),
        ("zh", ["请用.NET和.txt文件[1]。", "好[1]."]),
        ("de", ["Es dauert 9 s.", "Alles wartet, s. a. S. 3 [1]."]),
        ("en", ["1.1. Open it [1]"]),
        ("en", ["I. Open it [1]"]),
        ("en", ["III. Open it [1]"]),
        ("en", ["Ada Lovelace (b. 1815, d. 1852) wrote it [1]."]),
        ("es", ["Lea el art. 8, inc. 2, del s. XX en Bs. As. hoy [1]."]),
        ("fr", ["Il vit au 8, av. Kléber, t. 3, n. 5 [1].", "Cf. p. 9 [1]."]),
        ("hi", ["वह यू.एस.ए. में बी.एड. कर रहा है [1]।"]),
        ("ru", ["Скорость 90 км/ч.", "В мае она выше [1].", "См. п. В и с. 5 [1]."]),
        ("ru", ["Длина 30 см.", "Вес мал [1].", "См. Приложение [1]."]),
        ("ru", ["И. С. Тургенев и А. И. Куприн жили здесь [1]."]),
        ("fa", ["سال ۱۲۰ ق.م. بود [۱].", "آیا باز است؟", "بله.", "م. آزاد نوشت [1]."]),
        ("ar", ["د. ليلى وأ. عمر هنا [١].", "هل هو مفتوح؟", "نعم۔", "انتهى [1]."]),
        ("hi", ["डॉ. मेहता और एस. के. रॉय आए [1]।", "कब?", "200 ई.पू. में [1]।"]),
        ("zh", ["票价3.5元[1]。", "真的？！", "“是的。”", "网址是https://a.example/b.c。", "完[1]."]),
    ],
)
def test_sentences_of_each_language(language: str, sentences: list[str]) -> None:
    """Abbreviations, ordinals, quotes, addresses and markers neither split a sentence nor join two."""
    space = "" if language == "zh" else " "
    assert list_stripped_units(space.join(sentences), language) == sentences


@pytest.mark.parametrize("stop", "‼⁇⁈⁉‽﹖﹗❓❔❕❗︒﹒።։")
def test_every_sign_that_ends_a_sentence_ends_it(stop: str) -> None:
    assert list_stripped_units(f"The owner left{stop} The hall is open [1].") == [
        f"The owner left{stop}",
        "The hall is open [1].",
    ]


def test_an_abbreviation_ends_a_sentence_before_a_word_that_begins_one() -> None:
    assert list_stripped_units("Nobody goes there e.g. The hall is open [1].")[1:] == [
        "The hall is open [1]."
    ]
    assert list_stripped_units("Es kamen 1,2 Mio. Besucher [1].", "de") == ["Es kamen 1,2 Mio. Besucher [1]."]
    assert list_stripped_units("Es kamen 1,2 Mio. Der Saal ist offen [1].", "de")[1:] == [
        "Der Saal ist offen [1]."
    ]


@pytest.mark.parametrize("line_break", ["\n", "\r", "\r\n", "\u2028"])
def test_a_line_break_ends_a_sentence(line_break: str) -> None:
    text = line_break.join(["# Prices", "", "1. Open it [1]", "2. Shut it [1]", "no stop", "at all"])
    assert list_stripped_units(text) == ["# Prices", "1. Open it [1]", "2. Shut it [1]", "no stop", "at all"]


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("Free.\n[1]\nNext.", ["Free.\n[1]", "\nNext."]),
        ("Free\r\n  [1][2] \r\nNext.", ["Free\r\n  [1][2]", " \r\nNext."]),
        ("Free.\n[1] Next.", ["Free.", "\n[1] Next."]),
        ("Free.\n\n[1]\nNext.", ["Free.", "\n\n[1]", "\nNext."]),
        ("Free.\n[1]", ["Free.\n[1]"]),
        ("Free.\n[1]" + " " * 91, ["Free.\n[1]", " " * 91]),
        ("Free.\n[1]" + " " * 92, ["Free.", "\n[1]" + " " * 92]),
        ("Free.\n[1](https://a.example)", ["Free.", "\n[1](https://a.example)"]),
        ("Free. [1](x) it", ["Free.", " [1](x) it"]),
        ("Free. [1]](x) it", ["Free.", " [1]](x) it"]),
    ],
)
def test_a_line_of_markers_alone_belongs_to_the_sentence_before(text: str, units: list[str]) -> None:
    assert split_units(text) == units


def test_rows_fences_and_code_are_lines() -> None:
    """In a table or in code a stop ends nothing."""
    text = "| A. B | C. D |\n|---|---|\n| E. F | g [1] |\nRun [1]:\n```py\nx. Y = 1. Z\n```\nDone [1]. Yes."
    scan = make_scanner()
    units = [*scan.feed(text), *scan.finish()]
    assert [(u.kind, u.text.strip()) for u in units] == [
        ("head", "| A. B | C. D |"),
        ("rule", "|---|---|"),
        ("row", "| E. F | g [1] |"),
        ("text", "Run [1]:"),
        ("fence", "```py"),
        ("code", "x. Y = 1. Z"),
        ("fence", "```"),
        ("text", "Done [1]."),
        ("text", "Yes."),
    ]


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("a\n\n    x = 1\n    y = 2\nb", ["text", "code", "code", "text"]),
        ("a\n    soft wrap", ["text", "text"]),
        ("- a\n\n    more of it", ["text", "text"]),
        ("~~~\n```\n~~~\nb", ["fence", "code", "fence", "text"]),
        ("````\n```\n````\nb", ["fence", "code", "fence", "text"]),
        ("```x``` y", ["code"]),
        ("a | b\n--- | ---\nc | d\n\ne | f", ["text", "rule", "row", "text"]),
        ("| a |\n\n| b |", ["head", "head"]),
        ("| a |\n| b |", ["head", "row"]),
        ("```\nleft open", ["fence", "code"]),
        ("```", ["fence"]),
    ],
)
def test_kinds_of_lines(text: str, kinds: list[str]) -> None:
    scan = make_scanner()
    units = [*scan.feed(text), *scan.finish()]
    assert [u.kind for u in units if u.text.strip()] == kinds


@pytest.mark.parametrize(
    ("text", "waits_for"),
    [
        ("It is free. ", "N"),
        ("It is free [1]. ", "N"),
        ("免费[1]。", "下"),
        ("免费。【1】", "下"),
        ("It is free. [1] [[2]]", " N"),
        ("It is free [1].\n", "N"),
        ("One\n", "T"),
    ],
)
def test_a_sentence_waits_for_nothing_but_the_character_that_decides(text: str, waits_for: str) -> None:
    scan = make_scanner()
    assert scan.feed(text) == []
    assert [u.text for u in scan.feed(waits_for)] == [text.rstrip()]


SIGNS = "aB1 .!?…。؟।\n\r[]()【】`|-*\"'»“,:١म好É\u2028"
WORDS = (
    *("[1]", "[2, 3]", "Dr.", "e.g.", "z. B.", "3. Mai", "г. ", "U.S. ", "The ", "https://a.b/c"),
    *(
        "[[1]]",
        "【1】",
        "［1］",
        " [1].[[1]]",
        "```\n",
        "\n\n",
        "    ",
        "| a |",
        "。”",
        " » ",
        "„",
        "«",
        " " * 100,
        "." * 100,
    ),
)
ALPHABET = [*SIGNS, *WORDS]
texts = st.lists(st.sampled_from(ALPHABET), max_size=40).map("".join)
languages = st.sampled_from(["en", "de", "ru", "ar", "hi", "zh", "fr"])


@given(texts, languages, st.lists(st.integers(1, 9), max_size=60))
def test_units_depend_on_the_text_and_never_on_its_pieces(
    text: str, language: str, pieces: list[int]
) -> None:
    whole = split_units(text, language)
    assert "".join(whole) == text
    assert split_units(text, language, pieces) == whole
    assert split_units(text, language, [1] * len(text)) == whole


@given(texts, languages)
def test_what_is_cut_never_changes_by_what_follows(text: str, language: str) -> None:
    """Units given out while the stream is open are units of every longer text."""
    scan = make_scanner(language)
    given_out = [u.text for u in scan.feed(text)]
    assert split_units(text + "\nThe end. x", language)[: len(given_out)] == given_out


@given(st.sampled_from([".", '."', ". ", " ", "[1", "[", "`", "\n", "!?", "».", "|", "1.", "[1] ", "a.\n[1"]))
def test_work_is_linear_on_hostile_text(piece: str) -> None:
    """Twice the text costs at most a little more than twice the characters looked at."""

    def measure_work(length: int) -> int:
        looked = 0

        def count_looked(characters: int) -> None:
            nonlocal looked
            looked += characters

        scan = SentenceScanner(
            SentenceEndDetector(LEXICONS, "en", lambda _, default: default), 6_000, count_looked
        )
        for character in piece * (length // len(piece)):
            scan.feed(character)
        scan.finish()
        return looked

    small, large = measure_work(1_500), measure_work(3_000)
    assert large <= 2.2 * small + LOOKAHEAD_CHARS**2


@given(texts)
def test_held_text_is_bounded_by_the_longest_sentence_allowed(text: str) -> None:
    """An overlong unit is known as such within the look-ahead."""
    scan = make_scanner(chars_max=50)
    for character in text:
        scan.feed(character)
        assert scan.is_overlong == (len(scan.pending_text) > 50 + 2 * LOOKAHEAD_CHARS)
