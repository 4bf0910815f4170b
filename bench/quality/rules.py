"""The gate's rules with every pack, for benchmarks that need no configuration."""

from functools import cache

from indexes.text.language import WordPack
from proxy.gate import Rules, SentencePack, ValuePack, VoicePack
from proxy.settings.languages import parts


@cache
def load_gate_rules() -> Rules:
    """Default rules of an assistant that speaks in the third person."""
    return Rules(
        sentences=parts("sentences", SentencePack),
        values=parts("values", ValuePack),
        voices=parts("voice", VoicePack),
        words=parts("words", WordPack),
    )
