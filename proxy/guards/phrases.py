"""Phrases for people: padded text, and how a phrase over it becomes an RE2 expression.

A question is folded, then **padded**: every run of other characters than letters, marks and digits becomes
one space, with a lone `.` where a sentence ends. A word boundary is then a literal space, in every script.
What people leave out in haste (accents, hamza, nukta) is off on both sides: cuánto = cuanto.

Phrases (all words are folded first):

    how much * charge    `*` up to six words (Chinese: twelve characters) of the same sentence
    fee~                 any ending; `~fee` any beginning
    (my|our) rate too?   alternatives, which may be phrases; `?` behind a word or bracket makes it optional
    {fee}                a class of the pack, `{fee}?` optional
    ^write * poem        at the start of a sentence or behind a request ("could you …"); `$` at its end
    می‌گیرد              a zero-width joiner stands for "a space or nothing"

Han phrases need no boundaries and get none. `regex:` takes RE2 over padded text, `{w}` is a boundary.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol

import re2
import regex

from indexes.text import fold

SUBJECT = "\ue001"
"""Stands in padded text where a name of the subject stood; every pronoun class matches it too."""
BREAK = " . "
CHARS_MAX = 300
GAP_WORDS, GAP_CHARS = 6, 12

_STOPS = "!?…．。！？｡।॥؟۔;"
_PLAIN = {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ı": "i", "\u093c": "", "ँ": "ं"} | dict(
    zip("أإآٱؤئ", "ااااوی", strict=True)
)
_CLOSED = tuple(f".{closer}" for closer in " \"')]}>”’»」』*_")
_HAN = regex.compile(r"\p{Han}")
_PART = regex.compile(
    r"\s*(?:(?P<open>\()|(?P<bar>\|)|(?P<close>\)\??)|(?P<gap>\*)|(?P<class>\{\w+\}\??)|(?P<word>[^\s(){}|*]+))"
)
_UNSAFE = re.compile(r"\\[bBwWdDsS]")


class _Table(dict[int, str]):
    """Code point → itself, a space or a break; filled as characters are met, at most once each."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        kept = unicodedata.category(char)[0] in "LMN"
        self[code] = _bare(char) if kept else BREAK if char in _STOPS else " "
        return self[code]


def _bare(char: str) -> str:
    """A letter as typed in haste: Latin without accents, Arabic without hamza, Devanagari without nukta."""
    base = unicodedata.normalize("NFD", char)[0]
    return _PLAIN.get(char, base if base.isascii() else char)


_TABLE = _Table()


def padded(folded: str) -> str:
    """Folded text as ` . word word . word . `: what patterns run over."""
    for closed in _CLOSED:
        folded = folded.replace(closed, "; ")
    tokens = folded.translate(_TABLE).split()
    line = " ".join(tokens).strip(" .")
    while " . . " in line:
        line = line.replace(" . . ", BREAK)
    return f" . {line} . "


def prepared(text: str) -> str:
    """Any text folded and padded; line breaks end a sentence."""
    return padded(fold(text.replace("\n", " ; ")))


