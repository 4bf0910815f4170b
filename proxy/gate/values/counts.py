"""What a number counts: the noun right after it."""

import regex

from proxy.gate.values.pack import Tongue
from proxy.gate.values.page import Page, plain_word

_NOUN = regex.compile(
    r"[\s\u200c-]\s?(?:(?:of|de|d')\s?)?(?<noun>\p{Latin}{4,}+|[^\P{L}\p{Latin}][\p{L}\p{M}]{2,}+)"
)
"""Shorter words are mostly articles and prepositions."""


def noun_after(page: Page, end: int) -> str:
    """The folded noun after the number that ends at `end`; "" if none follows at once."""
    m = _NOUN.match(page.text, end)
    return plain_word(m["noun"]) if m else ""


def counted(page: Page, tongue: Tongue) -> frozenset[str]:
    """Every noun of a source that a number stands before."""
    numbers = (value for value in page.found if value.kind == "number")
    return frozenset(noun_after(page, value.end) for value in numbers) - tongue.links - {""}
