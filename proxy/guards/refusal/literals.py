"""Which patterns are worth running over a sentence: those that find in it all the literals they need.

A pattern *needs* one literal of each of several sets. Needs recur (a class of words stands in many
patterns), so they are numbered, and a set of needs is one integer: bit 3 is the fourth need.
"""

from collections.abc import Iterable, Iterator, Sequence

from proxy.guards.refusal.phrases import choose_sharpest_need

Needs = tuple[frozenset[str], ...]


class Literals:
    """The literals that patterns need; a pattern is known by its place in `needs`."""

    def __init__(self, needs: Sequence[Needs]):
        distinct = {need: 1 << at for at, need in enumerate(dict.fromkeys(n for some in needs for n in some))}
        self.texts = sorted({text for need in distinct for text in need})
        numbers = {text: number for number, text in enumerate(self.texts)}
        self._need_bits = [0] * len(self.texts)
        for need, bit in distinct.items():
            for text in need:
                self._need_bits[numbers[text]] |= bit
        self._required_bits = [sum({distinct[need] for need in some}) for some in needs]
        self._pattern_positions: list[list[int]] = [[] for _ in self.texts]
        for at, some in enumerate(needs):
            for text in choose_sharpest_need(some):
                self._pattern_positions[numbers[text]].append(at)

    def iterate_candidates(self, found: Iterable[int]) -> Iterator[int]:
        """The patterns that have all that they need among the literals `found` (places in `texts`)."""
        met = 0
        for number in found:
            met |= self._need_bits[number]
        for number in found:
            for at in self._pattern_positions[number]:
                if self._required_bits[at] & met == self._required_bits[at]:
                    yield at
