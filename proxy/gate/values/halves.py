"""Halves in words: two and a half, dos horas y media, half a million, साढ़े तीन, 两个半."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

import regex

from proxy.gate.values.pack import ValuePack, either
from proxy.gate.values.sums import DOZEN, Word

HALF = Decimal("0.5")
HALVED_MIN = 1000
"""The least scale that a half stands before; a dozen is one too."""


@dataclass(frozen=True, slots=True)
class Halves:
    """The words of one pack for parts of a number."""

    after: regex.Pattern[str]
    """After a number, a noun between them or not."""
    before: regex.Pattern[str]
    """Right before a scale or a dozen; read backwards."""
    shifts: regex.Pattern[str]
    """Right before any number; read backwards."""
    pack: ValuePack

    def apply(self, text: str, number: Decimal, span: tuple[int, int]) -> tuple[Decimal, int]:
        """The number in words at `span` with the half said beside it, and where that ends."""
        start, end = span
        if (number == DOZEN or number >= HALVED_MIN) and self.before.match(text, 0, start):
            return number / 2, end
        m = self.after.match(text, end)
        return (number + HALF, m.end()) if m else (number, end)

    def shift(self, text: str, words: Sequence[Word]) -> list[Word]:
        """`words` with what stands before one added to it: साढ़े तीन is 3.5, सवा सौ 125."""
        if not self.pack.shifts:
            return list(words)
        return [self._shifted(word, self.shifts.match(text, 0, word.start)) for word in words]

    def _shifted(self, word: Word, match: regex.Match[str] | None) -> Word:
        if match is None:
            return word
        part = self.pack.shifts[match[1]] * (word.value if word.value >= 100 else 1)
        return replace(word, value=word.value + part, start=match.start(), loose=False)


def halves(pack: ValuePack) -> Halves:
    """The halves of `pack`."""
    noun = r"[\s\u200c-]\s?\p{L}[\p{L}\p{M}]*+"
    after = rf"(?:{noun})??[\s\u200c-](?:{either(pack.half)})(?![\p{{L}}\p{{M}}])"
    if pack.measures:
        after = rf"(?:{either(pack.measures)})(?:{either(pack.half)})"
    edge = r"(?<![\p{L}\p{M}])"
    return Halves(
        regex.compile(after),
        regex.compile(rf"(?r){edge}(?:{either(pack.halved)})[\s\u200c-]"),
        regex.compile(rf"(?r){edge}({either(pack.shifts)})\s"),
        pack,
    )