class Classes(Protocol):
    """What a pack lends its phrases: named alternatives, requests, lead-ins."""

    @property
    def classes(self) -> Mapping[str, tuple[str, ...]]: ...
    @property
    def pronouns(self) -> Mapping[str, tuple[str, ...]]: ...
    @property
    def requests(self) -> tuple[str, ...]: ...
    @property
    def leads(self) -> tuple[str, ...]: ...


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The empty pack: phrases of an operator may use groups instead of classes."""

    classes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    pronouns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    requests: tuple[str, ...] = ()
    leads: tuple[str, ...] = ()


Memo = dict[tuple[str, bool], str]
"""Parts of phrases that are written out already, by (text, whether for Han)."""


def expression(source: str, lexicon: Classes, memo: Memo | None = None) -> str:
    """RE2 text of one pattern. Raises `ValueError` saying what is wrong with it.

    `memo` may be shared by the patterns of one lexicon, whose classes and requests recur in most of them.
    """
    if len(source) > CHARS_MAX:
        raise ValueError(f"longer than {CHARS_MAX} characters")
    if source.startswith("regex:"):
        return _expert(source.removeprefix("regex:").strip())
    return _Phrase(source, lexicon, {} if memo is None else memo).expression()


def _expert(text: str) -> str:
    if unsafe := _UNSAFE.search(text):
        raise ValueError(
            f"{unsafe[0]} knows ASCII letters only and would never fire in most scripts: "
            r"use {w} for a boundary, \pL for a letter, \pN for a digit"
        )
    return text.replace("{w}", " ")


class _Phrase:
    """One phrase on its way to RE2. Spaced scripts: each word brings its own leading space."""

    def __init__(self, source: str, lexicon: Classes, memo: Memo):
        self.lexicon = lexicon
        self.memo = memo
        self.body = source.strip()
        self.starts, self.ends = self.body.startswith("^"), self.body.endswith("$")
        self.body = self.body.removeprefix("^").removesuffix("$")
        self.han = bool(_HAN.search(self.body + "".join(lexicon.requests[:1])))

    def expression(self) -> str:
        inner = self.sequence(self.body)
        if not inner:
            raise ValueError("empty pattern")
        after = (r" ?\. " if self.han else r" \. ") if self.ends else ("" if self.han else " ")
        return (self.start() if self.starts else "") + inner + after

    def start(self) -> str:
        """The start of a sentence, or any request, then lead-ins and further requests."""
        asks = self.alternatives(self.lexicon.requests)
        both = self.alternatives((*self.lexicon.requests, *self.lexicon.leads))
        if not both:
            return r" \."
        return rf"(?: \.|{asks}){both}*" if asks else rf" \.{both}*"

    def alternatives(self, phrases: Sequence[str]) -> str:
        return "(?:" + "|".join(map(self.sequence, phrases)) + ")" if phrases else ""

    def sequence(self, text: str) -> str:
        known = self.memo.get((text, self.han))
        if known is None:
            known = self.memo[text, self.han] = self.written(text)
        return known

    def written(self, text: str) -> str:
        out, at = [], 0
        text = text.strip()
        while at < len(text):
            part = _PART.match(text, at)
            if not part:
                raise ValueError(f"cannot read {text[at:]!r}")
            out.append(self.element(part.lastgroup or "", part[part.lastgroup or 0]))
            at = part.end()
        return "".join(out)

    def element(self, kind: str, text: str) -> str:
        if kind == "word":
            return _word(text, self.han)
        if kind == "gap":
            return rf"[^.]{{0,{GAP_CHARS}}}" if self.han else rf"(?: [^ .]+){{0,{GAP_WORDS}}}"
        if kind == "class":
            return self.named(text.strip("{}?")) + ("?" if text.endswith("?") else "")
        return {"open": "(?:", "bar": "|", "close": ")"}[kind] + ("?" if text.endswith("?") else "")

    def named(self, name: str) -> str:
        if phrases := self.lexicon.pronouns.get(name):
            space = " ?" if self.han else " "
            return f"(?:{self.alternatives(phrases)}|{space}{SUBJECT})"
        if phrases := self.lexicon.classes.get(name):
            return self.alternatives(phrases)
        raise ValueError(f"no class {{{name}}} in this pack")


@lru_cache(maxsize=50_000)
def _word(text: str, han: bool) -> str:
    """One word of a phrase; the same ones stand in thousands of phrases, so each is read once."""
    if text.endswith("?"):
        return f"(?:{_word(text[:-1], han)})?"
    before, after = text.startswith("~"), text.endswith("~")
    joined = " ?".join(map(_literal, text.strip("~").split("\u200c")))
    space = " ?" if han else " "
    return space + ("[^ .]*" if before else "") + joined + ("[^ .]*" if after else "")


def _literal(text: str) -> str:
    plain = padded(fold(text)).strip(" .")
    if not plain:
        raise ValueError(f"{text!r} holds no letter or digit")
    return re2.escape(plain) if plain.isascii() else plain
