"""Every notation of a value is found; no altered value is, in any of ten languages."""

import time
import unicodedata
from collections.abc import Iterator

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.gate.values import find_missing_value, read_values, render_text
from proxy.settings.languages import LANGUAGE_TAGS
from tests.proxy.gate.value_checks import PACKS, are_values_supported
from tests.proxy.gate.value_notations import ALL, NotationSentences

DIGITS = (0x30, 0x660, 0x6F0, 0x966, 0xFF10)
"""Zeros of five scripts."""
LOOK_ALIKES = {0: "OОС", 1: "lI", 2: "Z", 3: "З", 4: "Ч", 5: "S", 6: "б", 7: "T", 8: "B", 9: "g"}
CYRILLIC = str.maketrans("aeopcx", "аеорсх")
HOST = regex.compile(r"[a-z]{2,}\.[a-z]{2,}\.[a-z]{2,}")


def alter_values(text: str) -> Iterator[str]:
    """`text` with one value wrong, in the ways a model or an attacker gets it wrong."""
    for at, char in enumerate(text):
        if unicodedata.category(char) == "Nd":
            yield from _alter_digit(text, at)
    for match in HOST.finditer(text):
        yield from _alter_host(text, *match.span())


def _alter_digit(text: str, at: int) -> Iterator[str]:
    """Another digit, one of another script, a doubled one, a sign that looks like it, one struck out."""
    head, char, tail = text[:at], text[at], text[at + 1 :]
    digit = unicodedata.digit(char)
    zero = ord(char) - digit
    yield from (head + chr(zero + (digit + step) % 10) + tail for step in range(1, 10))
    yield from (head + chr(zero + (digit + 1) % 10) + tail for zero in DIGITS)
    yield f"{head}{char}\u0336{tail}"
    if not _is_trailing_zero(text, at):
        yield from (head + sign + tail for sign in LOOK_ALIKES[digit] if _has_digit_beside(text, at))
        yield f"{head}{char}{char}{tail}"
        yield f"{head}{char}\u200b{char}{tail}"


def _is_trailing_zero(text: str, at: int) -> bool:
    """Whether the digit adds nothing to its value: 3.50, 07."""
    beside = text[at + 1 : at + 2]
    leading = text[at] in "0०۰" and not text[at - 1 : at].isdigit()
    return leading or (not beside.isdigit() and regex.search(r"[.,٫]\d*[0०۰]$", text[: at + 1]) is not None)


def _has_digit_beside(text: str, at: int) -> bool:
    return text[at - 1 : at].isdigit() or text[at + 1 : at + 2].isdigit()


def _alter_host(text: str, start: int, end: int) -> Iterator[str]:
    """One letter wrong, one of another script, one unseen; a longer host, a longer path."""
    host = text[start:end]
    for at, char in enumerate(host):
        if char == ".":
            continue
        wrong = [char.translate(CYRILLIC)]
        if at < host.rindex("."):  # a wrong last label names no place at all
            wrong.append("q" if char != "q" else "w")
        yield from (text[:start] + host[:at] + c + host[at + 1 :] + text[end:] for c in wrong if c != char)
        if host[at - 1 : at].isalpha():
            yield text[:start] + host[:at] + "\u200b" + host[at:] + text[end:]
    yield text[:start] + "evil." + text[start:]
    yield text[:end] + ".evil.net" + text[end:]
    yield text[:end] + "/evil" + text[end:]


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.language)
def test_every_notation_is_found(case: NotationSentences) -> None:
    source = read_values(case.source, case.language, PACKS, is_source=True)
    for text in case.same:
        values = read_values(text, case.language, PACKS)
        assert values.items, text
        assert are_values_supported(values, source), text


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.language)
def test_no_altered_value_is_found(case: NotationSentences) -> None:
    source = read_values(case.source, case.language, PACKS, is_source=True)
    wrong = [text for same in case.same for text in alter_values(same)]
    assert len(wrong) >= 200
    released = [
        text
        for text in wrong
        if are_values_supported(read_values(text, case.language, PACKS, is_line_start=False), source)
    ]
    assert released == []


@pytest.mark.parametrize("tag", LANGUAGE_TAGS)
def test_another_month_is_another_date(tag: str) -> None:
    rows = PACKS[tag].months
    for number, row in enumerate(rows):
        source = read_values(f"12 {row[0]} 2019", tag, PACKS, is_source=True)
        for other in rows[:number] + rows[number + 1 :]:
            assert not are_values_supported(read_values(f"12 {other[0]} 2019", tag, PACKS), source)


@pytest.mark.parametrize("tag", LANGUAGE_TAGS)
def test_another_scale_is_another_number(tag: str) -> None:
    scales = PACKS[tag].scales
    for word, power in scales.items():
        source = read_values(f"7 {word}", tag, PACKS, is_source=True)
        for other, height in scales.items():
            values = read_values(f"7 {other}", tag, PACKS)
            assert are_values_supported(values, source) == (power == height), (word, other)


