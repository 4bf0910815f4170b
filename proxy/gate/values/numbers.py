"""Numbers: what a run of digits and separators says, as exact decimals."""

from decimal import Decimal
from functools import lru_cache

import regex

from proxy.gate.values.decades import decade
from proxy.gate.values.pack import LETTER, SPACED, Tongue
from proxy.gate.values.page import Page
from proxy.gate.values.tables import UNITS
from proxy.gate.values.types import Value

CLOCK_HOURS = 12
POWER_MAX = 60
"""A power of ten above this makes a code: `1e999999999` must not be written out."""

# 12’500, hard spaces, ۱٬۲۰۰, 22،338،618 have one reading. Then plain spaces, then points and commas.
_HARD = r"\d{1,3}(?:(?:[٬'\u00a0\u202f\u2009]\d{3})+|(?:،\d{3})+|(?:，\d{3})+)"
_BODY = (
    rf"(?:(?<hard>{_HARD})|(?<soft>\d{{1,3}}(?: \d{{3}})+)(?! ?\d))(?:[.,٫]\d+)?(?![.,]?\d)"
    r"|(?:(?<![\p{L}\p{M}\d.。])\.)?\d+(?:[.,٫]\d+)*"
)
_CURRENCIES = tuple("$€£¥₹₽﷼")
_CURRENCY = f"[{''.join(_CURRENCIES)}]"
_BOUND = (
    rf"(?<![{LETTER}\p{{Arabic}}\p{{Devanagari}}\p{{M}}\d)\]%°\ue000])"
    r"(?<![\d\ue000%)]\s)(?<![\d\ue000]\p{Han}{1,3})"
)
"""Behind a number, its unit included, a sign is the dash of a range: 9-17, 100元－200元."""
_SIGN = rf"{_BOUND}[-–－][\u00a0\u202f\u2009]?(?:{_CURRENCY}\s?)?"
_SIGN_CHARS = 16
"""How far before a number a word of its sign may begin."""
_MAGNITUDES = {"k": 3, "mn": 6, "mln": 6, "bn": 9, "bln": 9, "tn": 12, "trn": 12}
_LOUD = {"m": 6, "b": 9}
"""Magnitudes only in upper case or after a currency sign: 5m are metres."""
_ALONE = r"(?![\p{L}\d'’-]|\.\s?\p{L})"
_APART = rf"[ \u00a0\u202f\u2009](?:{'|'.join(_MAGNITUDES)}){_ALONE}"
"""A magnitude a space apart from its digits: 48 bn."""
_LOUD_APART = regex.compile(rf"[ \u00a0\u202f\u2009]([MmBb]){_ALONE}")
"""48 M, but not `2017 M. Dupont`."""
_DRESS = (
    rf"(?:[)\]\"'”’›»`+]|-\p{{Cyrillic}}{{1,3}}(?=\s)|\s?(?:{_CURRENCY}|eur|usd|gbp|chf|inr|rub)(?=\s))?"
    r"(?:[\s\u200c]{0,4}|-)(?:[(\[\"'“‘«‹`](?=\p{L}+[)\]\"'”’»›`]))?"
)
"""Between digits and their scale: 48-million, `48` million, 48 (million), 48-ми тысяч, 48 € million."""
_LETTERED = regex.compile(r"(?:\s?°?(?<letter>[ACDF])|(?<letter>[aA]))(?![\p{L}\p{N}'’])")
"""Amperes or degrees, or a letter that makes another room of room 12: in an answer 12A is no 12."""
_NO_ENDING = regex.compile(r"[озпібадиж]|(?!об$)[озб]+")
"""Cyrillic that names a house (5а) or passes for digits (45ооо): after digits it is no ending."""
_FIGURES = regex.compile(r"\d+")
_GAPS = str.maketrans("", "", "٬'\u00a0\u202f\u2009،，")
_INDIAN = regex.compile(r"\d{1,2}(?:,\d{2})+,\d{3}")
_GROUPS = {".": regex.compile(r"\d{1,3}(?:\.\d{3})+"), ",": regex.compile(r"\d{1,3}(?:,\d{3})+")}


