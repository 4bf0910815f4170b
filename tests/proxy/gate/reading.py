"""How tests read values: the shipped packs, and the gate's own question to them."""

from proxy.gate.values import TextValues, Value, ValuePack, find_missing_value, read_values
from proxy.settings.languages import load_packs

PACKS = load_packs("values", ValuePack)


def keys(text: str, language: str | None = "en", *, source: bool = False, spelled: bool = False) -> list[str]:
    """The keys of the values of `text` in order."""
    return [v.key for v in read_values(text, language, PACKS, is_source=source, spelled=spelled).items]


def held(answer: str, source: str, language: str | None = "en", other: str | None = None) -> bool:
    """Whether a sentence in `language` may leave, given a source in `other` (the same by default)."""
    said = read_values(answer, language, PACKS, is_line_start=False)
    return passes(said, read_values(source, other or language, PACKS, is_source=True))


def passes(said: TextValues, *sources: TextValues) -> bool:
    """The gate's question."""
    return not said.markup and not said.leftover and find_missing_value(said, sources) is None


def first(text: str, language: str | None = "en") -> Value:
    """The first value of `text`."""
    return read_values(text, language, PACKS).items[0]
