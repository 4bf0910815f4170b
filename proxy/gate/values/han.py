"""Chinese numerals: 二十五, 三百二十, 一万二千, 二〇二四."""

import regex

_DIGIT_ROWS = ("零〇", "一壹", "二两兩贰", "三叁", "四肆", "五伍", "六陆", "七柒", "八捌", "九玖")
_DIGITS = {char: value for value, row in enumerate(_DIGIT_ROWS) for char in row}
_UNITS = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1000, "仟": 1000}
_SCALES = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}
_TENS = str.maketrans({"廿": "二十", "卅": "三十", "卌": "四十"})
HAN_NUMERAL = regex.compile(f"[廿卅卌{''.join([*_DIGITS, *_UNITS, *_SCALES])}]+")

NUMERAL_CHARS_MAX = 30


def parse_han_number(text: str) -> int:
    """The value of a run of numerals; 0 where it is none: 三四 is "three or four"."""
    if len(text) > NUMERAL_CHARS_MAX:
        return 0
    text = text.translate(_TENS)
    if all(char in _DIGITS for char in text):
        is_plain = len(text) == 1 or len(text) >= 3 or _DIGITS[text[1]] == 0
        return int("".join(str(_DIGITS[char]) for char in text)) if is_plain else 0
    total = group = digit = 0
    for char in text:
        if char in _DIGITS:
            digit = _DIGITS[char]
        elif char in _UNITS:
            group, digit = group + (digit or 1) * _UNITS[char], 0
        else:
            total, group, digit = (total + (group + digit or 1)) * _SCALES[char], 0, 0
    return total + group + digit
