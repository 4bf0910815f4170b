"""What a number counts: the noun right after it."""

import regex

from proxy.gate.values.pack import ValueGrammar
from proxy.gate.values.page import ValuePage, normalize_word

_NOUN = regex.compile(
    r"[\s\u200c-]\s?(?:(?:of|de|d')\s?)?(?<noun>\p{Latin}{4,}+|[^\P{L}\p{Latin}][\p{L}\p{M}]{2,}+)"
)
"""Shorter words are mostly articles and prepositions."""


def find_noun_after(page: ValuePage, end: int) -> str:
    """The folded noun after the number that ends at `end`; "" if none follows at once."""
    m = _NOUN.match(page.text, end)
    return normalize_word(m["noun"]) if m else ""


def collect_counted_nouns(page: ValuePage, grammar: ValueGrammar) -> frozenset[str]:
    """Every noun of a source that a number stands before."""
    numbers = (value for value in page.values if value.kind == "number")
    return frozenset(find_noun_after(page, value.end) for value in numbers) - grammar.link_words - {""}