def written(number: Decimal) -> str:
    """`number` in full without needless zeros: 3.50 → 3.5, -0 → 0. Exact at any length."""
    text = format(number, "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "") else text


def shifted(number: Decimal, power: int) -> Decimal:
    """`number` × 10^`power`, exact: arithmetic on decimals rounds to 28 figures."""
    sign, digits, exponent = number.as_tuple()
    return Decimal((sign, digits, int(exponent) + power))


def number_key(number: Decimal) -> str:
    """The key of a plain number."""
    return f"n:{written(number)}"


def clock_keys(hours: Decimal) -> tuple[str, ...]:
    """The times that so many hours may be, before noon and after it: 9.25 is 9:15 or 21:15."""
    hour, minute = divmod(int(hours * 60), 60)
    return tuple(f"time:{at % 24:02d}:{minute:02d}" for at in (hour, hour + CLOCK_HOURS))


def ambiguous(body: str) -> bool:
    """One point or comma with one to three digits before, not 0, and three after: 1,234."""
    before, _, after = body.replace(",", ".").partition(".")
    return len(after) == 3 and after.isdigit() and 1 <= len(before) <= 3 and before[0] != "0"


def plain(body: str, decimal: str) -> Decimal | None:
    """`body` of digits, points and commas by two rules: the last of two kinds is decimal, else `decimal` is.

    None where it is no number: 1,2,3 or 2.0.1.
    """
    if body.isdigit():
        return Decimal(body)
    if "٫" in body:
        return _split_at(body, "٫")
    kinds = [mark for mark in ".," if mark in body]
    if len(kinds) == 2:
        return _split_at(body, max(kinds, key=body.rindex))
    mark = kinds[0]
    if body.count(mark) > 1 or (ambiguous(body) and mark != decimal):
        return _grouped(body)
    if mark == "," and decimal == "." and body.index(",") > 3:
        return None
    return Decimal(body.replace(",", "."))


def _split_at(body: str, mark: str) -> Decimal | None:
    whole, _, part = body.rpartition(mark)
    number = _grouped(whole) if part.isdigit() else None
    return None if number is None else Decimal(f"{number}.{part}")


def _grouped(body: str) -> Decimal | None:
    """Digits in groups of three by one separator, or in the Indian way."""
    if body.isdigit() or _INDIAN.fullmatch(body) or any(form.fullmatch(body) for form in _GROUPS.values()):
        return Decimal(body.replace(",", "").replace(".", ""))
    return None


@lru_cache(maxsize=64)
def _pattern(tongue: Tongue) -> regex.Pattern[str]:
    """A number with exponent, the letters glued to it and the words that scale it."""
    return regex.compile(
        rf"(?<![{LETTER}\d_]|(?<=[{LETTER}])-|\d[.,:/])(?<body>{_BODY})"
        rf"(?:e(?<power>[+-]?\d{{1,4}})(?![{LETTER}\d]))?"
        rf"(?<tail>(?:\.(?=[ºª]|(?:er|o|a)(?![{LETTER}])))?[ºª]?'?[{LETTER}]*+)(?![\d〇○◯])"
        rf"(?<apart>(?:{_APART})?)"
        rf"(?<scale>(?:{_DRESS}(?:{tongue.scale}))*)"
    )


@lru_cache(maxsize=64)
def _sign(tongue: Tongue) -> regex.Pattern[str]:
    """What makes the number after it negative."""
    spared = rf"(?<!(?<![{SPACED}])(?:{tongue.words('minus_never')}))"
    return regex.compile(rf"(?:{_SIGN}|(?<![{SPACED}])(?:{tongue.words('minus')}){spared}[)\]]?\s?)$")


def _negative(page: Page, tongue: Tongue, at: int) -> bool:
    return _sign(tongue).search(page.text, max(0, at - _SIGN_CHARS), at) is not None


def read_numbers(page: Page, tongue: Tongue) -> None:
    """Take the numbers of `page`; digits with unknown letters glued on are left to the codes."""
    page.take(_pattern(tongue), lambda match: _read(page, tongue, match))


def _read(page: Page, tongue: Tongue, match: regex.Match[str]) -> list[Value] | None:
    body, tail, power = match.group("body", "tail", "power")
    if tail and (not _is_ending(tail, tongue) or page.raw[match.start("tail") : match.end("tail")] == "O"):
        return None  # 2O is no second
    if power and abs(int(power)) > POWER_MAX:
        return None
    negative = _negative(page, tongue, match.start())
    if match["soft"]:
        return [_spaced(page, tongue, match, negative)]
    number = plain(body.translate(_GAPS), tongue.decimal)
    if number is None:
        return _several(page, match)
    number = shifted(number, int(power)) if power else number
    if part := tongue.shift(page.text, match.start()):
        number += part
    number = number.copy_negate() if negative else number
    if scale := _scale(page, tongue, match):
        return [_scaled(page, number, scale, match)]
    if part and 0 < number <= CLOCK_HOURS + 1:
        keys = [number_key(number), *clock_keys(number)]
        return [page.value("number", keys[0], match.span(), accepts=[[key] for key in keys], gives=keys[:1])]
    if body.isdigit() and body.endswith("0") and _of_decade(page, tongue, match):
        return [_decade(page, number, match)]
    return [_number(page, tongue, number, match)]


def _is_ending(tail: str, tongue: Tongue) -> bool:
    """Whether the letters glued to digits leave them a number."""
    tail = tail.lstrip(".ºª'")
    if not tail or tail in UNITS or tail in _MAGNITUDES or tail in _LOUD or tail in tongue.endings:
        return True
    return bool(CYRILLIC.fullmatch(tail)) and not _NO_ENDING.fullmatch(tail)


CYRILLIC = regex.compile(r"\p{Cyrillic}+")


def _number(page: Page, tongue: Tongue, number: Decimal, match: regex.Match[str]) -> Value:
    """A plain number. 1,234 in a text of unknown language is known by its spelling alone."""
    key, body, tail = number_key(number), match["body"], match["tail"]
    if tail and tail.lstrip(".ºª'") in tongue.ranks:
        return page.value("number", key, match.span(), gives=[key, f"rank:{written(number)}"])
    if body.isdigit() and (letter := _LETTERED.match(page.raw, match.end("body"))):
        code = f"mix:{body}{letter['letter'].lower()}"
        return page.value("number", key, match.span(), accepts=[[code if tail else key]], gives=[key, code])
    if not ambiguous(body):
        return page.value("number", key, match.span())
    literal = f"lit:{'-' if number < 0 else ''}{body}"
    if tongue.known:
        return page.value("number", key, match.span(), accepts=[[key], [literal]], gives=[key])
    other = number_key(Decimal(body.replace(",", ".")).copy_sign(number))
    return page.value("number", key, match.span(), accepts=[[literal], [key], [other]], gives=[literal])


def _several(page: Page, match: regex.Match[str]) -> list[Value]:
    """1,2,3 are three numbers; 2.0.1 is one literal composite."""
    body = match["body"]
    if "." in body:
        return [page.value("code", f"comp:{match[0].strip()}", match.span())]
    start = match.start("body")
    return [
        page.value("number", number_key(Decimal(part[0])), (start + part.start(), start + part.end()))
        for part in _FIGURES.finditer(body)
    ]


def _spaced(page: Page, tongue: Tongue, match: regex.Match[str], negative: bool) -> Value:
    """1 000 000: one number, or several that stand side by side."""
    sign = Decimal(-1 if negative else 1)
    joined, *parts = (
        (plain(part, tongue.decimal) or Decimal(0)).copy_sign(sign)
        for part in (match["body"].replace(" ", ""), *match["body"].split(" "))
    )
    if scale := _scale(page, tongue, match):
        return _scaled(page, joined, scale, match)
    key, apart = number_key(joined), [number_key(part) for part in parts]
    if " 0" in match["body"]:  # 50 003 is no fifty beside a three
        apart = [key]
    gives = [key] if tongue.spaced else [key, *apart]
    return page.value("number", key, match.span(), accepts=[[key], apart], gives=gives)


def _scale(page: Page, tongue: Tongue, match: regex.Match[str]) -> int:
    """The power of ten that letters or words after the digits add; 0 for none."""
    tail, apart, words = match.group("tail", "apart", "scale")
    letters = tail.lstrip(".ºª'")
    power = _loud(page, match, letters) or _MAGNITUDES.get(letters or apart[1:], 0)
    if words:
        power += sum(tongue.powers[word[0]] for word in tongue.scale_word.finditer(words))
    return power


def _loud(page: Page, match: regex.Match[str], letters: str) -> int:
    """The power of a magnitude that only counts in upper case or after a currency sign; 0 for none."""
    end = match.end("tail")
    if letters in _LOUD:
        letter = page.raw[end - 1]
    elif not letters and (apart := _LOUD_APART.match(page.raw, end)):
        letter = apart[1]
    else:
        return 0
    return _LOUD[letter.lower()] if letter.isupper() or _follows_currency(page, match) else 0


def _follows_currency(page: Page, match: regex.Match[str]) -> bool:
    return page.raw[: match.start("body")].rstrip().endswith(_CURRENCIES)


def _scaled(page: Page, number: Decimal, power: int, match: regex.Match[str]) -> Value:
    """5 million is never 5, and 5,000,000 only when written so; 500万 says the same as 5 million."""
    key = f"s:{written(shifted(number, power))}"
    return page.value("number", number_key(number), match.span(), accepts=[[key]], gives=[key])


def _of_decade(page: Page, tongue: Tongue, match: regex.Match[str]) -> bool:
    """Whether a number is the name of ten years: 1970s, años 70, 70年代."""
    if match["tail"] in tongue.decades or tongue.decade_after.match(page.text, match.end()):
        return True
    start = match.start()
    return tongue.decade_before.search(page.text, max(0, start - _SIGN_CHARS), start) is not None


def _decade(page: Page, number: Decimal, match: regex.Match[str]) -> Value:
    """1970s, also known as the 70s."""
    name = decade(written(number))
    return page.value(
        "number", number_key(number), match.span(), accepts=[[key] for key in name.accepts], gives=name.gives
    )
