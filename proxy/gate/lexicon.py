"""Words that decide where a sentence ends: abbreviations by class, initials, ordinals, sentence openers."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

import regex

_INITIAL = regex.compile(r"(?:\p{Lu}\p{M}*(?:\.[-‐]?|[-‐]))*\p{Lu}\p{M}*|[\p{Arabic}&&\p{L}]", regex.V1)
_LETTER = regex.compile(r"\p{L}\p{M}*")
_LETTERS = regex.compile(r"[\p{L}\p{M}]+")
_ROMAN = regex.compile(r"[IVXLCDM]+")
_EDGE = r"(?<![\p{L}\p{M}\p{N}])"


@dataclass(frozen=True, slots=True)
class SentencePack:
    """`sentences.toml`. Entries without the final stop; one with a capital counts only as written.

    A missing entry costs a false boundary (the sentence lacks its marker), a wrong one lets two sentences
    share a marker; so the lists are closed and hold no ordinary word of the language.
    """

    title: tuple[str, ...] = ()
    """Before a name: no end unless an opener follows (`Dr`)."""
    reference: tuple[str, ...] = ()
    """Before a number: no end if a digit or Roman number follows (`No`, `p`)."""
    date: tuple[str, ...] = ()
    """Months and days: no end before a digit (`Jan`)."""
    worded: tuple[str, ...] = ()
    """Those of `date` that are words as well (`mar`, the sea): an abbreviation only after a number."""
    inline: tuple[str, ...] = ()
    """Never the last word (`e.g`, `vs`)."""
    may_end: tuple[str, ...] = ()
    """May be the last word: an end before a capital letter (`etc`, `p.m`)."""
    initials: tuple[str, ...] = ()
    """Letters' names and two-letter initials that stand for a first name (`Дж`, `ए`)."""
    openers: tuple[str, ...] = ()
    """Words that begin a sentence: after an initial, a title or an acronym they prove its end (`The`)."""
    lettered: tuple[str, ...] = ()
    """Nouns that take a letter: the letter after one is no initial (`plan B`)."""
    compounds: tuple[str, ...] = ()
    """Abbreviations that also end a longer word (`Ringstr`)."""
    prefixes: tuple[str, ...] = ()
    """Letters written onto the next word (Arabic `و`)."""
    ordinal_before: tuple[str, ...] = ()
    """Words before a written `3.` = third; empty where a stop after a number is an end."""
    ordinal_after: tuple[str, ...] = ()


