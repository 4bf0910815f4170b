"""Voice: no first person in an answer, by a list per language; quoted titles of a cited source are spared."""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import regex

from indexes.text.folding import fold_text
from indexes.text.words import WORD, split_runs

_BEFORE = r"(?<![\p{L}\p{M}\p{N}_])"
# A hyphen and a letter after make a compound (Ich-AG); before it they do not (puis-je).
_AFTER = r"(?![\p{L}\p{M}\p{N}_]|[-‐‑]\p{L})"
# A lone I may be an initial (I. Newton), a numeral (I–III, Parts I and II), half of I/O or B-I.
_LONE_BEFORE = r"(?<!\p{L}\.|/|\p{Lu}[-‐‑])"
_LONE_AFTER = r"(?!\.\s?\p{L}|[)/]|-\p{N}|(?:\s?[,–&-]|\s\p{Ll}{1,3})\s?[IVX]+(?![\p{L}']))"
_WIDE = (*range(0xFF21, 0xFF5B), *range(0x1D400, 0x1D7CC))
_PLAIN = {code: unicodedata.normalize("NFKC", chr(code)) for code in _WIDE} | {ord("’"): "'", ord("І"): "I"}
"""Letters in another dress, case kept; the last is Cyrillic."""
_UNSEEN = regex.compile(r"[\p{Cf}--\u200c]+", regex.V1)
_QUOTED = regex.compile(
    r"“[^“”]+”|„[^„“”]+[“”]|«[^«»]+»|»[^«»]+«|「[^「」]+」|『[^『』]+』|《[^《》]+》"
    r'|"[^"]+"|(?<!\p{L})[‘‚][^‘’]+[’‘](?!\p{L})'
)
_BLANK = "\ue000"
_ENTRY_SIGNS = {r"\ \?": " ?", r"\*": r"[\p{L}\p{M}]{2,}", r"\^": r"\p{Lu}\p{Ll}"}
"""What entries may hold: an optional space, the rest of a word, the beginning of a capitalised word."""


@dataclass(frozen=True, eq=False)
class VoicePack:
    """`voice.toml` of one language. `words` and `exceptions` are folded, the others are compared as written.

    In an entry ` ?` is a space or none, `*` the rest of a word, `^` any capitalised word; a final apostrophe
    joins the word after it. The longest entry that fits counts, an exception or not.
    """

    words: tuple[str, ...]
    """First person wherever it stands as a whole word or phrase."""
    exceptions: tuple[str, ...] = ()
    """What looks like it and is not: names, compounds, set phrases."""
    exact: tuple[str, ...] = ()
    """First person only in this very case and pointing."""
    exact_exceptions: tuple[str, ...] = ()
    prefixes: str = ""
    """Letters that may be written together with the word after them (و, ف)."""
    bounded: bool = True
    """False where words have no gaps between them (Chinese)."""

    @cached_property
    def _rests_by_word(self) -> Mapping[str, Sequence[frozenset[str]]]:
        """First word of a folded entry, with its optional space and without → its other words, by entry."""
        rests: dict[str, list[frozenset[str]]] = {}
        for entry in self.words:
            for form in (entry.replace(" ?", " "), entry.replace(" ?", "")):
                if match := WORD.match(form):
                    rests.setdefault(match[0], []).append(_list_rest_words(entry))
        return rests

    @cached_property
    def _wildcard_tails(self) -> tuple[str, ...]:
        """The ends of first words that hold any letters."""
        firsts = (word.partition(" ")[0] for word in self.words)
        return tuple(first.partition("*")[2] for first in firsts if "*" in first)

    def can_match(self, folded: str) -> bool:
        """Whether `folded` can hold an entry: a cheap look at its words before the dear one."""
        if not self.bounded:
            return True
        words = set(split_runs(folded))
        if self._wildcard_tails and any(word.endswith(self._wildcard_tails) for word in words):
            return True
        firsts = {word[1:] for word in words if word[0] in self.prefixes} | words if self.prefixes else words
        return any(
            rest <= words
            for first in firsts & self._rests_by_word.keys()
            for rest in self._rests_by_word[first]
        )

    @cached_property
    def folded_pattern(self) -> regex.Pattern[str]:
        """First person in folded text, as group `found`; an exception matches without it."""
        return self._compile_pattern(self.words, self.exceptions)

    @cached_property
    def exact_pattern(self) -> regex.Pattern[str]:
        """First person in text as written."""
        return self._compile_pattern(self.exact, ())

    @cached_property
    def exception_pattern(self) -> regex.Pattern[str]:
        """What is blanked in text as written before it is searched."""
        return self._compile_pattern((), self.exact_exceptions)

    def _compile_pattern(self, words: Sequence[str], exceptions: Sequence[str]) -> regex.Pattern[str]:
        entries = [(word, f"(?<found>{self._compile_entry(word)})") for word in words]
        entries += [(word, self._compile_entry(word)) for word in exceptions]
        longest = sorted(entries, key=lambda entry: len(entry[0]), reverse=True)
        start = _BEFORE + (f"[{self.prefixes}]?" if self.prefixes else "") if self.bounded else ""
        return regex.compile(rf"{start}(?:{'|'.join(entry for _, entry in longest) or '(?!)'})")

    def _compile_entry(self, entry: str) -> str:
        text = regex.escape(entry)
        for sign, pattern in _ENTRY_SIGNS.items():
            text = text.replace(sign, pattern)
        if not self.bounded or entry.endswith(("'", "^")):
            return text
        return f"{_LONE_BEFORE}{text}{_AFTER}{_LONE_AFTER}" if len(entry) == 1 else f"{text}{_AFTER}"


def _list_rest_words(entry: str) -> frozenset[str]:
    """The words after the first that a text with `entry` is sure to hold as whole words."""
    sure = "" if " ?" in entry else " ".join(part for part in entry.split() if "*" not in part)
    return frozenset(split_runs(sure)[1:])


def find_first_person(
    sentence: str, language: str | None, packs: Mapping[str, VoicePack], sources: Sequence[str] = ()
) -> str:
    """The first piece of `sentence` in the first person, "" if none or if `language` has no list.

    What stands in quotation marks and verbatim in one of `sources` (texts of the cited sources) is spared.
    """
    pack = packs.get(language or "")
    if pack is None:
        return ""
    piece = _find_piece(sentence, pack)
    if not piece or not _QUOTED.search(sentence):
        return piece
    return _find_piece(_blank_quotes(sentence, sources), pack)


def _find_piece(sentence: str, pack: VoicePack) -> str:
    plain = sentence if sentence.isascii() else _UNSEEN.sub("", sentence.translate(_PLAIN))
    folded = fold_text(plain)
    if not pack.can_match(folded) and not (pack.exact and pack.exact_pattern.search(plain)):
        return ""
    if pack.exact_exceptions:
        plain = pack.exception_pattern.sub(_BLANK, plain)
        folded = fold_text(plain)
    return _find_first_match(pack.exact_pattern, plain) or _find_first_match(pack.folded_pattern, folded)


def _find_first_match(pattern: regex.Pattern[str], text: str) -> str:
    return next((match["found"] for match in pattern.finditer(text) if match["found"]), "")


def _blank_quotes(sentence: str, sources: Sequence[str]) -> str:
    """`sentence` with each quotation that a source holds blanked."""
    folded = [fold_text(source) for source in sources]

    def blank_quote(match: regex.Match[str]) -> str:
        quoted = fold_text(match[0][1:-1]).rstrip(".,!?。，")
        return _BLANK if any(quoted in source for source in folded) else match[0]

    return str(_QUOTED.sub(blank_quote, sentence))
