"""Which patterns are worth running: those whose every need is met by the same sentence."""

from proxy.guards.refusal.literals import LiteralIndex
from proxy.guards.refusal.padding import fold_and_pad
from proxy.guards.refusal.patterns import Pattern, PatternSet
from proxy.guards.refusal.phrases import PhraseLexicon, parse_pattern

NEEDS = [
    (frozenset({" much ", " many "}), frozenset({" cost "})),
    (frozenset({" cost "}),),
    (frozenset({" free "}), frozenset({" much ", " many "})),
]
LITERALS = LiteralIndex(NEEDS)


def list_candidates(*found: str) -> set[int]:
    return set(LITERALS.iterate_candidates([LITERALS.texts.index(text) for text in found]))


def test_a_pattern_is_possible_only_with_one_literal_of_each_of_its_needs() -> None:
    assert list_candidates(" cost ") == {1}
    assert list_candidates(" many ", " cost ") == {0, 1}
    assert list_candidates(" many ", " free ") == {2}
    assert list_candidates(" many ") == set()


class CountingPatternSet(PatternSet):
    """Counts the sentences that patterns were run over."""

    runs = 0

    def _find_candidates(self, line: bytes) -> dict[int, list[bytes]] | None:
        worth = super()._find_candidates(line)
        self.runs += sum(map(len, (worth or {}).values()))
        return worth


def test_words_that_meet_in_no_sentence_run_no_pattern() -> None:
    part = parse_pattern("how much * cost", PhraseLexicon())
    patterns = CountingPatternSet([Pattern("how much * cost", "t", "en", part.regex, part.needs)])
    assert not patterns.find_hits(fold_and_pad("So much snow! How so? The cost is low."))
    assert patterns.runs == 0
    assert patterns.find_hits(fold_and_pad("So much snow! How much does it cost?"))
    assert patterns.runs == 1
