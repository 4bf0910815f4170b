"""Patterns: many phrases matched at once, in linear time, each proven by its own examples at load."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import re2

from proxy.domain.errors import ConfigError
from proxy.guards.refusal.literals import LiteralIndex, Needs
from proxy.guards.refusal.padding import BREAK, fold_and_pad
from proxy.guards.refusal.phrases import PartMemo, PhraseClasses, parse_pattern

CANARY = "\ue000"
"""Appended to every text: a set that does not report it has run out of memory and said nothing."""
MEMORY_BYTES = 32 << 20
_CANARY, _BREAK = CANARY.encode(), BREAK.encode()


@dataclass(frozen=True)
class Pattern:
    """One pattern: what it stands for, and what a text must hold to be worth a look."""

    source: str
    """As it was written."""
    topic: str
    language: str
    expression: str
    needs: Needs = ()

    @cached_property
    def compiled(self) -> Any:
        """Made when first needed: most patterns are never looked for."""
        return re2.compile(self.expression, _build_options())

    def drop_compiled(self) -> None:
        """Drops what was made for a trial and may never be needed again: some 50 kB a pattern."""
        self.__dict__.pop("compiled", None)

    def search(self, text: str, start: int = 0) -> tuple[int, int] | None:
        """The leftmost-longest span from `start` on, in code points."""
        match = self.compiled.search(text, start)
        return (match.start(), match.end()) if match else None

    def iterate_spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Every span, overlapping ones too (at most one from each character on).

        One by one: each costs a search, and a long text may hold thousands of which the first will do.
        """
        start = 0
        while span := self.search(text, start):
            yield span
            start = span[0] + 1


def _build_options() -> re2.Options:
    options = re2.Options()
    options.max_mem = MEMORY_BYTES
    options.longest_match = True
    options.log_errors = False
    return options


class PatternSet:
    """Many patterns over padded text, in linear time. Raises `ConfigError` for one that RE2 refuses.

    A set of plain literals is searched first, sentence by sentence: it tells which patterns find there all
    that they need, and only those are run. Experts' patterns, whose needs are not known, form a second set.
    A thousand patterns with gaps in one set would make a new state of nearly every byte.
    """

    def __init__(self, patterns: Sequence[Pattern]):
        self.patterns = tuple(patterns)
        self._literals = LiteralIndex([pattern.needs for pattern in self.patterns])
        texts = self._literals.texts
        self._literal_set = _ExpressionSet([re2.escape(text) if text.isascii() else text for text in texts])
        self._expert_positions = [n for n, pattern in enumerate(self.patterns) if not pattern.needs]
        for n in self._expert_positions:
            _check_expression(self.patterns[n])
        self._expert_set = _ExpressionSet([self.patterns[n].expression for n in self._expert_positions])

    @property
    def literals(self) -> Sequence[str]:
        """What the patterns need of a text: ` whole ` words, ` beginnings`, phrases."""
        return self._literals.texts

    def find_hits(self, text: str) -> list[Pattern]:
        """The patterns that hit padded `text`, in their order."""
        return list(self.iterate_hits(text))

    def find_first_hit(self, text: str) -> Pattern | None:
        """The first pattern, in their order, that hits padded `text`."""
        return next(self.iterate_hits(text), None)

    def iterate_hits(self, text: str) -> Iterator[Pattern]:
        """The patterns that hit padded `text`, in their order, one by one as they are found."""
        line = text.encode()
        expert_numbers, candidates = self._expert_set.match_text(line), self._find_candidates(line)
        if expert_numbers is None or candidates is None:
            yield from (pattern for pattern in self.patterns if pattern.search(text))
            return
        expert_hits = {self._expert_positions[number] for number in expert_numbers}
        for n in sorted(expert_hits | candidates.keys()):
            if n in expert_hits or any(map(self.patterns[n].compiled.search, candidates[n])):
                yield self.patterns[n]

    def _find_candidates(self, line: bytes) -> dict[int, list[bytes]] | None:
        """Positions of patterns → the padded sentences that they are worth running over; None: out of memory.

        In UTF-8, as RE2 wants it: else a sentence would be encoded again for each pattern.
        """
        candidates: dict[int, list[bytes]] = {}
        for inner in dict.fromkeys(line.removeprefix(_BREAK).removesuffix(_BREAK).split(_BREAK)):
            sentence = _BREAK + inner + _BREAK
            literal_numbers = self._literal_set.match_text(sentence)
            if literal_numbers is None:
                return None
            for n in set(self._literals.iterate_candidates(literal_numbers)):
                candidates.setdefault(n, []).append(sentence)
        return candidates


