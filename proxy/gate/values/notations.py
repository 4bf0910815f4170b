"""A number in words, and what else it says where it stands: a decade, an hour."""

from dataclasses import dataclass
from decimal import Decimal

import regex

from proxy.gate.values.decades import DecadeKeys, build_decade_keys
from proxy.gate.values.decimals import CLOCK_HOURS, format_decimal, format_number_key, list_clock_keys
from proxy.gate.values.pack import LATIN, SPACED, ValuePack, build_alternation, build_minus_pattern
from proxy.gate.values.page import ValuePage
from proxy.gate.values.types import Value

_QUARTERS = (Decimal("0.25"), Decimal("0.5"), Decimal("0.75"))


@dataclass(frozen=True, slots=True)
class NumberContext:
    """The words around a number that say what it counts; those before it are read backwards."""

    decade_before: regex.Pattern[str]
    decade_after: regex.Pattern[str]
    clock_before: regex.Pattern[str]
    clock_after: regex.Pattern[str]
    day_part_after: regex.Pattern[str]
    minus_before: regex.Pattern[str]
    noon_before: regex.Pattern[str]
    noon_after: regex.Pattern[str]

    def build_number(self, page: ValuePage, number: Decimal, span: tuple[int, int]) -> Value:
        """The number at `span`: equal to digits, to digits with a scale word, and to its other readings."""
        keys = [format_number_key(number), f"s:{format_decimal(number)}"]
        decade_keys = self._find_decade_keys(page.text, number, span)
        alternatives = [
            [key]
            for key in (*keys, *decade_keys.alternatives, *self._list_hour_keys(page.text, number, span))
        ]
        return page.build_value(
            "number", keys[0], span, alternatives=alternatives, source_keys=[*keys, *decade_keys.source_keys]
        )

    def _find_decade_keys(self, text: str, number: Decimal, span: tuple[int, int]) -> DecadeKeys:
        """The years ninety are the 1990s."""
        start, end = span
        is_round = 10 <= number < 100 and number % 10 == 0
        if is_round and (self.decade_before.match(text, 0, start) or self.decade_after.match(text, end)):
            return build_decade_keys(format_decimal(number))
        return DecadeKeys()

    def _list_hour_keys(self, text: str, number: Decimal, span: tuple[int, int]) -> tuple[str, ...]:
        """Nine and a half may be half past nine, and nine o'clock is in the morning or the evening."""
        is_time = number % 1 in _QUARTERS or self.is_time_of_day(text, number, span)
        if number > CLOCK_HOURS + 1 or not is_time:
            return ()
        return list_clock_keys(number)[self._is_after_noon(text, number, span) :]

    def _is_after_noon(self, text: str, number: Decimal, span: tuple[int, int]) -> bool:
        """Whether an hour is said to be one after noon: nine in the evening."""
        start, end = span
        after_noon = self.noon_after.match(text, end) or self.noon_before.match(text, 0, start)
        return bool(after_noon) and number < CLOCK_HOURS

    def is_time_of_day(self, text: str, number: Decimal, span: tuple[int, int]) -> bool:
        """Whether the words around a number can only mean the time of day.

        "One in the evening" is a tour, ساعة واحدة is an hour's length: beside one, only "o'clock" is sure.
        """
        start, end = span
        if self.clock_after.match(text, end):
            return True
        beside = self.clock_before.match(text, 0, start) or self.day_part_after.match(text, end)
        return number >= 2 and beside is not None

    def is_negative(self, text: str, start: int) -> bool:
        """Whether a word before the number makes it negative: minus five, 零下五度."""
        return self.minus_before.match(text, 0, start) is not None


def compile_number_context(pack: ValuePack) -> NumberContext:
    """The surroundings in the words of `pack`."""
    return NumberContext(
        _compile_words_before(pack.decade_before),
        _compile_words_after(pack.decade_after),
        _compile_words_before(pack.clock_before),
        _compile_words_after(pack.clock),
        _compile_words_after(
            tuple(filter(_is_certain_day_part, (*pack.morning, *pack.evening, *pack.night)))
        ),
        regex.compile(rf"(?r){build_minus_pattern((pack,))}\s?"),
        _compile_words_before(pack.evening),
        _compile_words_after(pack.evening),
    )


def _is_certain_day_part(part: str) -> bool:
    """Whether a part of the day cannot be what is counted: दो रात are two nights, "du soir" is no noun."""
    return " " in part or LATIN.match(part) is not None


def _compile_words_before(words: tuple[str, ...]) -> regex.Pattern[str]:
    return regex.compile(rf"(?r)(?<![{SPACED}])(?:{build_alternation(words)})\p{{M}}*[\s\u200c]")


def _compile_words_after(words: tuple[str, ...]) -> regex.Pattern[str]:
    return regex.compile(rf"[\s\u200c]?(?:{build_alternation(words)})(?![{SPACED}])")
