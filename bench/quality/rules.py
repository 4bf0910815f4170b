"""The gate's rules with every pack, for benchmarks that need no configuration."""

from functools import cache

from indexes.text.language import WordPack
from proxy.gate import GateRules, SentencePack, ValuePack, VoicePack
from proxy.settings.languages import load_packs


@cache
def load_gate_rules() -> GateRules:
    """Default rules of an assistant that speaks in the third person."""
    return GateRules(
        sentences=load_packs("sentences", SentencePack),
        values=load_packs("values", ValuePack),
        voices=load_packs("voice", VoicePack),
        words=load_packs("words", WordPack),
    )
