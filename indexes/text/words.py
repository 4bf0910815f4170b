"""Words of a text: folded words, index tokens, content words, length, coverage. Pure."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import lru_cache

import regex

from indexes.text.folding import fold_text

WORD = regex.compile(r"[\p{L}\p{M}\p{N}]+")
"""A word. Never `\\b` or `\\w`: they cut Devanagari at its vowel signs and glue Han to digits."""

_ASCII_WORD = re.compile(r"[a-z0-9]+")
"""The same words in folded ASCII, in a sixth of the time."""

HAN = regex.compile(r"[\p{Han}〇]+")
MARKER = regex.compile(r"[\[［【]\^?\d{1,3}(?:\s*[,،、;–-]\s*\^?\d{1,3})*[\]］】](?!\()")
"""A marker of sources, as [1], [^2] or [1, 3]; not the text of a Markdown link."""


def split_words(text: str) -> tuple[str, ...]:
    """The folded words of `text` in order. Han has no word gaps: its runs give overlapping bigrams."""
    return tuple(_split_folded(fold_text(text)))


def split_runs(folded: str) -> list[str]:
    """The runs of letters and digits in folded text, those of Han uncut."""
    return _ASCII_WORD.findall(folded) if folded.isascii() else WORD.findall(folded)


def _split_folded(folded: str) -> Iterable[str]:
    return _ASCII_WORD.findall(folded) if folded.isascii() else _split_any_script(folded)


def _split_any_script(folded: str) -> Iterator[str]:
    for match in WORD.finditer(folded):
        word = match[0]
        if word.isascii() or not HAN.search(word):
            yield word
        else:
            yield from _split_han(word)


def _split_han(word: str) -> Iterator[str]:
    """`word` cut where Han begins or ends; a Han run of one character stands for itself."""
    done = 0
    for run in HAN.finditer(word):
        if run.start() > done:
            yield word[done : run.start()]
        yield from _make_bigrams(run[0])
        done = run.end()
    if done < len(word):
        yield word[done:]


def _make_bigrams(run: str) -> Iterable[str]:
    return (run[i : i + 2] for i in range(len(run) - 1)) if len(run) > 1 else (run,)


# Marks that carry no meaning for finding: Latin, Greek and Cyrillic accents. Never Indic vowel signs.
_ACCENTS = regex.compile(r"([\p{Latin}\p{Greek}\p{Cyrillic}])[\u0300-\u036f]+")
_ALEF = str.maketrans("آأإٱؤئة", "اااا" + "ویه")


def tokenize_for_index(text: str) -> tuple[str, ...]:
    """Tokens for the full-text index and its query: folded, accents and hamza off (й stays), Han bigrams."""
    folded = fold_text(text)
    if not folded.isascii():
        plain = unicodedata.normalize("NFD", folded.replace("й", "\ue000")).replace("\u0653", "")
        plain = _ACCENTS.sub(r"\1", plain).replace("\ue000", "й")
        folded = unicodedata.normalize("NFC", plain).translate(_ALEF)
    return tuple(_split_folded(folded))


def count_words(text: str) -> int:
    """Length of `text` in words: white-space words that hold a letter or digit; n Han characters are ⌊2n/3⌋.

    Markers are no words. Not folded: ZWNJ does not part words here.
    """
    text = MARKER.sub(" ", text)
    han = sum(len(run) for run in HAN.findall(text)) if not text.isascii() else 0
    rest = HAN.sub(" ", text) if han else text
    return 2 * han // 3 + sum(1 for word in rest.split() if WORD.search(word))


def find_content_words(
    text: str, stop_words: Set[str], subject_names: Set[str] = frozenset()
) -> tuple[str, ...]:
    """The distinct words of `text`, in order, that carry its subject: no stop words, no names of the subject.

    Words have three characters or more, Han two: its runs are cut at stop words, then give bigrams.
    `stop_words` and `subject_names` are folded.
    """
    kept: dict[str, None] = {}
    for match in WORD.finditer(_cut_stop_words(fold_text(text), stop_words)):
        for word in _split_folded(match[0]):
            length_min = 2 if HAN.match(word) else 3
            if len(word) >= length_min and word not in stop_words and word not in subject_names:
                kept[word] = None
    return tuple(kept)


def _cut_stop_words(folded: str, stop_words: Set[str]) -> str:
    """Han stop words stand inside a run of Han: each becomes a gap, the longest first."""
    if folded.isascii() or not HAN.search(folded):
        return folded
    return _compile_han_stops(frozenset(stop_words)).sub(" ", folded)


@lru_cache(maxsize=32)
def _compile_han_stops(stop_words: frozenset[str]) -> regex.Pattern[str]:
    han = sorted((word for word in stop_words if HAN.fullmatch(word)), key=len, reverse=True)
    return regex.compile("|".join(map(regex.escape, han)) or r"(?!)")


def compute_coverage(question_words: Sequence[str], passage: Set[str] | str) -> float:
    """Share (0..1) of the distinct `question_words` that `passage` holds as whole words.

    `passage` is a text or the set of its words, as `split_words` gives them. Fewer than two distinct matches
    count as none: one common word would otherwise pass any short question.
    """
    passage_words = frozenset(split_words(passage)) if isinstance(passage, str) else passage
    wanted = set(question_words)
    match_count = len(wanted & passage_words)
    return match_count / len(wanted) if match_count >= 2 else 0.0
