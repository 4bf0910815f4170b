"""Which patterns are worth running over a sentence: those that find in it all the literals they need.

A pattern *needs* one literal of each of several sets. Needs recur (a class of words stands in many
patterns), so they are numbered, and a set of needs is one integer: bit 3 is the fourth need.
"""

from collections.abc import Collection, Iterator, Sequence

from proxy.guards.refusal.phrases import choose_sharpest_need

Needs = tuple[frozenset[str], ...]


class LiteralIndex:
    """The literals that patterns need; a pattern is known by its place in `needs`."""

    def __init__(self, needs: Sequence[Needs]):
        distinct_needs = dict.fromkeys(need for pattern_needs in needs for need in pattern_needs)
        bits = {need: 1 << position for position, need in enumerate(distinct_needs)}
        self.texts = sorted({text for need in bits for text in need})
        numbers = {text: number for number, text in enumerate(self.texts)}
        self._need_bits = [0] * len(self.texts)
        for need, bit in bits.items():
            for text in need:
                self._need_bits[numbers[text]] |= bit
        self._required_bits = [sum({bits[need] for need in pattern_needs}) for pattern_needs in needs]
        self._pattern_positions: list[list[int]] = [[] for _ in self.texts]
        # Under its sharpest need alone: fewest texts make it a candidate, and none that lacks it can hit.
        for position, pattern_needs in enumerate(needs):
            for text in choose_sharpest_need(pattern_needs):
                self._pattern_positions[numbers[text]].append(position)

    def iterate_candidates(self, literal_numbers: Collection[int]) -> Iterator[int]:
        """The patterns that have all that they need among the literals `found` (places in `texts`).

        A pattern comes as often as literals of its sharpest need were found.
        """
        met = 0
        for number in literal_numbers:
            met |= self._need_bits[number]
        for number in literal_numbers:
            for position in self._pattern_positions[number]:
                required = self._required_bits[position]
                if required & met == required:
                    yield position
