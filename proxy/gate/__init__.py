"""The gate (DESIGN §4): what of a model's answer the sources support, sentence by sentence."""

from proxy.gate.gate import Gate
from proxy.gate.lexicon import SentencePack
from proxy.gate.rules import AnswerTopics, Rules
from proxy.gate.types import Ending, Release, Stop
from proxy.gate.values import ValuePack
from proxy.gate.voice import VoicePack

__all__ = [
    "AnswerTopics",
    "Ending",
    "Gate",
    "Release",
    "Rules",
    "SentencePack",
    "Stop",
    "ValuePack",
    "VoicePack",
]
