"""A number in words, and what else it says where it stands: a decade, an hour."""

from dataclasses import dataclass
from decimal import Decimal

import regex

from proxy.gate.values.decades import Decade, decade
from proxy.gate.values.numbers import CLOCK_HOURS, clock_keys, number_key, written
from proxy.gate.values.pack import LATIN, SPACED, ValuePack, either
from proxy.gate.values.page import Page
from proxy.gate.values.types import Value

_PARTS = (Decimal("0.25"), Decimal("0.5"), Decimal("0.75"))


@dataclass(frozen=True, slots=True)
class Notations:
    """The words around a number that say what it counts; `before` is read backwards."""

    decade_before: regex.Pattern[str]
    decade_after: regex.Pattern[str]
    clock_before: regex.Pattern[str]
    clock_after: regex.Pattern[str]
    part_after: regex.Pattern[str]
    minus: regex.Pattern[str]
    late_before: regex.Pattern[str]
    late_after: regex.Pattern[str]

    def number(self, page: Page, number: Decimal, span: tuple[int, int]) -> Value:
        """The number at `span`: equal to digits, to digits with a scale word, and to its other readings."""
        keys = [number_key(number), f"s:{written(number)}"]
        ten = self._decade(page.text, number, span)
        accepts = [[key] for key in (*keys, *ten.accepts, *self._hours(page.text, number, span))]
        return page.value("number", keys[0], span, accepts=accepts, gives=[*keys, *ten.gives])

    def _decade(self, text: str, number: Decimal, span: tuple[int, int]) -> Decade:
        """The years ninety are the 1990s."""
        start, end = span
        named = 10 <= number < 100 and number % 10 == 0
        if named and (self.decade_before.match(text, 0, start) or self.decade_after.match(text, end)):
            return decade(written(number))
        return Decade()

    def _hours(self, text: str, number: Decimal, span: tuple[int, int]) -> tuple[str, ...]:
        """Nine and a half may be half past nine, and nine o'clock is in the morning or the evening."""
        said = number % 1 in _PARTS or self.at_clock(text, number, span)
        if number > CLOCK_HOURS + 1 or not said:
            return ()
        return clock_keys(number)[self._late(text, number, span) :]

    def _late(self, text: str, number: Decimal, span: tuple[int, int]) -> bool:
        """Whether an hour is said to be one after noon: nine in the evening."""
        start, end = span
        after_noon = self.late_after.match(text, end) or self.late_before.match(text, 0, start)
        return bool(after_noon) and number < CLOCK_HOURS

    def at_clock(self, text: str, number: Decimal, span: tuple[int, int]) -> bool:
        """Whether the words around a number can only mean the time of day.

        "One in the evening" is a tour, ساعة واحدة is an hour's length: beside one, only "o'clock" is sure.
        """
        start, end = span
        if self.clock_after.match(text, end):
            return True
        beside = self.clock_before.match(text, 0, start) or self.part_after.match(text, end)
        return number >= 2 and beside is not None

    def below_zero(self, text: str, start: int) -> bool:
        """Whether a word before the number makes it negative: minus five, 零下五度."""
        return self.minus.match(text, 0, start) is not None


def notations(pack: ValuePack) -> Notations:
    """The surroundings in the words of `pack`."""
    return Notations(
        _before(pack.decade_before),
        _after(pack.decade_after),
        _before(pack.clock_before),
        _after(pack.clock),
        _after(tuple(filter(_certain, (*pack.morning, *pack.evening, *pack.night)))),
        _minus(pack),
        _before(pack.evening),
        _after(pack.evening),
    )


def _certain(part: str) -> bool:
    """Whether a part of the day cannot be what is counted: दो रात are two nights, "du soir" is no noun."""
    return " " in part or LATIN.match(part) is not None


def _minus(pack: ValuePack) -> regex.Pattern[str]:
    edge = rf"(?<![{SPACED}])"
    spared = rf"(?<!{edge}(?:{either(pack.minus_never)}))"
    return regex.compile(rf"(?r){edge}(?:{either(pack.minus)}){spared}\s?")


def _before(words: tuple[str, ...]) -> regex.Pattern[str]:
    return regex.compile(rf"(?r)(?<![{SPACED}])(?:{either(words)})\p{{M}}*[\s\u200c]")


def _after(words: tuple[str, ...]) -> regex.Pattern[str]:
    return regex.compile(rf"[\s\u200c]?(?:{either(words)})(?![{SPACED}])")
