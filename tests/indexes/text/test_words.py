"""Folding, words, index tokens, length and coverage."""

import time
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from indexes.text.folding import fold_text
from indexes.text.words import (
    compute_coverage,
    count_words,
    find_content_words,
    split_words,
    tokenize_for_index,
)

FOLDED = {
    # Arabic and Persian letters are one, harakat and tatweel go, ZWNJ parts words.
    "كلاسيك": "کلاسیک",
    "می‌روند": "می روند",
    "خانه‌هايى": "خانه هایی",
    "نامهٔ او": "نامه او",
    "خانۀ ما": "خانه ما",
    "مُحَمَّد": "محمد",
    "ســـلام": "سلام",
    "ﺳﻼﻡ": "سلام",
    "إلٰه": "إله",
    # What must stay apart.
    "آزاد": "آزاد",
    "مؤمن مسئول": "مؤمن مسئول",
    "جامعة": "جامعة",
    "año ano": "año ano",
    "nós nos": "nós nos",
    "creó creo": "creó creo",
    "Größe": "größe",
    "майор": "майор",
    "में मैं": "में मैं",
    "東京 东京": "東京 东京",
    "3² ½ Ⅷ ④": "3² ½ ⅷ ④",
    # Digits of every script, widths, unseen characters, apostrophes, spaces, case.
    "۴۵ ٤٥ ४५ ４５ 𝟒𝟓": "45 45 45 45 45",
    "ＨＥＬＬＯ　ｗｏｒｌｄ": "hello world",
    "oﬃce": "office",
    "so\u00adft\u200b ze\u2060ro\ufeff": "soft zero",
    "\u202eabc\u202c": "abc",
    "a\U000e0041b": "ab",
    "l’été ‘quoted’": "l'été 'quoted'",
    "a\u00a0\u2009 b\n\tc": "a b c",
    "Ещё ЁЖ": "еще еж",
    "e\u0301": "é",
}


@pytest.mark.parametrize(("text", "folded"), FOLDED.items())
def test_fold(text: str, folded: str) -> None:
    assert fold_text(text) == unicodedata.normalize("NFC", folded)


def test_folding_twice_is_folding_once_for_every_code_point() -> None:
    for code in [*range(0, 0x3000), *range(0x3000, 0x2FA20, 7)]:
        if not 0xD800 <= code < 0xE000:
            once = fold_text(chr(code))
            assert fold_text(once) == once, hex(code)


MARKS = "еёЕЁيىكەهۀ\u0654\u0653\u0655\u0308\u0300\u0301\u064b\u0610ـ\u200c\u200d\u200biİΣσﷺﷲ e\u0323"


@given(st.text(st.one_of(st.sampled_from(MARKS), st.characters(codec="utf-8")), max_size=8))
@example("е\u0610\u0308")
@example("ё\u0308")
@example("Å\u0301K")
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold_text(fold_text(text)) == fold_text(text)


@given(st.text(max_size=40))
def test_folded_text_is_composed_and_holds_nothing_unseen(text: str) -> None:
    folded = fold_text(text)
    assert unicodedata.is_normalized("NFC", folded)
    assert not any(unicodedata.category(char) == "Cf" for char in folded)


@pytest.mark.parametrize("unit", ["ё\u0308", "e\u0301", "\u0301", "й", "ا\u0654", "می\u200c", "王", "a1"])
def test_folding_is_linear(unit: str) -> None:
    started = time.process_time()  # not what neighbours take
    fold_text(unit * 20_000)
    tokenize_for_index(unit * 20_000)
    assert time.process_time() - started < 2


WORDS = {
    "The cat’s 3 hats": ("the", "cat", "s", "3", "hats"),
    "कर्मचारियों की ज़रूरत": ("कर्मचारियों", "की", "ज़रूरत"),
    "می‌روم": ("می", "روم"),
    "员工休假2天": ("员工", "工休", "休假", "2", "天"),
    "买A4纸": ("买", "a4", "纸"),
}


@pytest.mark.parametrize(("text", "parts"), WORDS.items())
def test_words_are_whole_and_han_gives_bigrams(text: str, parts: tuple[str, ...]) -> None:
    assert split_words(text) == tuple(unicodedata.normalize("NFC", part) for part in parts)


INDEXED = {
    "Größe élève AÑO": ("große", "eleve", "ano"),
    "майор Ёлка": ("майор", "елка"),
    "أحمد آزاد مدرسة": ("احمد", "ازاد", "مدرسه"),
    "में हूँ": ("में", "हूँ"),
    "北京大学": ("北京", "京大", "大学"),
}


@pytest.mark.parametrize(("text", "tokens"), INDEXED.items())
def test_index_tokens_lose_accents_but_no_vowel_signs(text: str, tokens: tuple[str, ...]) -> None:
    assert tokenize_for_index(text) == tuple(unicodedata.normalize("NFC", token) for token in tokens)


@given(st.text(max_size=40))
def test_an_index_token_is_its_own_token(text: str) -> None:
    once = tokenize_for_index(text)
    assert tokenize_for_index(" ".join(once)) == once


COUNTED = {
    "Two words": 2,
    "Rent: 5,000 a month.": 4,
    "[2][3, 4] 【5】 [^1]": 0,
    "– * | #": 0,
    "可以": 1,
    "请在周一来": 3,
    "买2张票": 3,
    "میخواهم آن‌ها را": 3,
    "१ घंटा लगता है": 4,
    "see [9](https://a.example)": 2,
}


@pytest.mark.parametrize(("text", "length"), COUNTED.items())
def test_length_counts_two_thirds_of_han_and_no_markers(text: str, length: int) -> None:
    assert count_words(text) == length


STOP = frozenset(("the", "how", "does", "cost", "什么", "的", "是"))


def test_content_words_are_distinct_long_enough_and_carry_the_subject() -> None:
    assert find_content_words("How does the the boat go, Anna? Boat!", STOP, frozenset({"anna"})) == ("boat",)
    assert find_content_words("什么是开放的时间", STOP) == ("开放", "时间")


def test_coverage_is_the_share_of_wanted_words() -> None:
    wanted = ("boat", "rental", "price", "harbour")
    assert compute_coverage(wanted, "Boat rental at the harbour") == 0.75
    assert compute_coverage(wanted, frozenset(split_words("Boat rental"))) == 0.5


def test_one_word_in_common_covers_nothing() -> None:
    assert compute_coverage(("boat",), "boat") == 0.0
    assert compute_coverage(("boat", "boat", "car"), "a boat") == 0.0
    assert compute_coverage((), "anything") == 0.0


def test_coverage_wants_whole_words() -> None:
    assert compute_coverage(("cat", "dog"), "category dogma") == 0.0


def test_chinese_is_covered_by_pairs_of_characters() -> None:
    wanted = find_content_words("图书馆的开放时间是什么", STOP)
    assert compute_coverage(wanted, "图书馆每天开放，时间不变") > 0.5
    assert compute_coverage(wanted, "菜单和价格") == 0.0
