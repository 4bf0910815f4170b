"""Adding up number words: tens and units, hundreds, scales."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from proxy.gate.values.pack import ValuePack

DOZEN = 12
"""The least number that multiplies or is halved as a scale is: 48 dozen, half a dozen."""


@dataclass(frozen=True, slots=True)
class NumberWord:
    """A number word and where it stands."""

    value: Decimal
    start: int
    end: int
    is_joined: bool = False
    """Whether a hyphen, an "and" or glue stands before it."""
    is_ordinal: bool = False
    """Whether it is an ordinal."""
    is_loose: bool = False
    """Whether it also means something else."""


@dataclass(slots=True)
class _NumberSum:
    """A number under way."""

    total: Decimal = Decimal(0)
    """Of the scales closed so far."""
    group: Decimal = Decimal(0)
    """Below the next scale."""
    scale: Decimal = Decimal(0)
    """The last scale closed; 0 before the first."""

    def add_word(self, word: NumberWord, units_first: bool) -> bool:
        """Add `word`; False where the number cannot go on with it."""
        value, rest = word.value, self.group % 100
        if value >= 1000:
            return self._apply_scale(value)
        if value == 100 and 1 < self.group < 20 and self.group != 10:  # twelve hundred
            self.group *= 100
            return True
        if value % 100 == 0:
            fits = self.group == 0
        elif value >= 20 and value % 10 == 0:
            fits = rest == 0 or (units_first and word.is_joined and rest < 10)
        elif value >= 10:
            fits = rest == 0 or (rest in (60, 80) and value < 20)
        else:
            fits = rest == 0 or (rest >= 20 and rest % 10 == 0)
        if fits:
            self.group += value
        return fits

    def _apply_scale(self, value: Decimal) -> bool:
        """Multiply by a scale; False where the number cannot go on with it."""
        if self.scale and value >= self.scale:
            if self.group or value == self.scale:
                return False
            self.total *= value  # mil millones
        else:
            self.total += (self.group or 1) * value
        self.group, self.scale = Decimal(0), value
        return True


def add_up_words(run: Sequence[NumberWord], pack: ValuePack) -> tuple[int, Decimal]:
    """How many words of `run` make its first number, and the number."""
    state = _NumberSum()
    for index, word in enumerate(run):
        if not state.add_word(word, pack.units_first or bool(pack.glue)):
            return max(index, 1), state.total + state.group
    return len(run), state.total + state.group
