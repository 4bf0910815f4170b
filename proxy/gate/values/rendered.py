"""Text as a reader of Markdown sees it: what only dresses a value must not part it from its scale or sign."""

import html
import re
import unicodedata

import regex

from proxy.gate.values.pack import LETTER

_MARKUP_SIGNS = regex.compile(r"[*_~`&\\{\u32c0-\u33fe\U0001f51f\u0640\u064b-\u0654\u0670]|\p{Cf}")
_ASCII_MARKUP_SIGNS = re.compile(r"[*_~`&\\{]")
"""The same in ASCII, in a fourth of the time."""
_POINTED = regex.compile(r"(?<=[\p{Arabic}&&\p{L}])[\u0640\u064b-\u0652\u0670]+|(?<=ه)\u0654", regex.V1)
"""Arabic vowel signs: صباحًا is صباحا. On a digit they stay, and stop it."""
_STARS = regex.compile(r"\*{1,5}+|(?<=\d)`+(?=\d)")
_STRESS = regex.compile(rf"(?<![{LETTER}\d_~])[_~]{{1,5}}+|[_~]{{1,5}}+(?![{LETTER}\d])")
"""Underscores inside a word are no emphasis."""
_ESCAPED = regex.compile(r"\\(?=[-.,:/@_*~+%#&])")
_SQUARED = regex.compile(r"[\u32c0-\u32cb\u3358-\u3370\u33c2\u33d8\u33e0-\u33fe\U0001f51f]")
"""Months, hours, days, a.m. and p.m. in one sign, and the key of ten: ㋅ is 6月."""
_THIN = regex.compile(r"(?<=\d)(?:\{,\}|\\[ ;:!])(?=\d)")
"""What formulas write between the digits of one number: 45{,}200."""
_ENTITY = regex.compile(r"&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z][a-z\d]{1,31});", regex.IGNORECASE)
_MARKUP_CHARS = frozenset("<>&\"'`!")
"""Signs that make no markup while they are written as entities."""
_LINK = regex.compile(r"\[([^\[\]]*)\]\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)")
_RUN = regex.compile(r"\S++")
_BARE = regex.compile(r"[*_~]+")
_ADDRESS = regex.compile(r"://|www\.|@|/")
_HOST = regex.compile(r"[.:][^\W\d]")
_CF = r"[\p{Cf}--[\u200c\u200d\u202a-\u202e\u2066-\u2069]]+"
_HIDDEN = regex.compile(rf"(?<=[\p{{L}}\p{{M}}]){_CF}(?=\p{{L}})|^{_CF}|{_CF}$", regex.V1)
"""Unseen inside or beside a word; next to a digit it is for the reader to object to."""


def render_text(text: str) -> str:
    """`text` without emphasis, escapes and vowel signs, its entities read, no unseen character inside a word.

    Addresses are left alone: no reader sees emphasis in one.
    """
    if not (_ASCII_MARKUP_SIGNS if text.isascii() else _MARKUP_SIGNS).search(text):
        return text
    text = _SQUARED.sub(_expand_sign, text)
    text = _THIN.sub("", _POINTED.sub("", _ENTITY.sub(_decode_entity, text)))
    return str(_RUN.sub(lambda run: _strip_emphasis(run[0]), text))


def unwrap_links(text: str) -> str:
    """`text` with only the words of its links: 45 [thousand](…) is read as 45 thousand."""
    return _LINK.sub(r"\1", text) if "](" in text else text


def _decode_entity(entity: regex.Match[str]) -> str:
    """What an entity stands for; a bracket made of one is no marker's, so it stays as written."""
    character = html.unescape(entity[0])
    bracket = any(unicodedata.category(char) in ("Ps", "Pe") for char in character)
    return entity[0] if bracket or not _MARKUP_CHARS.isdisjoint(character) else character


def _expand_sign(sign: regex.Match[str]) -> str:
    return "10" if sign[0] == "\U0001f51f" else unicodedata.normalize("NFKC", sign[0])


def _strip_emphasis(run: str) -> str:
    if "\\" in run:
        run = _ESCAPED.sub("", run)
    if _ADDRESS.search(run) or _BARE.fullmatch(run):
        return run
    run = _STRESS.sub("", _STARS.sub("", run))
    return run if _HOST.search(run) else str(_HIDDEN.sub("", run))
