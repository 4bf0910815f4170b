"""The subject's names in padded text, which patterns read as a pronoun."""

from collections.abc import Iterable, Sequence

import regex

from indexes.text.folding import fold_text
from proxy.guards.refusal.pack import RefusePack
from proxy.guards.refusal.padding import SUBJECT, pad_text

_HAN = regex.compile(r"\p{Han}")


class SubjectNames:
    """Finds the configured names, with what a language may glue to them ("NAME's", «لNAME», «NAMEа»)."""

    def __init__(self, names: Sequence[str], packs: Iterable[RefusePack]):
        packs = tuple(packs)
        self.phrases = frozenset(filter(None, (pad_text(fold_text(name)).strip(" .") for name in names)))
        self.words = frozenset(word for phrase in self.phrases for word in phrase.split())
        before = _build_affix_pattern(p for pack in packs for p in pack.prefixes)
        after = _build_affix_pattern(s for pack in packs for s in pack.suffixes)
        self._pattern = regex.compile(
            "|".join(
                _build_name_pattern(name, before, after)
                for name in sorted(self.phrases, key=len, reverse=True)
            )
            or r"(?!)"
        )

    def replace_with_subject(self, line: str) -> str:
        """`line` with `SUBJECT` for every name."""
        return self._pattern.sub(SUBJECT, line) if self.phrases else line

    def list_readings(self, line: str) -> tuple[str, ...]:
        """`line` as it stands, with the names read as the subject, and without them.

        Where a verb needs no pronoun the name may stand behind it («¿está disponible NAME mañana?»): there it
        is in the way, wherever a pattern expects one. Always three, so that those of two texts can be paired.
        """
        if not self.has_match(line):
            return line, line, line
        return line, self.replace_with_subject(line), self._pattern.sub("", line).replace("  ", " ")

    def has_match(self, line: str) -> bool:
        """Whether padded `line` holds a name."""
        # A search for each name as it stands is fifty times cheaper than one for what may be glued to it.
        return any(map(line.__contains__, self.phrases)) and bool(self._pattern.search(line))


def _build_affix_pattern(parts: Iterable[str]) -> str:
    # A space at the edge is part of what is glued on (" s", "da "); `fold_text` would take it off.
    folded = (f"{' ' * part.startswith(' ')}{fold_text(part)}{' ' * part.endswith(' ')}" for part in parts)
    unique = sorted(set(folded), key=len, reverse=True)
    return "(?:" + "|".join(map(regex.escape, unique)) + ")?" if unique else ""


def _build_name_pattern(name: str, before: str, after: str) -> str:
    """Han names stand between other characters; all others are whole words."""
    text = regex.escape(name)
    return text if _HAN.search(name) else rf"(?<= ){before}{text}{after}(?= )"
