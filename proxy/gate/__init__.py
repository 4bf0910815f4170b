"""The gate: what of a model's answer the sources support, sentence by sentence."""

from proxy.gate.gate import Gate
from proxy.gate.lexicon import SentencePack
from proxy.gate.rules import AnswerTopicCheck, GateRules
from proxy.gate.types import Release, Stop, StopKind
from proxy.gate.values import ValuePack
from proxy.gate.voice import VoicePack

__all__ = [
    "AnswerTopicCheck",
    "Gate",
    "GateRules",
    "Release",
    "SentencePack",
    "Stop",
    "StopKind",
    "ValuePack",
    "VoicePack",
]
