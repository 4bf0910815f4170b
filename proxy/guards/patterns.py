"""Patterns over folded words: a phrase language for people, RE2 for experts, always in linear time.

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
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import re2
import regex

from indexes.text import fold
from proxy.errors import ConfigError

SUBJECT = "\ue001"
"""Stands in padded text where a name of the subject stood; every pronoun class matches it too."""
CANARY = "\ue000"
"""Appended to every text: a set that does not report it has run out of memory and said nothing."""
BREAK = " . "
CHARS_MAX = 300
MEMORY_BYTES = 32 << 20
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
    """A letter as people type it in haste: Latin without accents, Arabic without hamza, Devanagari nukta off."""
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


def expression(source: str, lexicon: Classes) -> str:
    """RE2 text of one pattern. Raises `ValueError` saying what is wrong with it."""
    if len(source) > CHARS_MAX:
        raise ValueError(f"longer than {CHARS_MAX} characters")
    if source.startswith("regex:"):
        return _expert(source.removeprefix("regex:").strip())
    return _Phrase(source, lexicon).expression()


def _expert(text: str) -> str:
    if unsafe := _UNSAFE.search(text):
        raise ValueError(
            f"{unsafe[0]} knows ASCII letters only and would never fire in most scripts: "
            r"use {w} for a boundary, \pL for a letter, \pN for a digit"
        )
    return text.replace("{w}", " ")


class _Phrase:
    """One phrase on its way to RE2. Spaced scripts: each word brings its own leading space."""

    def __init__(self, source: str, lexicon: Classes):
        self.lexicon = lexicon
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
            return self.word(text)
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

    def word(self, text: str) -> str:
        if text.endswith("?"):
            return f"(?:{self.word(text[:-1])})?"
        before, after = text.startswith("~"), text.endswith("~")
        joined = " ?".join(self.literal(piece) for piece in text.strip("~").split("\u200c"))
        space = " ?" if self.han else " "
        return space + ("[^ .]*" if before else "") + joined + ("[^ .]*" if after else "")

    @staticmethod
    def literal(text: str) -> str:
        plain = padded(fold(text)).strip(" .")
        if not plain:
            raise ValueError(f"{text!r} holds no letter or digit")
        return re2.escape(plain) if plain.isascii() else plain


@dataclass(frozen=True)
class Pattern:
    """One pattern: where it came from and what it stands for."""

    source: str
    topic: str
    language: str
    expression: str

    @cached_property
    def compiled(self) -> Any:
        """Made when first needed: the sets below tell whether a pattern hits, this only where."""
        return re2.compile(self.expression, _options())

    def search(self, text: str, start: int = 0) -> tuple[int, int] | None:
        """The leftmost-longest span from `start` on, in code points."""
        found = self.compiled.search(text, start)
        return (found.start(), found.end()) if found else None

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Every span, overlapping ones too (at most one from each character on)."""
        out, at = [], 0
        while span := self.search(text, at):
            out.append(span)
            at = span[0] + 1
        return out


def _options() -> re2.Options:
    options = re2.Options()
    options.max_mem = MEMORY_BYTES
    options.longest_match = True
    options.log_errors = False
    return options


class Patterns:
    """Many patterns, matched at once in linear time. Raises `ConfigError` for one that RE2 refuses."""

    def __init__(self, patterns: Sequence[Pattern]):
        self.patterns = tuple(patterns)
        self._set = re2.Set.SearchSet(_options())
        for pattern in self.patterns:
            try:
                self._set.Add(pattern.expression)
            except re2.error as fault:
                where = f"{pattern.language}: {pattern.topic}"
                raise ConfigError(f"{where}: pattern {pattern.source!r}: {fault}") from fault
        self._canary = len(self.patterns)
        self._set.Add(CANARY)
        self._set.Compile()

    def find(self, text: str) -> list[Pattern]:
        """The patterns that hit padded `text`, in their order."""
        hits = self._set.Match(text + CANARY)
        if self._canary in hits:
            return [self.patterns[i] for i in sorted(hits) if i != self._canary]
        return [pattern for pattern in self.patterns if pattern.search(text)]


@dataclass(frozen=True, slots=True)
class Rule:
    """Patterns of one topic (or kind) with the sentences that prove them."""

    topic: str
    patterns: tuple[str, ...]
    match: tuple[str, ...] = ()
    spare: tuple[str, ...] = ()


def compiled(rule: Rule, language: str, lexicon: Classes, place: str) -> list[Pattern]:
    """A rule's patterns. Raises `ConfigError` naming `place`, the pattern and what is wrong with it."""
    out, faults = [], []
    for source in rule.patterns:
        try:
            out.append(Pattern(source, rule.topic, language, expression(source, lexicon)))
        except ValueError as fault:
            faults.append(f"{place}: {rule.topic}: pattern {source!r}: {fault}")
    if faults:
        raise ConfigError(*faults)
    return out


def prove(rules: Iterable[Rule], language: str, lexicon: Classes, place: str) -> Patterns:
    """The patterns of all rules, each proven by its rule's examples. Raises one `ConfigError` with every fault."""
    rules = tuple(rules)
    groups: list[list[Pattern]] = []
    faults: list[str] = []
    for rule in rules:
        try:
            groups.append(compiled(rule, language, lexicon, place))
        except ConfigError as fault:
            faults += fault.faults
    if faults:
        raise ConfigError(*faults)
    found = Patterns([pattern for group in groups for pattern in group])
    faults = [
        line for rule, group in zip(rules, groups, strict=True) for line in _faults(rule, group, found, place)
    ]
    if faults:
        raise ConfigError(*faults)
    return found


def _faults(rule: Rule, own: Sequence[Pattern], found: Patterns, place: str) -> list[str]:
    """A pattern that no `match` sentence shows to work, a match missed, a spare sentence hit."""
    hits = {
        text: [pattern for pattern in found.find(prepared(text)) if pattern in own]
        for text in (*rule.match, *rule.spare)
    }
    shown = {pattern for text in rule.match for pattern in hits[text]}
    where = f"{place}: {rule.topic}"
    return [
        *(
            f"{where}: pattern {p.source!r}: want a `match` sentence that it hits"
            for p in own
            if p not in shown
        ),
        *(f"{where}: {text!r} should match, but no pattern hits" for text in rule.match if not hits[text]),
        *(f"{where}: pattern {hits[t][0].source!r} hits {t!r}, to be spared" for t in rule.spare if hits[t]),
    ]
