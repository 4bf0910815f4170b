"""Which of the configured languages a text is in: by script, then by function words and letters.

Pure and cheap (about 20 µs a sentence, no model): it picks the voice list, the number convention and the
fixed texts. Nothing safe hangs on it alone, since refusal patterns of all languages always run.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import regex

DETECT_CHARS_MAX = 1000
"""A language shows itself in the first part of a long text."""

_SCRIPT_RUN = regex.compile(
    r"(?<Latin>\p{Latin}+)|(?<Cyrillic>\p{Cyrillic}+)|(?<Arabic>\p{Arabic}+)"
    r"|(?<Devanagari>\p{Devanagari}+)|(?<Han>\p{Han}+)|(?<Kana>[\p{Hiragana}\p{Katakana}]+)"
)
_WORD = regex.compile(r"[\p{L}\p{M}]+")
_ASCII_LETTER = re.compile("[A-Za-z]")
_ASCII_WORD = re.compile("[a-z]+")
# Addresses are of no language, nor are the initials of a name.
_ADDRESS = regex.compile(r"(?<![!-~])[!-~]*?(?:://|@|www\.)[!-~]*|(?:://|@|www\.)[!-~]*")
_INITIAL = regex.compile(r"(?<![\p{L}\p{M}])\p{Lu}\.")
# Unlike `fold_text`: the letters that tell Persian from Arabic are kept apart.
_PLAIN = str.maketrans({"\u200c": " ", "’": "'"})
_TO_FOLDED = str.maketrans("يىك", "ییک")


@dataclass(frozen=True)
class WordPack:
    """`words.toml` of one language."""

    script: str
    """Latin, Cyrillic, Arabic, Devanagari or Han."""
    stop: frozenset[str]
    """Closed-class words, folded: they carry no subject, and tell the language."""
    telling: frozenset[str] = frozenset()
    """More words, folded, that only tell the language."""
    pieces: tuple[str, ...] = ()
    """Letters or parts of words, lower case, that the rivals in the same script lack."""
    foreign: tuple[str, ...] = ()
    """Letters or parts that this language lacks."""

    @cached_property
    def language_words(self) -> frozenset[str]:
        """Every word that tells the language."""
        return self.stop | self.telling

    @cached_property
    def _ascii_parts(self) -> tuple[Sequence[str], Sequence[str]]:
        """The pieces and foreign parts that plain ASCII, which is most text, may hold."""
        return [p for p in self.pieces if p.isascii()], [p for p in self.foreign if p.isascii()]

    def score_letters(self, lowered: str) -> int:
        """What the letters of lower-case text say: one for each piece, minus two for each foreign part."""
        pieces, foreign = self._choose_parts(lowered)
        score = sum(map(lowered.__contains__, pieces))
        return score - 2 * sum(map(lowered.__contains__, foreign)) if foreign else score

    def bound_letter_score(self, lowered: str) -> int:
        """What `score_letters` gives at most: known without looking."""
        return len(self._choose_parts(lowered)[0])

    def _choose_parts(self, lowered: str) -> tuple[Sequence[str], Sequence[str]]:
        return self._ascii_parts if lowered.isascii() else (self.pieces, self.foreign)


def detect_language(
    text: str, packs: Mapping[str, WordPack], default: str | None = None, *, lead: int = 1
) -> str | None:
    """The tag whose pack fits `text` best; `default` if none fits or two fit equally well.

    A `default` of the same script is given up only for a rival that scores `lead` more (a known word counts
    two) with a known word among them: a sentence of a text is in the language of the text unless it plainly
    is not, and "Tengo tiempo" is no German for its letters.
    """
    text = _strip_noise(text[:DETECT_CHARS_MAX])
    script = _detect_script(text)
    rivals = {tag: pack for tag, pack in packs.items() if pack.script == script}
    if not rivals:
        return default
    lowered, words = _read_words(text)
    known = {tag: len(words & pack.language_words) for tag, pack in rivals.items()}
    if default in rivals and _is_default_ahead(default, lead, rivals, (lowered, known)):
        return default
    scores = {tag: 2 * known[tag] + pack.score_letters(lowered) for tag, pack in rivals.items()}
    best, *rest = sorted(scores.values(), reverse=True)
    if default in scores:
        if 0 <= best < scores[default] + lead:
            return default
        if best >= 0 and not any(known[tag] for tag, score in scores.items() if score == best):
            return default
    # A script of one's own suffices without a known word, a shared one does not.
    if best <= (max(0, rest[0]) if rest else -1):
        return default
    return next(tag for tag, score in scores.items() if score == best)


def _is_default_ahead(
    default: str, lead: int, rivals: Mapping[str, WordPack], matches: tuple[str, Mapping[str, int]]
) -> bool:
    """Whether no rival can be chosen before `default`, however its letters look: so for most sentences."""
    lowered, known = matches
    own = 2 * known[default] + rivals[default].score_letters(lowered)
    return own >= 0 and all(
        2 * known[tag] + pack.bound_letter_score(lowered) < own + lead
        for tag, pack in rivals.items()
        if tag != default
    )


def _strip_noise(text: str) -> str:
    if "@" in text or "://" in text or "www." in text:
        text = _ADDRESS.sub(" ", text)
    return _INITIAL.sub(" ", text) if "." in text else text


def _read_words(text: str) -> tuple[str, frozenset[str]]:
    """Lower-case text and its folded words; plain ASCII, which is most of it, the short way."""
    lowered = text.lower()
    if lowered.isascii():
        return lowered, frozenset(_ASCII_WORD.findall(lowered))
    lowered = lowered.translate(_PLAIN)
    return lowered, frozenset(_WORD.findall(lowered.translate(_TO_FOLDED)))


def _detect_script(text: str) -> str | None:
    """The script of most letters. Kana among Han makes it Japanese, however few."""
    if text.isascii():
        return "Latin" if _ASCII_LETTER.search(text) else None
    letters: Counter[str] = Counter()
    for match in _SCRIPT_RUN.finditer(text):
        # A Han letter is half a word, a Latin one a fifth.
        weight = 3 if match.lastgroup in ("Han", "Kana") else 1
        letters[str(match.lastgroup)] += weight * len(match[0])
    if letters["Kana"] * 10 > letters["Han"]:
        letters["Kana"] += letters.pop("Han", 0)
    return max(letters, key=lambda script: letters[script], default=None)
