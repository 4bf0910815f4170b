"""The text under reading: each stage takes the values that it knows and leaves the rest to the next."""

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import regex

from indexes.text.folding import fold_text
from proxy.gate.values.types import CountedNumber, Value, ValueKind

PLACEHOLDER = "\ue000"
"""Stands in `ValuePage.text` where a value was: no letter, digit, space or sign."""

NEAR_CHARS = 32
"""Characters on either side of a month's name in which its date stands."""

_WIDE = [chr(code) for code in range(0xFF01, 0xFF5F) if chr(code).isalnum() or chr(code) in "％＋＠［］＄"]
"""Fullwidth signs that always are their narrow forms."""

_MATHS = [code for code in range(0x1D400, 0x1D6A4) if unicodedata.category(chr(code)) in ("Lu", "Ll")]
"""Latin letters of mathematics: in prose they are letters in bold."""


def _build_flat_table() -> dict[int, str]:
    """Nd and the fullwidth block to ASCII, letters as `fold_text` has them, signs alike: one for one."""
    table = {ord(wide): chr(ord(wide) - 0xFEE0) for wide in _WIDE}
    # Digits come in rows of ten. `regex` knows more of them than Python does, and finds them by \d.
    digits = regex.findall(r"\d", "".join(map(chr, range(0x80, 0x20000))))
    table |= {ord(digit): str(index % 10) for index, digit in enumerate(digits)}
    table |= {code: unicodedata.normalize("NFKC", chr(code)) for code in _MATHS}
    return table | {ord(a): b for a, b in zip("يىكё−﹣‐‑‒﹘˗⁻₋➖٪’ʼᵉʳ", "ییکе----------%''er", strict=True)}


_FLAT = _build_flat_table()


# Marks of prose, and what looks like a point or stroke, that are signs of a value only between digits.
# The comma of Chinese prose never is, but in groups.
_WIDE_BETWEEN = regex.compile(
    r"(?<=\d)[．：／－·․‧‚⁄∕](?=\d)|(?<=\p{Latin})[．․｡‧·܁۔](?=\p{Latin})|(?<=\p{Ll})。(?=[a-z])"
)
_NARROW = dict(zip("．：／－·․‧｡。܁۔‚⁄∕", ".:/-.......,//", strict=True))


def _narrow_sign(match: regex.Match[str]) -> str:
    return _NARROW[match[0]]


def flatten_text(text: str) -> str:
    """`text` lower case with plain digits and signs, character for character."""
    flat = _WIDE_BETWEEN.sub(_narrow_sign, text.translate(_FLAT)) if not text.isascii() else text
    low = flat.lower()
    return low if len(low) == len(flat) else "".join(c.lower() if len(c.lower()) == 1 else c for c in flat)


WORD = regex.compile(r"[\p{L}\p{M}]+")
FIGURE = re.compile("[0-9]+")
"""Digits of a flat text: all are ASCII."""
_ASCII_WORD = re.compile("[a-z]+")
_POINTED_ARABIC = regex.compile(r"[\u064b-\u065f\u0670\u0640]")


def normalize_word(word: str) -> str:
    """A flat word as the tables have it: only pointed Arabic still differs."""
    return word if word.isascii() or not _POINTED_ARABIC.search(word) else fold_text(word)


@dataclass
class ValuePage:
    """`raw` is the composed text, `text` its flat form with the taken spans blanked."""

    raw: str
    text: str
    values: list[Value] = field(default_factory=list)
    counts: list[CountedNumber] = field(default_factory=list)

    @classmethod
    def build(cls, text: str) -> "ValuePage":
        """The page of any text."""
        raw = text if text.isascii() else unicodedata.normalize("NFC", text)
        return cls(raw, flatten_text(raw))

    @cached_property
    def flat_text(self) -> str:
        """The flat form with nothing taken."""
        return flatten_text(self.raw)

    @cached_property
    def words(self) -> frozenset[str]:
        """Every word, to know at once which tables can matter."""
        if self.raw.isascii():
            return frozenset(_ASCII_WORD.findall(self.text))
        return frozenset(map(normalize_word, WORD.findall(self.text))) - {""}

    @cached_property
    def digit_runs(self) -> list[str]:
        """Every run of digits, to know at once which patterns can matter."""
        return FIGURE.findall(self.text)

    def take_matches(
        self, pattern: regex.Pattern[str], read_match: Callable[[regex.Match[str]], Sequence[Value] | None]
    ) -> None:
        """Let `read_match` look at each match: its values are added, the match is taken; None leaves it."""

        def take_match(match: regex.Match[str]) -> str:
            values = read_match(match)
            if values is None:
                return match[0]
            self.values.extend(values)
            return PLACEHOLDER * len(match[0])

        self.text = pattern.sub(take_match, self.text)

    def take_matches_near(
        self,
        places: Sequence[int],
        pattern: regex.Pattern[str],
        read_match: Callable[[regex.Match[str]], Sequence[Value] | None],
    ) -> None:
        """As `take_matches`, but only over one of `places`: for patterns too dear to search a source with."""
        for place in places:
            match = self._find_match_over(place, pattern) if self.text[place] != PLACEHOLDER else None
            values = read_match(match) if match else None
            if match and values is not None:
                self.values.extend(values)
                start, end = match.span()
                self.text = self.text[:start] + PLACEHOLDER * (end - start) + self.text[end:]

    def _find_match_over(self, place: int, pattern: regex.Pattern[str]) -> regex.Match[str] | None:
        """The match over `place`; others near it, which the window may cut, are found at their own place."""
        near = pattern.finditer(self.text, max(0, place - NEAR_CHARS), place + NEAR_CHARS)
        return next((match for match in near if match.start() <= place < match.end()), None)

    def build_value(
        self,
        kind: ValueKind,
        key: str,
        span: tuple[int, int],
        *,
        alternatives: Sequence[Sequence[str]] = (),
        source_keys: Sequence[str] = (),
    ) -> Value:
        """A value of this page; by default it accepts and gives its own key."""
        start, end = span
        chosen = tuple(map(tuple, alternatives)) or ((key,),)
        return Value(kind, key, self.raw[start:end], start, end, chosen, tuple(source_keys) or (key,))
