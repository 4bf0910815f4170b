"""Numbers: what a run of digits and separators says, as exact decimals."""

from decimal import Decimal
from functools import lru_cache

import regex

from proxy.gate.values.decades import build_decade_keys
from proxy.gate.values.decimals import (
    CLOCK_HOURS,
    format_decimal,
    format_number_key,
    is_ambiguous_number,
    list_clock_keys,
    parse_number,
    shift_decimal,
)
from proxy.gate.values.pack import LETTER, ValueGrammar, build_minus_pattern
from proxy.gate.values.page import ValuePage
from proxy.gate.values.tables import UNITS
from proxy.gate.values.types import Value

POWER_MAX = 60
"""A power of ten above this makes a code: `1e999999999` must not be written out."""

# 12’500, hard spaces, ۱٬۲۰۰, 22،338،618 have one reading. Then plain spaces, then points and commas.
_GROUPED_NUMBER = r"\d{1,3}(?:(?:[٬'\u00a0\u202f\u2009]\d{3})+|(?:،\d{3})+|(?:，\d{3})+)"
_NUMBER_BODY = (
    rf"(?:(?<hard>{_GROUPED_NUMBER})|(?<soft>\d{{1,3}}(?: \d{{3}})+)(?! ?\d))(?:[.,٫]\d+)?(?![.,]?\d)"
    r"|(?:(?<![\p{L}\p{M}\d.。])\.)?\d+(?:[.,٫]\d+)*"
)
_CURRENCIES = tuple("$€£¥₹₽﷼")
_CURRENCY = f"[{''.join(_CURRENCIES)}]"
_BOUND = (
    rf"(?<![{LETTER}\p{{Arabic}}\p{{Devanagari}}\p{{M}}\d)\]%°\ue000])"
    r"(?<![\d\ue000%)]\s)(?<![\d\ue000]\p{Han}{1,3})"
)
"""Behind a number, its unit included, a sign is the dash of a range: 9-17, 100元－200元."""
_MINUS_SIGN = rf"{_BOUND}[-–－][\u00a0\u202f\u2009]?(?:{_CURRENCY}\s?)?"
_LOOKBACK_CHARS = 16
"""How far before a number a word of its sign or its decade may begin."""
_MAGNITUDES = {"k": 3, "mn": 6, "mln": 6, "bn": 9, "bln": 9, "tn": 12, "trn": 12}
_CAPITAL_MAGNITUDES = {"m": 6, "b": 9}
"""Magnitudes only in upper case or after a currency sign: 5m are metres."""
_ALONE = r"(?![\p{L}\d'’-]|\.\s?\p{L})"
_MAGNITUDE_APART = rf"[ \u00a0\u202f\u2009](?:{'|'.join(_MAGNITUDES)}){_ALONE}"
"""A magnitude a space apart from its digits: 48 bn."""
_CAPITAL_APART = regex.compile(rf"[ \u00a0\u202f\u2009]([MmBb]){_ALONE}")
"""48 M, but not `2017 M. Dupont`."""
_SCALE_GAP = (
    rf"(?:[)\]\"'”’›»`+]|-\p{{Cyrillic}}{{1,3}}(?=\s)|\s?(?:{_CURRENCY}|eur|usd|gbp|chf|inr|rub)(?=\s))?"
    r"(?:[\s\u200c]{0,4}|-)(?:[(\[\"'“‘«‹`](?=\p{L}+[)\]\"'”’»›`]))?"
)
"""Between digits and their scale: 48-million, `48` million, 48 (million), 48-ми тысяч, 48 € million."""
_LETTER_SUFFIX = regex.compile(r"(?:\s?°?(?<letter>[ACDF])|(?<letter>[aA]))(?![\p{L}\p{N}'’])")
"""Amperes or degrees, or a letter that makes another room of room 12: in an answer 12A is no 12."""
CYRILLIC = regex.compile(r"\p{Cyrillic}+")
_NO_ENDING = regex.compile(r"[озпібадиж]|(?!об$)[озб]+")
"""Cyrillic that names a house (5а) or passes for digits (45ооо): after digits it is no ending."""
_FIGURES = regex.compile(r"\d+")
_GAPS = str.maketrans("", "", "٬'\u00a0\u202f\u2009،，")


