"""Words in disguise read as what they stand for: a model reads them all the same, patterns would not.

Look-alike letters (Cyrillic р in `рrompt`), digits for letters (`1gn0re`), letters spaced out or run
together, tag characters, base64, ROT13, text backwards. Only what becomes a word that patterns look for is
rewritten, so that an ordinary text stays as it is and costs one look-up a word. Time is linear in the text.
"""

import base64
import binascii
import codecs
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial

import regex

from proxy.guards.refusal.padding import fold_and_pad
from proxy.guards.refusal.vocabulary import Vocabulary

CIPHER_CHARS_MIN, BASE64_CHARS_MIN, GLUED_CHARS_MIN = 5, 12, 16
"""From here on a word may be in a cipher, or base64, or several words run together."""
MEMO_CHARS_MAX, WORD_CHARS_MAX = 40, 400
"""Longer words are not remembered; are taken for no disguise at all."""
LATIN_BYTES_MAX = 1.3
"""UTF-8 of a character on average, below which a text is one of mostly Latin letters: others take two."""
CIPHER_WORDS_MIN = 3
"""So many words of a text must turn into known ones before the whole of it is taken for a cipher."""

_LOOKALIKES: dict[str, str] = {
    "a": "аαɑᴀ@4", "b": "вьβʙ8", "c": "сϲᴄ", "d": "ԁɗᴅ", "e": "еєεᴇ3€", "f": "ϝꜰ", "g": "ɡɢ9", "h": "һнʜ",
    "i": "іιɪ!1", "j": "јᴊ", "k": "кκᴋ", "l": "ӏʟ|", "m": "мᴍ", "n": "пηɴ", "o": "оοσᴏ0", "p": "рρᴘ",
    "q": "ԛ", "r": "гʀ", "s": "ѕꜱ$5", "t": "тτᴛ7", "u": "υцᴜ", "v": "νѵᴠ", "w": "ѡωԝᴡ", "x": "хχ", "y": "уγʏ",
    "z": "ᴢ",
}  # fmt: skip
_LATIN = str.maketrans({look: letter for letter, looks in _LOOKALIKES.items() for look in looks})
_LATIN_L = _LATIN | {ord("1"): "l", ord("!"): "l"}
_CYRILLIC = str.maketrans("aceopxykmthb3046", "асеорхукмтнвзоаб")
_TABLES: tuple[Mapping[int, int | str], ...] = ({}, _LATIN, _LATIN_L, _CYRILLIC)
_NATIVE = regex.compile(r"[\p{Cyrillic}\p{M}\p{P}]+|[\p{Greek}\p{M}\p{P}]+")
_TAGGED = re.compile("[\U000e0020-\U000e007e]+")
_ASCII_LETTER = re.compile("[a-z]")
_SPACED = re.compile(r"(?<!\S)\S(?:[ \t\u00a0]{1,4}\S(?!\S)){3,}")
_DOTTED = re.compile(r"[^\W_](?:[.\-_*·•/|,][^\W_]){3,}")
_GAP = re.compile(r"[ \t\u00a0]{2,}")
_BASE64 = re.compile(rf"[A-Za-z0-9+/]{{{BASE64_CHARS_MIN},}}={{0,2}}")
_CIPHERS: dict[int, Callable[[str], str]] = {
    1: lambda text: codecs.encode(text, "rot13"),
    2: lambda text: text[::-1],
}
_ORDINARY, _DISGUISED, _SINGLE_LETTER = 0, 3, 4
"""Kinds of words beside the numbers of `_CIPHERS`, a byte each: what bytes hold is told at once."""
_SPACED_OUT = bytes([_SINGLE_LETTER] * 4)


