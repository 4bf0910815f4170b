"""A number in words, and what else it says where it stands: a decade, an hour."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

import regex

from proxy.guards.gate.values.decades import Decade, decade
from proxy.guards.gate.values.numbers import number_key, written
from proxy.guards.gate.values.pack import SPACED, ValuePack, either
from proxy.guards.gate.values.page import Page
from proxy.guards.gate.values.types import Value

HOURS = 12


@dataclass(frozen=True, slots=True)
class Notations:
    """The words around a number that say what it counts; `before` is read backwards."""

    decade_before: regex.Pattern[str]
    decade_after: regex.Pattern[str]
    clock_before: regex.Pattern[str]
    clock_after: regex.Pattern[str]

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
        return Decade((), ())

    def _hours(self, text: str, number: Decimal, span: tuple[int, int]) -> Iterator[str]:
        """Nine and a half may be half past nine, and nine o'clock is in the morning or the evening."""
        start, end = span
        half = number % 1 == Decimal("0.5")
        said = half or self.clock_before.match(text, 0, start) or self.clock_after.match(text, end)
        if number <= HOURS + 1 and said:
            minute = "30" if half else "00"
            yield from (f"time:{hour % 24:02d}:{minute}" for hour in (int(number), int(number) + HOURS))


def notations(pack: ValuePack) -> Notations:
    """The surroundings in the words of `pack`."""
    return Notations(
        _before(pack.decade_before),
        _after(pack.decade_after),
        _before(pack.clock_before),
        _after(pack.clock),
    )


def _before(words: tuple[str, ...]) -> regex.Pattern[str]:
    return regex.compile(rf"(?r)(?<![{SPACED}])(?:{either(words)})\p{{M}}*[\s\u200c]")


def _after(words: tuple[str, ...]) -> regex.Pattern[str]:
    return regex.compile(rf"[\s\u200c]?(?:{either(words)})(?![{SPACED}])")
