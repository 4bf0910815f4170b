"""Text made comparable: folding, words, index tokens, length, coverage.

Two folded forms, never mixed with what is released: `fold` for patterns, values, coverage and voice;
`index_tokens` for the full-text index alone. Both are pure and idempotent.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import lru_cache

import regex

WORD = regex.compile(r"[\p{L}\p{M}\p{N}]+")
"""A word. Never `\\b` or `\\w`: they cut Devanagari at its vowel signs and glue Han to digits."""

_ASCII_WORD = re.compile(r"[a-z0-9]+")
"""The same words in folded ASCII, in a sixth of the time."""

HAN = regex.compile(r"[\p{Han}〇]+")
MARKER = regex.compile(r"[\[［【]\^?\d{1,3}(?:\s*[,،、;–-]\s*\^?\d{1,3})*[\]］】](?!\()")

# Width and presentation forms: the only blocks where NFKC is wanted. Elsewhere it would turn 10² into 102.
_NFKC_BLOCKS = (
    range(0xFF01, 0xFF5F),
    range(0xFB00, 0xFB07),
    range(0xFB50, 0xFDFE),
    range(0xFE70, 0xFEFD),
    range(0x1D400, 0x1D800),
)
_HARAKAT = (
    *range(0x0610, 0x061B),
    *range(0x064B, 0x0653),
    *range(0x0656, 0x0660),
    *range(0x06D6, 0x06DD),
    *range(0x06DF, 0x06E5),
    *(0x0640, 0x0670, 0x06E7, 0x06E8),
    *range(0x06EA, 0x06EE),
    *range(0x08D3, 0x08E2),
    *range(0x08E3, 0x0900),
)
_UNSEEN = (
    *(0x034F, 0x115F, 0x1160, 0x3164, 0xFFA0, 0x180F),
    *range(0x180B, 0x180E),
    *range(0xFE00, 0xFE10),
    *range(0xE0000, 0xE0200),
)
# What may compose with a letter is taken off only after composing: أ إ آ ؤ ئ stay, هٔ becomes ه.
_LETTERS = str.maketrans(
    {"ي": "ی", "ى": "ی", "ك": "ک", "ۀ": "ه", "ە": "ه", "\u0653": None, "\u0654": None, "\u0655": None}
    | dict.fromkeys("’‘ʼ‛`´", "'")
)
_ZWNJ = regex.compile(r"(?<=[\p{Arabic}\p{M}])\u200c+(?=\p{Arabic})")
_YO = regex.compile(r"ё\p{M}*|е\p{M}+")


def _first_table() -> dict[int, str | None]:
    """Format characters, harakat and fillers off; digits to ASCII; width and presentation forms by NFKC."""
    table: dict[int, str | None] = dict.fromkeys((*_UNSEEN, *_HARAKAT))
    for code in range(0x20000):
        char = chr(code)
        match unicodedata.category(char):
            case "Cf":
                table[code] = None
            case "Nd" if code > 0x7F:
                table[code] = str(unicodedata.digit(char))
    for block in _NFKC_BLOCKS:
        for code in block:
            table.setdefault(code, unicodedata.normalize("NFKC", chr(code)).translate(table))
    return table


_FIRST = _first_table()


def fold(text: str) -> str:
    """The matching form of `text`: idempotent, accents and vowel signs kept, white space made single.

    Composed; ZWNJ between Arabic letters → space, other unseen characters off; width and presentation
    forms plain; digits ASCII; harakat and tatweel off; ي ى → ی, ك → ک, ۀ → ه; ’ → '; ё → е; lower case.
    """
    if text.isascii():
        return " ".join(text.lower().replace("`", "'").split())
    text = _ZWNJ.sub(" ", unicodedata.normalize("NFC", text)).translate(_FIRST).lower()
    text = unicodedata.normalize("NFC", text).translate(_LETTERS)
    text = unicodedata.normalize("NFC", _YO.sub(_without_yo, text))
    return " ".join(text.split())


def _without_yo(match: regex.Match[str]) -> str:
    return unicodedata.normalize("NFC", match[0].replace("ё", "е").replace("\u0308", ""))


def words(text: str) -> tuple[str, ...]:
    """The folded words of `text` in order. Han has no word gaps: its runs give overlapping bigrams."""
    return tuple(_split(fold(text)))


def runs(folded: str) -> list[str]:
    """The runs of letters and digits in folded text, those of Han uncut."""
    return _ASCII_WORD.findall(folded) if folded.isascii() else WORD.findall(folded)


def _split(folded: str) -> Iterable[str]:
    return _ASCII_WORD.findall(folded) if folded.isascii() else _split_any(folded)


def _split_any(folded: str) -> Iterator[str]:
    for match in WORD.finditer(folded):
        word = match[0]
        if word.isascii() or not HAN.search(word):
            yield word
        else:
            yield from _split_han(word)


def _split_han(word: str) -> Iterator[str]:
    """`word` cut where Han begins or ends; a Han run of one character stands for itself."""
    at = 0
    for run in HAN.finditer(word):
        if run.start() > at:
            yield word[at : run.start()]
        yield from _bigrams(run[0])
        at = run.end()
    if at < len(word):
        yield word[at:]


def _bigrams(run: str) -> Iterable[str]:
    return (run[i : i + 2] for i in range(len(run) - 1)) if len(run) > 1 else (run,)


# Marks that carry no meaning for finding: Latin, Greek and Cyrillic accents. Never Indic vowel signs.
_ACCENTS = regex.compile(r"([\p{Latin}\p{Greek}\p{Cyrillic}])[\u0300-\u036f]+")
_ALEF = str.maketrans("آأإٱؤئة", "اااا" + "ویه")


def index_tokens(text: str) -> tuple[str, ...]:
    """Tokens for the full-text index and its query: `fold`, accents and hamza off (й stays), Han bigrams."""
    folded = fold(text)
    if not folded.isascii():
        plain = unicodedata.normalize("NFD", folded.replace("й", "\ue000")).replace("\u0653", "")
        plain = _ACCENTS.sub(r"\1", plain).replace("\ue000", "й")
        folded = unicodedata.normalize("NFC", plain).translate(_ALEF)
    return tuple(_split(folded))


def count(text: str) -> int:
    """Length of `text` in words: white-space words that hold a letter or digit; n Han characters are ⌊2n/3⌋.

    Markers are no words. Not folded: ZWNJ does not part words here.
    """
    text = MARKER.sub(" ", text)
    han = sum(len(run) for run in HAN.findall(text)) if not text.isascii() else 0
    rest = HAN.sub(" ", text) if han else text
    return 2 * han // 3 + sum(1 for word in rest.split() if WORD.search(word))


def content_words(text: str, stop: Set[str], names: Set[str] = frozenset()) -> tuple[str, ...]:
    """The distinct words of `text`, in order, that carry its subject: neither in `stop` nor in `names`.

    Words have three characters or more, Han two: its runs are cut at stop words, then give bigrams.
    `stop` and `names` are folded.
    """
    kept: dict[str, None] = {}
    for match in WORD.finditer(_cut_stops(fold(text), stop)):
        for word in _split(match[0]):
            enough = 2 if HAN.match(word) else 3
            if len(word) >= enough and word not in stop and word not in names:
                kept[word] = None
    return tuple(kept)


def _cut_stops(folded: str, stop: Set[str]) -> str:
    """Han stop words stand inside a run of Han: each becomes a gap, the longest first."""
    if folded.isascii() or not HAN.search(folded):
        return folded
    return _han_stops(frozenset(stop)).sub(" ", folded)


@lru_cache(maxsize=32)
def _han_stops(stop: frozenset[str]) -> regex.Pattern[str]:
    han = sorted((word for word in stop if HAN.fullmatch(word)), key=len, reverse=True)
    return regex.compile("|".join(map(regex.escape, han)) or r"(?!)")


def coverage(wanted: Sequence[str], passage: Set[str] | str) -> float:
    """Share (0..1) of the content words `wanted` that `passage` holds as whole words.

    `passage` is a text or the set of its `words`. Fewer than two distinct matches count as none: one
    common word would otherwise pass any short question.
    """
    held = frozenset(words(passage)) if isinstance(passage, str) else passage
    distinct = set(wanted)
    found = len(distinct & held)
    return found / len(distinct) if found >= 2 else 0.0
