"""The gate (DESIGN §4): what of a model's answer the sources support, sentence by sentence."""

from proxy.guards.gate.gate import Gate
from proxy.guards.gate.lexicon import SentencePack
from proxy.guards.gate.rules import AnswerTopics, Rules
from proxy.guards.gate.types import Ending, Release, Stop
from proxy.guards.gate.values import ValuePack
from proxy.guards.gate.voice import VoicePack

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
