"""Which patterns are worth running over a sentence: those that find in it all the literals they need.

A pattern *needs* one literal of each of several sets. Needs recur (a class of words stands in many
patterns), so they are numbered, and a set of needs is one integer: bit 3 is the fourth need.
"""

from collections.abc import Iterable, Iterator, Sequence

from proxy.guards.refusal.phrases import sharpest

Needs = tuple[frozenset[str], ...]


class Literals:
    """The literals that patterns need; a pattern is known by its place in `needs`."""

    def __init__(self, needs: Sequence[Needs]):
        distinct = {need: 1 << at for at, need in enumerate(dict.fromkeys(n for some in needs for n in some))}
        self.texts = sorted({text for need in distinct for text in need})
        numbers = {text: number for number, text in enumerate(self.texts)}
        self._meets = [0] * len(self.texts)
        for need, bit in distinct.items():
            for text in need:
                self._meets[numbers[text]] |= bit
        self._wanted = [sum({distinct[need] for need in some}) for some in needs]
        self._keyed: list[list[int]] = [[] for _ in self.texts]
        for at, some in enumerate(needs):
            for text in sharpest(some):
                self._keyed[numbers[text]].append(at)

    def possible(self, found: Iterable[int]) -> Iterator[int]:
        """The patterns that have all that they need among the literals `found` (places in `texts`)."""
        met = 0
        for number in found:
            met |= self._meets[number]
        for number in found:
            for at in self._keyed[number]:
                if self._wanted[at] & met == self._wanted[at]:
                    yield at
