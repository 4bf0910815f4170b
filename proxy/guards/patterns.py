"""Patterns: many phrases matched at once, in linear time, each proven by its own examples at load."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import re2

from proxy.errors import ConfigError
from proxy.guards.phrases import Classes, Memo, expression, prepared

CANARY = "\ue000"
"""Appended to every text: a set that does not report it has run out of memory and said nothing."""
MEMORY_BYTES = 32 << 20


@dataclass(frozen=True)
class Pattern:
    """One pattern: where it came from and what it stands for."""

    source: str
    topic: str
    language: str
    expression: str

    @cached_property
    def compiled(self) -> Any:
        """Made when first needed: the sets below tell whether a pattern hits, this only where."""
        return re2.compile(self.expression, _options())

    def search(self, text: str, start: int = 0) -> tuple[int, int] | None:
        """The leftmost-longest span from `start` on, in code points."""
        found = self.compiled.search(text, start)
        return (found.start(), found.end()) if found else None

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Every span, overlapping ones too (at most one from each character on)."""
        out, at = [], 0
        while span := self.search(text, at):
            out.append(span)
            at = span[0] + 1
        return out


def _options() -> re2.Options:
    options = re2.Options()
    options.max_mem = MEMORY_BYTES
    options.longest_match = True
    options.log_errors = False
    return options


class Patterns:
    """Many patterns, matched at once in linear time. Raises `ConfigError` for one that RE2 refuses."""

    def __init__(self, patterns: Sequence[Pattern]):
        self.patterns = tuple(patterns)
        self._set = re2.Set.SearchSet(_options())
        for pattern in self.patterns:
            try:
                self._set.Add(pattern.expression)
            except re2.error as fault:
                where = f"{pattern.language}: {pattern.topic}"
                raise ConfigError(f"{where}: pattern {pattern.source!r}: {fault}") from fault
        self._canary = len(self.patterns)
        self._set.Add(CANARY)
        self._set.Compile()

    def find(self, text: str) -> list[Pattern]:
        """The patterns that hit padded `text`, in their order."""
        hits = self._set.Match(text + CANARY)
        if self._canary in hits:
            return [self.patterns[i] for i in sorted(hits) if i != self._canary]
        return [pattern for pattern in self.patterns if pattern.search(text)]


@dataclass(frozen=True, slots=True)
class Rule:
    """Patterns of one topic (or kind) with the sentences that prove them."""

    topic: str
    patterns: tuple[str, ...]
    match: tuple[str, ...] = ()
    spare: tuple[str, ...] = ()


def compiled(rule: Rule, language: str, lexicon: Classes, place: str) -> list[Pattern]:
    """A rule's patterns. Raises `ConfigError` naming `place`, the pattern and what is wrong with it."""
    out, faults = [], []
    memo: Memo = {}
    for source in rule.patterns:
        try:
            out.append(Pattern(source, rule.topic, language, expression(source, lexicon, memo)))
        except ValueError as fault:
            faults.append(f"{place}: {rule.topic}: pattern {source!r}: {fault}")
    if faults:
        raise ConfigError(*faults)
    return out


def prove(rules: Iterable[Rule], language: str, lexicon: Classes, place: str) -> Patterns:
    """All rules' patterns, each proven by its rule's examples. Raises one `ConfigError` with all faults."""
    rules = tuple(rules)
    groups: list[list[Pattern]] = []
    faults: list[str] = []
    for rule in rules:
        try:
            groups.append(compiled(rule, language, lexicon, place))
        except ConfigError as fault:
            faults += fault.faults
    if faults:
        raise ConfigError(*faults)
    found = Patterns([pattern for group in groups for pattern in group])
    faults = [
        line for rule, group in zip(rules, groups, strict=True) for line in _faults(rule, group, found, place)
    ]
    if faults:
        raise ConfigError(*faults)
    return found


def _faults(rule: Rule, own: Sequence[Pattern], found: Patterns, place: str) -> list[str]:
    """A pattern that no `match` sentence shows to work, a match missed, a spare sentence hit."""
    hits = {
        text: [pattern for pattern in found.find(prepared(text)) if pattern in own]
        for text in (*rule.match, *rule.spare)
    }
    shown = {pattern for text in rule.match for pattern in hits[text]}
    where = f"{place}: {rule.topic}"
    return [
        *(
            f"{where}: pattern {p.source!r}: want a `match` sentence that it hits"
            for p in own
            if p not in shown
        ),
        *(f"{where}: {text!r} should match, but no pattern hits" for text in rule.match if not hits[text]),
        *(f"{where}: pattern {hits[t][0].source!r} hits {t!r}, to be spared" for t in rule.spare if hits[t]),
    ]
