"""The language of one sentence: the answer's own, unless the sentence plainly is in another."""

from collections.abc import Mapping

import regex

from indexes.text.language import WordPack, detect_language

_CODE = regex.compile(r"`[^`]*`")
LEAD_POINTS = 2
"""Points of `detect_language`: one known word more than the answer's language has."""
BEGINNING_LEAD_POINTS = 4
"""Two known words more: for the beginning of a sentence, which may be two words long."""


def detect_sentence_language(
    text: str, default: str, words: Mapping[str, WordPack], lead: int = LEAD_POINTS
) -> str:
    """Tag of `text`, code left out of account."""
    if "`" in text:
        text = _CODE.sub(" ", text)
    return detect_language(text, words, default, lead=lead) or default