@pytest.mark.parametrize("tag", LANGUAGE_TAGS)
def test_a_swapped_separator_is_another_number(tag: str) -> None:
    swap = str.maketrans(".,", ",.")
    for number in ("1.234", "1,234", "12.345", "98,765"):
        source = read_values(number, tag, PACKS, is_source=True)
        assert are_values_supported(read_values(number, tag, PACKS), source)
        assert not are_values_supported(read_values(number.translate(swap), tag, PACKS), source)


@pytest.mark.parametrize("tag", LANGUAGE_TAGS)
def test_a_number_spelled_wrong_is_not_held(tag: str) -> None:
    """Words are read in answers too: only their own number holds them."""
    pack = PACKS[tag]
    words = [
        (w, n) for w, n in pack.cardinals.items() if 2 <= n < 100 and w not in pack.loose and tag != "zh"
    ]
    for word, number in words:
        values = read_values(f"{word} {pack.counted[0]}", tag, PACKS)
        assert are_values_supported(values, read_values(str(number), tag, PACKS, is_source=True)), word
        assert not are_values_supported(values, read_values(str(number + 1), tag, PACKS, is_source=True)), (
            word
        )


PIECES = (
    *(
        "1",
        "23",
        "2019",
        ",",
        ".",
        "-",
        "/",
        ":",
        " ",
        "%",
        "h",
        "e5",
        "²",
        "½",
        "st",
        "km",
        "B",
        "v",
        "@",
        "://",
    ),
    *(
        "www.",
        "a.com",
        "May",
        "[1]",
        "](",
        "<",
        "!",
        "[",
        "'",
        "，",
        "万",
        "年",
        "月",
        "日",
        "点",
        "二十",
        "five",
        " and ",
    ),
    *(
        "٬",
        "٫",
        "۴",
        "४",
        "５",
        "\u200b",
        "\u0301",
        "°",
        "$",
        "+",
        "\n",
        "мая",
        "مه",
        "à",
        "\u00a0",
        "○",
        "i̇",
        "İ",
    ),
)
texts = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)


@given(texts, st.sampled_from((*LANGUAGE_TAGS, None)))
@settings(max_examples=100)
def test_every_digit_belongs_to_a_value_or_is_left_over(text: str, language: str | None) -> None:
    values = read_values(text, language, PACKS, is_line_start=False)
    raw = unicodedata.normalize("NFC", text)
    bare = regex.sub(r"[\[［【]\d[\]］】](?!\()", lambda m: " " * len(m[0]), raw)
    covered = {at for value in values.items for at in range(value.start, value.end)}
    loose = [at for at, char in enumerate(bare) if unicodedata.category(char) == "Nd" and at not in covered]
    assert not loose or values.leftover or values.markup or _is_title(raw, loose)


def _is_title(raw: str, loose: list[int]) -> bool:
    """A digit after a link's target is taken with it: `](a 5)` cannot be, so only trailing signs are."""
    return all(regex.search(r"[/@.]\S*$", raw[:at]) is not None for at in loose)


@given(texts, st.sampled_from((*LANGUAGE_TAGS, None)))
@settings(max_examples=100)
def test_what_a_text_says_its_own_text_holds(text: str, language: str | None) -> None:
    values = read_values(text, language, PACKS, spelled=False, is_line_start=False)
    wrapped = read_values(f"Aha; {text}", language, PACKS, is_source=True)
    lost = find_missing_value(values, [wrapped])
    assert lost is None or regex.search(r"\n", text), lost


@given(texts, st.sampled_from(LANGUAGE_TAGS))
@settings(max_examples=100)
def test_a_value_is_read_alike_in_a_longer_text(text: str, language: str) -> None:
    alone = read_values(text, language, PACKS, is_line_start=False)
    beside = read_values(f"Aha; {text} ; aha", language, PACKS, is_line_start=False)
    assert [value.key for value in alone.items] == [value.key for value in beside.items]


@pytest.mark.parametrize(
    "form", ["{}", "{}s", "-{}", "{} million", "1.{}", "{}e9", "mid-{}", "{}/{}", "{} {}", "1 000 {}"]
)
def test_a_number_of_any_length_is_exact(form: str) -> None:
    digits = "7" * 5000 + "0"
    text = form.format(digits, digits)
    source = read_values(text, "en", PACKS, is_source=True)
    assert are_values_supported(read_values(text, "en", PACKS), source)
    assert not are_values_supported(read_values(text.replace("70", "71"), "en", PACKS), source)


HOSTILE = (
    "1",
    "1,",
    "1.",
    "1-",
    "a.",
    "a1-",
    "@a",
    "](",
    "<a ",
    "www.",
    "may 1 ",
    "two ",
    "万",
    "1²",
    "1 000 ",
    "`a",
    "1\u0301",
    "\n",
    '](http://a.b "',
    "]( (",
    "(1** ",
    "&#49;",
    'http://a"b',
)


@pytest.mark.parametrize("unit", HOSTILE)
def test_reading_is_linear(unit: str) -> None:
    def measure_seconds(chars: int) -> float:
        text = (unit * chars)[:chars]
        started = time.process_time()
        read_values(render_text(text), "en", PACKS)
        return time.process_time() - started

    measure_seconds(200)
    assert measure_seconds(8_000) < max(16 * measure_seconds(1_000), 1.5)