@lru_cache(maxsize=64)
def _compile_number_pattern(grammar: ValueGrammar) -> regex.Pattern[str]:
    """A number with exponent, the letters glued to it and the words that scale it."""
    return regex.compile(
        rf"(?<![{LETTER}\d_]|(?<=[{LETTER}])-|\d[.,:/])(?<body>{_NUMBER_BODY})"
        rf"(?:e(?<power>[+-]?\d{{1,4}})(?![{LETTER}\d]))?"
        rf"(?<tail>(?:\.(?=[ºª]|(?:er|o|a)(?![{LETTER}])))?[ºª]?'?[{LETTER}]*+)(?![\d〇○◯])"
        rf"(?<apart>(?:{_MAGNITUDE_APART})?)"
        rf"(?<scale>(?:{_SCALE_GAP}(?:{grammar.scale_pattern}))*)"
    )


@lru_cache(maxsize=64)
def _compile_sign_pattern(grammar: ValueGrammar) -> regex.Pattern[str]:
    """What makes the number after it negative."""
    return regex.compile(rf"(?:{_MINUS_SIGN}|{build_minus_pattern(grammar.packs)}[)\]]?\s?)$")


def _is_negative(page: ValuePage, grammar: ValueGrammar, at: int) -> bool:
    return _compile_sign_pattern(grammar).search(page.text, max(0, at - _LOOKBACK_CHARS), at) is not None


def read_numbers(page: ValuePage, grammar: ValueGrammar) -> None:
    """Take the numbers of `page`; digits with unknown letters glued on are left to the codes."""
    page.take_matches(_compile_number_pattern(grammar), lambda match: _read_number(page, grammar, match))


def _read_number(page: ValuePage, grammar: ValueGrammar, match: regex.Match[str]) -> list[Value] | None:
    body, tail, power = match.group("body", "tail", "power")
    if tail and (
        not _is_number_ending(tail, grammar) or page.raw[match.start("tail") : match.end("tail")] == "O"
    ):
        return None  # 2O is no second
    if power and abs(int(power)) > POWER_MAX:
        return None
    is_negative = _is_negative(page, grammar, match.start())
    if match["soft"]:
        return [_build_spaced_number(page, grammar, match, is_negative)]
    number = parse_number(body.translate(_GAPS), grammar.decimal)
    if number is None:
        return _read_several_numbers(page, match)
    number = shift_decimal(number, int(power)) if power else number
    if part := grammar.find_shift(page.text, match.start()):
        number += part
    number = number.copy_negate() if is_negative else number
    if scale := _compute_scale_power(page, grammar, match):
        return [_build_scaled_number(page, number, scale, match)]
    if part and 0 < number <= CLOCK_HOURS + 1:
        keys = [format_number_key(number), *list_clock_keys(number)]
        return [
            page.build_value(
                "number", keys[0], match.span(), alternatives=[[key] for key in keys], source_keys=keys[:1]
            )
        ]
    if body.isdigit() and body.endswith("0") and _is_decade(page, grammar, match):
        return [_build_decade(page, number, match)]
    return [_build_plain_number(page, grammar, number, match)]


def _is_number_ending(tail: str, grammar: ValueGrammar) -> bool:
    """Whether the letters glued to digits leave them a number."""
    tail = tail.lstrip(".ºª'")
    if (
        not tail
        or tail in UNITS
        or tail in _MAGNITUDES
        or tail in _CAPITAL_MAGNITUDES
        or tail in grammar.number_endings
    ):
        return True
    return bool(CYRILLIC.fullmatch(tail)) and not _NO_ENDING.fullmatch(tail)


def _build_plain_number(
    page: ValuePage, grammar: ValueGrammar, number: Decimal, match: regex.Match[str]
) -> Value:
    """A plain number. 1,234 in a text of unknown language is known by its spelling alone."""
    key, body, tail = format_number_key(number), match["body"], match["tail"]
    if tail and tail.lstrip(".ºª'") in grammar.ordinal_endings:
        return page.build_value(
            "number", key, match.span(), source_keys=[key, f"rank:{format_decimal(number)}"]
        )
    if body.isdigit() and (letter := _LETTER_SUFFIX.match(page.raw, match.end("body"))):
        code = f"mix:{body}{letter['letter'].lower()}"
        return page.build_value(
            "number", key, match.span(), alternatives=[[code if tail else key]], source_keys=[key, code]
        )
    if not is_ambiguous_number(body):
        return page.build_value("number", key, match.span())
    literal = f"lit:{'-' if number < 0 else ''}{body}"
    if grammar.is_known:
        return page.build_value(
            "number", key, match.span(), alternatives=[[key], [literal]], source_keys=[key]
        )
    decimal_key = format_number_key(Decimal(body.replace(",", ".")).copy_sign(number))
    return page.build_value(
        "number", key, match.span(), alternatives=[[literal], [key], [decimal_key]], source_keys=[literal]
    )