class DisguiseRemover:
    """Takes disguises off. `literals`: what patterns look for, as they write it (` whole `, ` beginning`)."""

    def __init__(self, literals: Iterable[str]):
        self._vocabulary = Vocabulary(literals)
        self._cached_kinds = {
            latin: lru_cache(30_000)(partial(self._classify_word, latin=latin)) for latin in (True, False)
        }

    def remove_disguises(self, text: str) -> str:
        """`text` without its disguises; the very same where there are none."""
        plain = text if text.isascii() else _TAGGED.sub(_decode_tag_characters, text)
        latin = len(plain.encode(errors="replace")) < LATIN_BYTES_MAX * len(plain)
        kinds = self._classify_words(plain.split(), latin)
        if _SPACED_OUT in kinds:
            plain = _SPACED.sub(lambda run: self._join_spaced_letters(run[0]), plain)
            kinds = self._classify_words(plain.split(), latin)
        for number, cipher in _CIPHERS.items():
            if kinds.count(number) >= CIPHER_WORDS_MIN:
                return cipher(plain)
        return self._rewrite_words(plain, latin) if _DISGUISED in kinds else plain

    def _classify_words(self, words: Sequence[str], latin: bool) -> bytes:
        """The kind of each word. Long words are not remembered: they are rare, and would take much room."""
        find_kind = self._cached_kinds[latin]
        if max(map(len, words), default=0) <= MEMO_CHARS_MAX:
            return bytes(map(find_kind, words))
        return bytes(
            find_kind(w) if len(w) <= MEMO_CHARS_MAX else self._classify_word(w, latin) for w in words
        )

    def _rewrite_words(self, text: str, latin: bool) -> str:
        lines = [line.split() for line in text.split("\n")]
        kinds = iter(self._classify_words([word for line in lines for word in line], latin))
        revealed = (
            [self._reveal_word(w) if next(kinds) == _DISGUISED else w for w in line] for line in lines
        )
        return "\n".join(map(" ".join, revealed))

    def _classify_word(self, word: str, latin: bool) -> int:
        """What kind of word it is; `latin`: in a text of mostly Latin letters."""
        if len(word) == 1:
            return _SINGLE_LETTER
        # A word of Cyrillic or Greek letters alone is what it seems to be, unless it stands among Latin ones.
        if (latin or not _NATIVE.fullmatch(word)) and self._reveal_word(word) != word:
            return _DISGUISED
        letters = _extract_letters(word)
        if len(letters) < CIPHER_CHARS_MIN or not letters.isascii() or self._vocabulary.has_word(letters):
            return _ORDINARY
        ciphers = (
            number for number, cipher in _CIPHERS.items() if self._vocabulary.has_word(cipher(letters))
        )
        return next(ciphers, _ORDINARY)

    def _join_spaced_letters(self, run: str) -> str:
        """Letters spaced out, as words: parted where the gaps are wider, else where known words meet."""
        parts = ["".join(part.split()) for part in _GAP.split(run)]
        whole = parts if len(parts) < len(run.split()) else ["".join(parts)]
        return " ".join(word for part in whole for word in self._vocabulary.split_run(_extract_letters(part)))

    def _reveal_word(self, word: str) -> str:
        """One word as it is to be read."""
        if len(word) > WORD_CHARS_MAX:
            return word
        if _DOTTED.fullmatch(word):
            return self._join_spaced_letters(" ".join(filter(str.isalnum, word)))
        return self._match_lookalike(word) or self._split_glued_words(word) or _decode_base64(word) or word

    def _match_lookalike(self, word: str) -> str:
        """The known word, of one alphabet, that a mixed or marked one looks like, or ""."""
        low = unicodedata.normalize("NFKC", word).lower()
        if (word.isascii() and word.isalpha()) or not any(map(str.isalpha, low)):
            return ""
        as_written = _remove_gaps(fold_and_pad(word))
        readings = (_extract_letters(low.translate(table)) for table in _TABLES)
        return next(
            (
                text
                for text in readings
                if text != as_written and _is_one_alphabet(text) and self._vocabulary.has_word(text)
            ),
            "",
        )

    def _split_glued_words(self, word: str) -> str:
        """Known words run together, or "": they make up three quarters of it or more."""
        if len(word) < GLUED_CHARS_MIN or not word.isalpha():
            return ""
        pieces = self._vocabulary.split_run(_extract_letters(word))
        covered = sum(map(len, filter(self._vocabulary.has_word, pieces)))
        return " ".join(pieces) if len(pieces) > 2 and 4 * covered >= 3 * len(word) else ""


def _extract_letters(text: str) -> str:
    """Folded, without marks and punctuation."""
    return _remove_gaps(fold_and_pad("".join(char for char in text if not unicodedata.combining(char))))


def _remove_gaps(line: str) -> str:
    return line.replace(" ", "").replace(".", "")


def _is_one_alphabet(text: str) -> bool:
    """Of one alphabet: Latin, or none of it."""
    return text.isascii() or not _ASCII_LETTER.search(text)


def _decode_base64(word: str) -> str:
    """What base64 stands for, where that is several words of printable ASCII; else ""."""
    if not _BASE64.fullmatch(word):
        return ""
    try:
        text = base64.b64decode(word + "=" * (-len(word) % 4)).decode("ascii")
    except (binascii.Error, UnicodeDecodeError):
        return ""
    return text if text.isprintable() and " " in text else ""


def _decode_tag_characters(run: re.Match[str]) -> str:
    """Tag characters, which no reader sees, as the ASCII that a model reads."""
    return f" {''.join(chr(ord(char) - 0xE0000) for char in run[0])} "
