"""How tests read values: the shipped packs, and the gate's own question to them."""

from proxy.gate.values import TextValues, Value, ValuePack, find_missing_value, read_values
from proxy.settings.languages import load_packs

PACKS = load_packs("values", ValuePack)


def list_value_keys(
    text: str, language: str | None = "en", *, source: bool = False, spelled: bool = False
) -> list[str]:
    """The keys of the values of `text` in order."""
    return [v.key for v in read_values(text, language, PACKS, is_source=source, spelled=spelled).items]


def is_supported(answer: str, source: str, language: str | None = "en", other: str | None = None) -> bool:
    """Whether a sentence in `language` may leave, given a source in `other` (the same by default)."""
    values = read_values(answer, language, PACKS, is_line_start=False)
    return are_values_supported(values, read_values(source, other or language, PACKS, is_source=True))


def are_values_supported(values: TextValues, *sources: TextValues) -> bool:
    """The gate's question."""
    return not values.markup and not values.leftover and find_missing_value(values, sources) is None


def read_first_value(text: str, language: str | None = "en") -> Value:
    """The first value of `text`."""
    return read_values(text, language, PACKS).items[0]