class _ExpressionSet:
    """An RE2 set that cannot fail unseen."""

    def __init__(self, expressions: Sequence[str]):
        self._set = re2.Set.SearchSet(_build_options())
        for expression in expressions:
            self._set.Add(expression)
        self._canary = len(expressions)
        self._set.Add(CANARY)
        self._set.Compile()

    def match_text(self, text: bytes) -> list[int] | None:
        """Numbers of the expressions that hit; None if the set ran out of memory: it then says nothing."""
        hits: list[int] = self._set.Match(text + _CANARY) or []
        if self._canary not in hits:
            return None
        hits.remove(self._canary)
        return hits


def _check_expression(pattern: Pattern) -> None:
    """Only an expert's pattern can be bad RE2; the others are written by us."""
    try:
        _ = pattern.compiled
    except re2.error as fault:
        where = f"{pattern.language}: {pattern.topic}"
        raise ConfigError(f"{where}: pattern {pattern.source!r}: {fault}") from fault


@dataclass(frozen=True, slots=True)
class PatternRule:
    """Patterns of one topic (or kind) with the sentences that prove them."""

    topic: str
    patterns: tuple[str, ...]
    must_match: tuple[str, ...] = ()
    must_not_match: tuple[str, ...] = ()


def compile_rule(rule: PatternRule, language: str, lexicon: PhraseClasses, place: str) -> list[Pattern]:
    """A rule's patterns. Raises `ConfigError` naming `place`, the pattern and what is wrong with it."""
    patterns, faults = [], []
    memo: PartMemo = {}
    for source in rule.patterns:
        try:
            part = parse_pattern(source, lexicon, memo)
            patterns.append(Pattern(source, rule.topic, language, part.regex, part.needs))
        except ValueError as fault:
            faults.append(f"{place}: {rule.topic}: pattern {source!r}: {fault}")
    if faults:
        raise ConfigError(*faults)
    return patterns


@lru_cache(maxsize=256)
def prove_rules(
    rules: tuple[PatternRule, ...], language: str, lexicon: PhraseClasses, place: str
) -> tuple[Pattern, ...]:
    """All rules' patterns, each proven by its rule's examples. Raises one `ConfigError` with all faults.

    Assistants share the packs, so what one of them has proven is proven for all.
    """
    groups: list[list[Pattern]] = []
    faults: list[str] = []
    for rule in rules:
        try:
            groups.append(compile_rule(rule, language, lexicon, place))
        except ConfigError as fault:
            faults += fault.faults
    if faults:
        raise ConfigError(*faults)
    all_patterns = PatternSet([pattern for group in groups for pattern in group])
    faults = [
        line
        for rule, group in zip(rules, groups, strict=True)
        for line in _find_example_faults(rule, group, all_patterns, place)
    ]
    if faults:
        raise ConfigError(*faults)
    for pattern in all_patterns.patterns:
        pattern.drop_compiled()
    return all_patterns.patterns


def _find_example_faults(
    rule: PatternRule, own: Sequence[Pattern], all_patterns: PatternSet, place: str
) -> list[str]:
    """A pattern of `own` that no sentence of `must_match` shows to work, one missed, one to be spared hit.

    The sentences are run over `all_patterns` at once, as questions will be.
    """
    hits = {
        text: [pattern for pattern in all_patterns.find_hits(fold_and_pad(text)) if pattern in own]
        for text in (*rule.must_match, *rule.must_not_match)
    }
    shown = {pattern for text in rule.must_match for pattern in hits[text]}
    where = f"{place}: {rule.topic}"
    return [
        *(
            f"{where}: pattern {p.source!r}: want a `match` sentence (in a pack: `must_match`) that it hits"
            for p in own
            if p not in shown
        ),
        *(
            f"{where}: {text!r} should match, but no pattern hits"
            for text in rule.must_match
            if not hits[text]
        ),
        *(
            f"{where}: pattern {hits[t][0].source!r} hits {t!r}, to be spared"
            for t in rule.must_not_match
            if hits[t]
        ),
    ]