class SentenceLexicon:
    """One language's pack, ready for look-ups."""

    def __init__(self, pack: SentencePack) -> None:
        self._pack = pack
        self._final_abbreviations = frozenset(pack.may_end)
        self._classes: dict[str, str] = {}
        for name in ("may_end", "date", "reference", "title", "inline"):
            for entry in getattr(pack, name):
                self._classes[entry.replace(" ", "").lower() if " " in entry else entry] = name
        spaced = [entry for name in ("inline", "may_end") for entry in getattr(pack, name) if " " in entry]
        self._second_words = _index_second_words(spaced)
        self._last_words = {entry.split(" ")[-1].lower() for entry in spaced}
        self._spaced_pattern = regex.compile(rf"(?ri){_EDGE}(?:{_build_spaced_alternation(spaced)})")
        self._word_sets = {name: _lower_words(getattr(pack, name)) for name in _WORD_FIELDS}
        self.has_ordinals = bool(pack.ordinal_before)

    @property
    def compounds(self) -> tuple[str, ...]:
        """The ends of words that are abbreviated."""
        return self._pack.compounds

    @property
    def tokens(self) -> frozenset[str]:
        """Every token that this lexicon has something to say on."""
        return frozenset((*self._classes, *self._last_words, *self._second_words, *self._pack.initials))

    def classify_abbreviation(self, text: str, token: str, end: int) -> str:
        """Class of the abbreviation `token` that ends at `text[:end]`; "" if it is none."""
        for form in self._iterate_forms(token):
            if abbreviation_class := self._classes.get(form):
                return abbreviation_class
        if token.lower() in self._last_words and (
            m := self._spaced_pattern.match(text, max(0, end - 40), end)
        ):
            return self._classes["".join(m.group().lower().split())]
        return ""

    def needs_number_before(self, token: str) -> bool:
        """Whether `token` is an abbreviation only right after a number: `5 mar. 2020`, `el mar. 5 barcos`."""
        return token in self._pack.worded

    def may_end_sentence(self, token: str) -> bool:
        """Whether `token` may end a sentence after a number, whatever else it is: `30 см.`, `см. с. 5`."""
        return token in self._final_abbreviations

    def is_dotted(self, token: str) -> bool:
        """Whether it is single letters, or their names, with stops between: `U.S`, `т.д`, `ق.م`, `यू.एस`."""
        parts = [part.lstrip("-‐") for part in token.split(".")]
        initials = self._pack.initials
        return len(parts) > 1 and all(part in initials or _LETTER.fullmatch(part) for part in parts)

    def find_second_words(self, token: str) -> frozenset[str]:
        """The words that make an abbreviation of two words after `token` (`z. B.`), in lower case."""
        return frozenset(self._second_words.get(token.lower(), ()))

    def is_initial(self, token: str, word_before: str) -> bool:
        """Whether `token` is a name's initial, and not the letter of the word before it (`plan B`)."""
        if word_before.lower() in self._word_sets["lettered"]:
            return False
        return token in self._pack.initials or bool(_INITIAL.fullmatch(token) and token != "I")

    def is_opener(self, word: str) -> bool:
        """Whether a sentence begins with `word`, as far as its form tells."""
        return word.lower() in self._word_sets["openers"]

    def is_ordinal(self, word_before: str, word_after: str) -> bool:
        """Whether a number with a stop between these words is an ordinal."""
        if word_after.lower() in self._word_sets["ordinal_after"]:
            return True
        return word_before.lower() in self._word_sets["ordinal_before"] and not self.is_opener(word_after)

    def _iterate_forms(self, token: str) -> Iterable[str]:
        """The ways in which the pack may list `token`, the most exact first."""
        yield token
        lower = token.lower()
        if lower != token and len(token) > 1:  # a single capital is an initial
            yield lower
        for prefix in self._pack.prefixes:
            if token.startswith(prefix):
                yield token[len(prefix) :]
        yield from (part for part in self._pack.compounds if token.endswith(part))


def is_roman(word: str) -> bool:
    """Whether `word` may be a Roman number in capitals."""
    return bool(_ROMAN.fullmatch(word))


class SentenceLexicons:
    """The lexicons of all languages."""

    def __init__(self, packs: Mapping[str, SentencePack]) -> None:
        self._lexicons = {tag: SentenceLexicon(pack) for tag, pack in packs.items()}
        self._tokens = frozenset().union(*(lexicon.tokens for lexicon in self._lexicons.values()))
        self._compounds = tuple(part for lexicon in self._lexicons.values() for part in lexicon.compounds)

    def __getitem__(self, tag: str) -> SentenceLexicon:
        return self._lexicons[tag]

    def has_entry(self, token: str) -> bool:
        """Whether any language may have something to say on `token`."""
        tokens = self._tokens
        # `token[1:]`: a letter may be written onto it (`prefixes`).
        is_token = token in tokens or token.lower() in tokens or token[1:] in tokens
        return is_token or token.endswith(self._compounds)


_WORD_FIELDS = ("openers", "lettered", "ordinal_before", "ordinal_after")


def _lower_words(words: Iterable[str]) -> frozenset[str]:
    return frozenset(word.lower() for word in words)


def _build_spaced_alternation(spaced: Iterable[str]) -> str:
    space = r"[^\S\r\n]?"
    return "|".join(space.join(map(regex.escape, entry.split(" "))) for entry in spaced) or "(?!)"


def _index_second_words(spaced: Iterable[str]) -> dict[str, set[str]]:
    """First part of each two-word abbreviation → the first words of its second part."""
    second_words: dict[str, set[str]] = {}
    for entry in spaced:
        parts = entry.lower().split(" ")
        for first, second in pairwise(parts):
            second_words.setdefault(first.rstrip("."), set()).add(_LETTERS.match(second).group())  # type: ignore[union-attr]
    return second_words
