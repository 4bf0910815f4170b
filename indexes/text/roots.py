"""What inflected forms of a word have in common, for every language alike. Pure; for the keyword index only.

Most inflection is at the end, so the first five letters stand for the word: "truncation" is as good as a
stemmer of the language in most tests (McNamee and Mayfield, Information Retrieval 7, 2004), needs no
dictionary, and cannot take a text for another language's. Words in Arabic script carry their article and
conjunctions in front: one such prefix and one ending go first (after Larkey's light10, SIGIR 2002).
"""

from collections.abc import Iterable

import regex

ROOT_LETTERS = 5
ROOT_LETTERS_MIN = 3
"""What must be left of a word in Arabic script when a prefix or an ending is taken off."""

# As `tokenize_for_index` writes them: Arabic yeh and kaf are Persian, teh marbuta is heh, alef has no hamza.
_PREFIXES = ("وال", "بال", "کال", "فال", "ال", "لل", "و")
_ENDINGS = ("هایی", "های", "ها", "ان", "ات", "ون", "ین", "یه", "ه", "ی")
_ARABIC = regex.compile(r"\p{Arabic}+")


def find_roots(tokens: Iterable[str]) -> list[str]:
    """The root of each of `tokens` (as `tokenize_for_index` gives them), in order. Not words: never shown."""
    return [_strip_affixes(token)[:ROOT_LETTERS] for token in tokens]


def _strip_affixes(token: str) -> str:
    if token.isascii() or not _ARABIC.fullmatch(token):
        return token
    prefix = next((p for p in _PREFIXES if token.startswith(p) and _can_strip_affix(token, p)), "")
    token = token.removeprefix(prefix)
    ending = next((e for e in _ENDINGS if token.endswith(e) and _can_strip_affix(token, e)), "")
    return token.removesuffix(ending)


def _can_strip_affix(token: str, affix: str) -> bool:
    return len(token) - len(affix) >= ROOT_LETTERS_MIN
