"""Padded text: what patterns run over.

A question is folded, then **padded**: every run of other characters than letters, marks and digits becomes
one space, with a lone `.` where a sentence ends. A word boundary is then a literal space, in every script.
What people leave out in haste (accents, hamza, nukta) is off on both sides: cuánto = cuanto.
"""

import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from indexes.text.folding import fold_text

SUBJECT = "\ue001"
"""Stands in padded text where a name of the subject stood; every pronoun class matches it too."""
BREAK = " . "
"""Where a sentence ends, and at both edges of padded text."""
MEMO_CHARS_MAX = 40
"""Longer words are not worth remembering."""

_SENTENCE_ENDS = "!?…．。！？｡।॥؟۔;"
_SIMPLE_LETTERS = {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ı": "i", "\u093c": "", "ँ": "ं"} | dict(
    zip("أإآٱؤئ", "ااااوی", strict=True)
)
_CLOSED = tuple(f".{closer}" for closer in " \"')]}>”’»」』*_")
"""A full stop ends a sentence only before a space or something that closes: not in `3.5` or `a.example`."""


class _PaddingTable(dict[int, str]):
    """Code point → itself, a space or a break; filled as characters are met, at most once each."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        kept = unicodedata.category(char)[0] in "LMN"
        self[code] = _simplify_letter(char) if kept else BREAK if char in _SENTENCE_ENDS else " "
        return self[code]


def _simplify_letter(char: str) -> str:
    """A letter as typed in haste: Latin without accents, Arabic without hamza, Devanagari without nukta."""
    base = unicodedata.normalize("NFD", char)[0]
    return _SIMPLE_LETTERS.get(char, base if base.isascii() else char)


_TABLE = _PaddingTable()


def pad_text(folded: str) -> str:
    """Folded text as ` . word word . word . `: what patterns run over."""
    return _join_tokens((_split_text(folded),))


def fold_and_pad(text: str) -> str:
    """Any text folded and padded; line breaks end a sentence. Equals `pad_text(fold_text(text))` otherwise.

    Done word by word, since most words were met before: of 4 kB in any script that costs a tenth.
    """
    words = text.replace("\n", " ; ").split()
    if max(map(len, words), default=0) <= MEMO_CHARS_MAX:
        return _join_tokens(map(_split_word, words))
    return _join_tokens(
        _split_word(word) if len(word) <= MEMO_CHARS_MAX else _split_text(fold_text(word)) for word in words
    )


@lru_cache(maxsize=30_000)
def _split_word(word: str) -> str:
    return _split_text(fold_text(word))


def _split_text(folded: str) -> str:
    """Words and breaks, parted by single spaces."""
    folded += " "
    for closed in _CLOSED if "." in folded else ():
        folded = folded.replace(closed, "; ")
    return " ".join(folded.translate(_TABLE).split())


def _join_tokens(tokens: Iterable[str]) -> str:
    """Tokens and breaks as one line, with a break at both edges and only one where several meet."""
    line = " ".join(filter(None, tokens)).strip(" .")
    while " . . " in line:
        line = line.replace(" . . ", BREAK)
    return f" . {line} . "
