"""The language of one sentence: the answer's own, unless the sentence plainly is in another."""

from collections.abc import Mapping

import regex

from indexes.language import WordPack, detect

_NO_WORDS = regex.compile(r"\S*(?:://|www\.|@)\S*|`[^`]*`")
LEAD = 2
"""One known word more than the answer's language has."""
BEGINNING_LEAD = 4
"""For the beginning of a sentence, which may be two words long."""


def tongue(text: str, default: str, words: Mapping[str, WordPack], lead: int = LEAD) -> str:
    """Tag of `text`, addresses and code left out of account."""
    if "@" in text or "`" in text or "://" in text or "www." in text:
        text = _NO_WORDS.sub(" ", text)
    return detect(text, words, default, lead=lead) or default