def _read_several_numbers(page: ValuePage, match: regex.Match[str]) -> list[Value]:
    """1,2,3 are three numbers; 2.0.1 is one literal composite."""
    body = match["body"]
    if "." in body:
        return [page.build_value("code", f"comp:{match[0].strip()}", match.span())]
    start = match.start("body")
    return [
        page.build_value(
            "number", format_number_key(Decimal(part[0])), (start + part.start(), start + part.end())
        )
        for part in _FIGURES.finditer(body)
    ]


def _build_spaced_number(
    page: ValuePage, grammar: ValueGrammar, match: regex.Match[str], is_negative: bool
) -> Value:
    """1 000 000: one number, or several that stand side by side."""
    sign = Decimal(-1 if is_negative else 1)
    whole, *parts = (
        (parse_number(part, grammar.decimal) or Decimal(0)).copy_sign(sign)
        for part in (match["body"].replace(" ", ""), *match["body"].split(" "))
    )
    if scale := _compute_scale_power(page, grammar, match):
        return _build_scaled_number(page, whole, scale, match)
    key, keys_apart = format_number_key(whole), [format_number_key(part) for part in parts]
    if " 0" in match["body"]:  # 50 003 is no fifty beside a three
        keys_apart = [key]
    source_keys = [key] if grammar.has_spaced_groups else [key, *keys_apart]
    return page.build_value(
        "number", key, match.span(), alternatives=[[key], keys_apart], source_keys=source_keys
    )


def _compute_scale_power(page: ValuePage, grammar: ValueGrammar, match: regex.Match[str]) -> int:
    """The power of ten that letters or words after the digits add; 0 for none."""
    tail, apart, words = match.group("tail", "apart", "scale")
    letters = tail.lstrip(".ºª'")
    power = _find_capital_power(page, match, letters) or _MAGNITUDES.get(letters or apart[1:], 0)
    if words:
        power += sum(grammar.scale_powers[word[0]] for word in grammar.scale_word_pattern.finditer(words))
    return power


def _find_capital_power(page: ValuePage, match: regex.Match[str], letters: str) -> int:
    """The power of a magnitude that only counts in upper case or after a currency sign; 0 for none."""
    end = match.end("tail")
    if letters in _CAPITAL_MAGNITUDES:
        letter = page.raw[end - 1]
    elif not letters and (apart := _CAPITAL_APART.match(page.raw, end)):
        letter = apart[1]
    else:
        return 0
    return _CAPITAL_MAGNITUDES[letter.lower()] if letter.isupper() or _is_after_currency(page, match) else 0


def _is_after_currency(page: ValuePage, match: regex.Match[str]) -> bool:
    return page.raw[: match.start("body")].rstrip().endswith(_CURRENCIES)


def _build_scaled_number(page: ValuePage, number: Decimal, power: int, match: regex.Match[str]) -> Value:
    """5 million is never 5, and 5,000,000 only when written so; 500万 says the same as 5 million."""
    key = f"s:{format_decimal(shift_decimal(number, power))}"
    return page.build_value(
        "number", format_number_key(number), match.span(), alternatives=[[key]], source_keys=[key]
    )


def _is_decade(page: ValuePage, grammar: ValueGrammar, match: regex.Match[str]) -> bool:
    """Whether a number is the name of ten years: 1970s, años 70, 70年代."""
    if match["tail"] in grammar.decade_endings or grammar.decade_after.match(page.text, match.end()):
        return True
    start = match.start()
    return grammar.decade_before.search(page.text, max(0, start - _LOOKBACK_CHARS), start) is not None


def _build_decade(page: ValuePage, number: Decimal, match: regex.Match[str]) -> Value:
    """1970s, also known as the 70s."""
    decade_keys = build_decade_keys(format_decimal(number))
    return page.build_value(
        "number",
        format_number_key(number),
        match.span(),
        alternatives=[[key] for key in decade_keys.alternatives],
        source_keys=decade_keys.source_keys,
    )
