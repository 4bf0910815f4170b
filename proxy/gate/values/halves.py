"""Halves in words: two and a half, dos horas y media, half a million, साढ़े तीन, 两个半."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

import regex

from proxy.gate.values.pack import ValuePack, build_alternation
from proxy.gate.values.sums import DOZEN, NumberWord

HALF = Decimal("0.5")
HALVED_MIN = 1000
"""The least scale that a half stands before; a dozen is one too."""


@dataclass(frozen=True, slots=True)
class HalfWords:
    """The words of one pack for parts of a number."""

    half_after: regex.Pattern[str]
    """After a number, a noun between them or not."""
    half_before: regex.Pattern[str]
    """Right before a scale or a dozen; read backwards."""
    shift_before: regex.Pattern[str]
    """Right before any number; read backwards."""
    pack: ValuePack

    def apply_half(self, text: str, number: Decimal, span: tuple[int, int]) -> tuple[Decimal, int]:
        """The number in words at `span` with the half said beside it, and where that ends."""
        start, end = span
        if (number == DOZEN or number >= HALVED_MIN) and self.half_before.match(text, 0, start):
            return number / 2, end
        m = self.half_after.match(text, end)
        return (number + HALF, m.end()) if m else (number, end)

    def add_shifts(self, text: str, words: Sequence[NumberWord]) -> list[NumberWord]:
        """`words` with what stands before one added to it: साढ़े तीन is 3.5, सवा सौ 125."""
        if not self.pack.shifts:
            return list(words)
        return [self._add_shift(word, self.shift_before.match(text, 0, word.start)) for word in words]

    def _add_shift(self, word: NumberWord, match: regex.Match[str] | None) -> NumberWord:
        if match is None:
            return word
        part = self.pack.shifts[match[1]] * (word.value if word.value >= 100 else 1)
        return NumberWord(word.value + part, match.start(), word.end, word.is_joined, word.is_ordinal)


def compile_half_words(pack: ValuePack) -> HalfWords:
    """The halves of `pack`."""
    noun = r"[\s\u200c-]\s?\p{L}[\p{L}\p{M}]*+"
    after = rf"(?:{noun})??[\s\u200c-](?:{build_alternation(pack.half)})(?![\p{{L}}\p{{M}}])"
    if pack.measures:
        after = rf"(?:{build_alternation(pack.measures)})(?:{build_alternation(pack.half)})"
    edge = r"(?<![\p{L}\p{M}])"
    return HalfWords(
        regex.compile(after),
        regex.compile(rf"(?r){edge}(?:{build_alternation(pack.halved)})[\s\u200c-]"),
        regex.compile(rf"(?r){edge}({build_alternation(pack.shifts)})\s"),
        pack,
    )
