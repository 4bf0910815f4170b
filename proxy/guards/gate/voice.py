"""Voice: no first person in an answer, by a list per language; quoted titles of a cited source are spared."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import regex

from indexes.text import fold

NEVER = r"(?!)"
_BEFORE = r"(?<![\p{L}\p{M}\p{N}_])"
# A hyphen and a letter after make a compound (Ich-AG); before it they do not (puis-je).
_AFTER = r"(?![\p{L}\p{M}\p{N}_]|[-‐‑]\p{L})"
_UNSEEN = regex.compile(r"[\p{Cf}--\u200c]+", regex.V1)
_QUOTED = regex.compile(
    r"“[^“”]+”|„[^„“”]+[“”]|«[^«»]+»|»[^«»]+«|「[^「」]+」|『[^『』]+』|《[^《》]+》"
    r'|"[^"]+"|(?<!\p{L})[‘‚][^‘’]+[’‘](?!\p{L})'
)
_BLANK = "\ue000"


@dataclass(frozen=True, eq=False)
class VoicePack:
    """`voice.toml` of one language. `words` and `spared` are folded; ` ?` stands for a space or none."""

    words: tuple[str, ...]
    """First person wherever it stands as a whole word or phrase."""
    spared: tuple[str, ...] = ()
    """What looks like it and is not: names, compounds, set phrases."""
    exact: tuple[str, ...] = ()
    """Only in this very case and pointing."""
    exact_spared: tuple[str, ...] = ()
    bounded: bool = True
    """False where words have no gaps between them (Chinese)."""

    @cached_property
    def folded_form(self) -> regex.Pattern[str]:
        return self._pattern(self.words, self.spared)

    @cached_property
    def exact_form(self) -> regex.Pattern[str]:
        return self._pattern(self.exact, self.exact_spared)

    def _pattern(self, words: Iterable[str], spared: Iterable[str]) -> regex.Pattern[str]:
        """What is spared is tried first, so that it takes its text away from the words."""
        before, after = (_BEFORE, _AFTER) if self.bounded else ("", "")
        keep = _either(spared)
        edge = _BEFORE if self.bounded else ""
        return regex.compile(rf"{edge}(?:{keep})|{before}(?<found>{_either(words)}){after}")


def _either(entries: Iterable[str]) -> str:
    longest = sorted(entries, key=len, reverse=True)
    return (
        "|".join(regex.escape(entry, special_only=True).replace(r" \?", " ?") for entry in longest) or NEVER
    )


def first_person(
    sentence: str, language: str | None, packs: Mapping[str, VoicePack], sources: Sequence[str] = ()
) -> str:
    """The first piece of `sentence` in the first person, "" if none or if `language` has no list.

    What stands in quotation marks and verbatim in one of `sources` (texts of the cited sources) is spared.
    """
    pack = packs.get(language or "")
    if pack is None:
        return ""
    piece = _look(sentence, pack)
    if not piece or not _QUOTED.search(sentence):
        return piece
    return _look(_without_quotes(sentence, sources), pack)


def _look(sentence: str, pack: VoicePack) -> str:
    plain = _UNSEEN.sub("", sentence.replace("’", "'"))
    return _first(pack.exact_form, plain) or _first(pack.folded_form, fold(sentence))


def _first(pattern: regex.Pattern[str], text: str) -> str:
    return next((match["found"] for match in pattern.finditer(text) if match["found"]), "")


def _without_quotes(sentence: str, sources: Sequence[str]) -> str:
    """`sentence` with each quotation that a source holds blanked."""
    folded = [fold(source) for source in sources]

    def swap(match: regex.Match[str]) -> str:
        quoted = fold(match[0][1:-1]).rstrip(".,!?。，")
        return _BLANK if any(quoted in source for source in folded) else match[0]

    return str(_QUOTED.sub(swap, sentence))
