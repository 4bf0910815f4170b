"""How tests read values: the shipped packs, and the gate's own question to them."""

from proxy.gate.values import Value, ValuePack, Values, missing, read
from proxy.settings.languages import load_packs

PACKS = load_packs("values", ValuePack)


def keys(text: str, language: str | None = "en", *, source: bool = False, spelled: bool = False) -> list[str]:
    """The keys of the values of `text` in order."""
    return [v.key for v in read(text, language, PACKS, source=source, spelled=spelled).items]


def held(answer: str, source: str, language: str | None = "en", other: str | None = None) -> bool:
    """Whether a sentence in `language` may leave, given a source in `other` (the same by default)."""
    said = read(answer, language, PACKS, line_start=False)
    return passes(said, read(source, other or language, PACKS, source=True))


def passes(said: Values, *sources: Values) -> bool:
    """The gate's question."""
    return not said.markup and not said.leftover and missing(said, sources) is None


def first(text: str, language: str | None = "en") -> Value:
    """The first value of `text`."""
    return read(text, language, PACKS).items[0]
