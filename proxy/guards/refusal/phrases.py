"""Phrases for people: how a phrase over padded text becomes an RE2 expression.

Syntax (all words are folded and padded first, see `padding.py`):

    how much * charge    `*` up to six words (Chinese: twelve characters) of the same sentence
    fee~                 any ending; `~fee` any beginning
    (my|our) rate too?   alternatives, which may be phrases; `?` behind a word or bracket makes it optional
    {fee}                a class of the pack, `{fee}?` optional
    ^write * poem        at the start of a sentence or behind a request ("could you …"); `$` at its end
    می‌گیرد              a zero-width non-joiner stands for "a space or nothing"

Han phrases need no boundaries and get none. `regex:` takes RE2 over padded text, `{w}` is a boundary.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol

import re2
import regex

from indexes.text.folding import fold_text
from proxy.guards.refusal.padding import SUBJECT, pad_text

PATTERN_CHARS_MAX = 300
GAP_WORDS, GAP_CHARS = 6, 12
"""The most that `*` stands for, in spaced scripts and in Han."""

_HAN = regex.compile(r"\p{Han}")
_PART = regex.compile(
    r"\s*(?:(?P<open>\()|(?P<bar>\|)|(?P<close>\)\??)|(?P<gap>\*)|(?P<class>\{\w+\}\??)|(?P<word>[^\s(){}|*]+))"
)
_UNSAFE = re.compile(r"\\[bBwWdDsS]")


class PhraseClasses(Protocol):
    """What a pack lends its phrases: named alternatives, requests, lead-ins."""

    @property
    def classes(self) -> Mapping[str, tuple[str, ...]]: ...
    @property
    def pronouns(self) -> Mapping[str, tuple[str, ...]]: ...
    @property
    def requests(self) -> tuple[str, ...]: ...
    @property
    def leads(self) -> tuple[str, ...]: ...


@dataclass(frozen=True, slots=True, eq=False)
class PhraseLexicon:
    """The empty pack: phrases of an operator may use groups instead of classes."""

    classes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    pronouns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    requests: tuple[str, ...] = ()
    leads: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PhrasePart:
    """A phrase, or a piece of one, as RE2 text, and what any text that it hits must hold.

    `needs`: of each set at least one literal stands in the text. What a search for literals alone can tell
    keeps nearly every pattern from being run at all.
    """

    regex: str
    needs: tuple[frozenset[str], ...] = ()


PartMemo = dict[tuple[str, bool], PhrasePart]
"""Parts of phrases that are written out already, by (text, whether for Han)."""


def parse_pattern(source: str, lexicon: PhraseClasses, memo: PartMemo | None = None) -> PhrasePart:
    """One pattern. Raises `ValueError` saying what is wrong with it.

    `memo` may be shared by the patterns of one lexicon, whose classes and requests recur in most of them.
    """
    if len(source) > PATTERN_CHARS_MAX:
        raise ValueError(f"longer than {PATTERN_CHARS_MAX} characters")
    if source.startswith("regex:"):
        return PhrasePart(_parse_expression(source.removeprefix("regex:").strip()))
    return _PhraseParser(source, lexicon, {} if memo is None else memo).parse_phrase()


def _parse_expression(text: str) -> str:
    if unsafe := _UNSAFE.search(text):
        raise ValueError(
            f"{unsafe[0]} knows ASCII letters only and would never fire in most scripts: "
            r"use {w} for a boundary, \pL for a letter, \pN for a digit"
        )
    return text.replace("{w}", " ")


class _PhraseParser:
    """One phrase on its way to RE2. Spaced scripts: each word brings its own leading space."""

    def __init__(self, source: str, lexicon: PhraseClasses, memo: PartMemo):
        self.lexicon = lexicon
        self.memo = memo
        self.body = source.strip()
        self.has_start, self.has_end = self.body.startswith("^"), self.body.endswith("$")
        self.body = self.body.removeprefix("^").removesuffix("$")
        self.is_han = bool(_HAN.search(self.body + "".join(lexicon.requests[:1])))

    def parse_phrase(self) -> PhrasePart:
        inner = self.parse_sequence(self.body)
        if not inner.regex:
            raise ValueError("empty pattern")
        after = (r" ?\. " if self.is_han else r" \. ") if self.has_end else ("" if self.is_han else " ")
        return PhrasePart((self.build_start() if self.has_start else "") + inner.regex + after, inner.needs)

    def build_start(self) -> str:
        """The start of a sentence, or any request, then lead-ins and further requests."""
        asks = self.parse_choice(self.lexicon.requests).regex
        both = self.parse_choice((*self.lexicon.requests, *self.lexicon.leads)).regex
        if not both:
            return r" \."
        return rf"(?: \.|{asks}){both}*" if asks else rf" \.{both}*"

    def parse_choice(self, phrases: Sequence[str]) -> PhrasePart:
        return _combine_alternatives([self.parse_sequence(phrase) for phrase in phrases])

    def parse_sequence(self, text: str) -> PhrasePart:
        part = self.memo.get((text, self.is_han))
        if part is None:
            part, end = self.parse_alternatives(text.strip(), 0)
            if end < len(text.strip()):
                raise ValueError(f"cannot read {text.strip()[end:]!r}")
            self.memo[text, self.is_han] = part
        return part

    def parse_alternatives(self, text: str, at: int) -> tuple[PhrasePart, int]:
        """Parts parted by bars, from `at` up to the end or an unmatched closing bracket; and its place."""
        alternatives: list[PhrasePart] = []
        parts: list[PhrasePart] = []
        while at < len(text):
            token = _PART.match(text, at)
            if not token or token.lastgroup == "close":
                break
            at = token.end()
            if token.lastgroup == "bar":
                alternatives.append(_concatenate_parts(parts))
                parts = []
            elif token.lastgroup == "open":
                part, at = self.parse_group(text, at)
                parts.append(part)
            else:
                parts.append(self.parse_element(token.lastgroup or "", token[token.lastgroup or 0]))
        alternatives.append(_concatenate_parts(parts))
        return (_combine_alternatives(alternatives) if len(alternatives) > 1 else alternatives[0]), at

    def parse_group(self, text: str, at: int) -> tuple[PhrasePart, int]:
        """What stands in the bracket opened just before `at`, and the place behind it."""
        part, at = self.parse_alternatives(text, at)
        close = _PART.match(text, at)
        if not close or close.lastgroup != "close":
            raise ValueError("a bracket is not closed")
        part = PhrasePart(f"(?:{part.regex})", part.needs)
        return (_make_optional(part) if close["close"].endswith("?") else part), close.end()

    def parse_element(self, kind: str, text: str) -> PhrasePart:
        if kind == "word":
            return _parse_word(text, self.is_han)
        if kind == "gap":
            return PhrasePart(rf"[^.]{{0,{GAP_CHARS}}}" if self.is_han else rf"(?: [^ .]+){{0,{GAP_WORDS}}}")
        class_part = self.resolve_class(text.strip("{}?"))
        return _make_optional(class_part) if text.endswith("?") else class_part

    def resolve_class(self, name: str) -> PhrasePart:
        if phrases := self.lexicon.pronouns.get(name):
            subject = PhrasePart((" ?" if self.is_han else " ") + SUBJECT, (frozenset({SUBJECT}),))
            return _combine_alternatives([self.parse_choice(phrases), subject])
        if phrases := self.lexicon.classes.get(name):
            return self.parse_choice(phrases)
        raise ValueError(f"no class {{{name}}} in this pack")


def _concatenate_parts(parts: Sequence[PhrasePart]) -> PhrasePart:
    """Parts one after another."""
    return PhrasePart(
        "".join(part.regex for part in parts), tuple(need for part in parts for need in part.needs)
    )


def _combine_alternatives(parts: Sequence[PhrasePart]) -> PhrasePart:
    """One of several: a text must hold what some one of them needs most."""
    if not parts:
        return PhrasePart("")
    needs = [choose_sharpest_need(part.needs) for part in parts]
    needed = (frozenset().union(*needs),) if all(needs) else ()
    return PhrasePart("(?:" + "|".join(part.regex for part in parts) + ")", needed)


def _make_optional(part: PhrasePart) -> PhrasePart:
    """A part that may be missing, so that no text needs to hold anything for it."""
    return PhrasePart(f"(?:{part.regex})?")


def choose_sharpest_need(needs: Sequence[frozenset[str]]) -> frozenset[str]:
    """The need that fewest texts will meet: the one whose shortest literal is longest."""
    return max(needs, key=lambda need: (min(map(len, need)), -len(need)), default=frozenset())


@lru_cache(maxsize=50_000)
def _parse_word(text: str, is_han: bool) -> PhrasePart:
    """One word of a phrase; the same ones stand in thousands of phrases, so each is read once."""
    if text.endswith("?"):
        return _make_optional(_parse_word(text[:-1], is_han))
    any_beginning, any_ending = text.startswith("~"), text.endswith("~")
    pieces = [_normalize_literal(piece) for piece in text.strip("~").split("\u200c")]
    joined = " ?".join(re2.escape(piece) if piece.isascii() else piece for piece in pieces)
    space = " ?" if is_han else " "
    expression = space + ("[^ .]*" if any_beginning else "") + joined + ("[^ .]*" if any_ending else "")
    literal = _choose_literal(pieces, any_beginning or is_han, any_ending or is_han)
    return PhrasePart(expression, (frozenset({literal}),))


def _choose_literal(pieces: Sequence[str], any_beginning: bool, any_ending: bool) -> str:
    """The longest piece, with the boundaries that it is sure to have."""
    piece = max(pieces, key=len)
    left = "" if any_beginning or piece != pieces[0] else " "
    right = "" if any_ending or piece != pieces[-1] else " "
    return left + piece + right


def _normalize_literal(text: str) -> str:
    plain = pad_text(fold_text(text)).strip(" .")
    if not plain:
        raise ValueError(f"{text!r} holds no letter or digit")
    return plain
