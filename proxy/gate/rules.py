"""What an assistant's answers are held to; one value for all its requests, with what can be prepared once."""

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Protocol

import regex

from indexes.text.language import WordPack
from proxy.gate.echo import PromptEcho
from proxy.gate.lexicon import SentenceLexicons, SentencePack
from proxy.gate.listing import collect_month_names
from proxy.gate.lookahead import STOPS
from proxy.gate.values import ValuePack
from proxy.gate.voice import VoicePack

_FORBIDDEN_SIGNS = regex.compile(rf"[{STOPS}\s\[\]【】［］]")
_BEGIN, _END = r"(?<![\p{L}\p{M}\p{N}])", r"(?![\p{L}\p{M}\p{N}])"
LEADING_SIGNS_MAX = 40
"""Signs that may stand before the fixed token."""


class AnswerTopicCheck(Protocol):
    """Finds what an answer must not speak of. Implemented by `AnswerTopicPatterns` of the refuser."""

    def find_topic(self, folded: str) -> str:
        """Name of the topic whose answer patterns hit folded text; "" if none does."""
        ...


@dataclass(frozen=True, eq=False)
class GateRules:
    """Packs of every language by tag, and the switches of one assistant."""

    sentences: Mapping[str, SentencePack]
    values: Mapping[str, ValuePack]
    voices: Mapping[str, VoicePack]
    words: Mapping[str, WordPack]
    token: str = "NOT_IN_SOURCES"
    """The fixed token: no stops, brackets or white space in it."""
    prompt: str = ""
    """Our own prompt, of which an answer may quote nothing."""
    echo_words_min: int = 8
    """Words in a row of our own prompt that an answer may not have."""
    topics: AnswerTopicCheck | None = None
    voice: bool = True
    """False: the assistant may say "we"."""
    spelled_numbers: Literal["off", "check"] = "check"
    transition_words_max: int = 6
    sentence_chars_max: int = 6_000
    output_cap: int | None = None
    """Content events, and with `output_bytes_per_token_max` bytes; None: no cap."""
    output_bytes_per_token_max: int = 16

    def __post_init__(self) -> None:
        """Prepares what all requests share. Raises ValueError for a token that could never be found."""
        if not self.token or _FORBIDDEN_SIGNS.search(self.token):
            raise ValueError(f"token: want a word without stops, brackets or spaces, got {self.token!r}")
        _ = self.lexicons, self.months, self.echo, self.leading_token_pattern, self.token_pattern

    def copy_with_cap(self, output_cap: int | None) -> "GateRules":
        """The same rules under another cap; shares all that was prepared."""
        rules = copy.copy(self)
        object.__setattr__(rules, "output_cap", output_cap)
        return rules

    @cached_property
    def lexicons(self) -> SentenceLexicons:
        """Sentence words of all languages."""
        return SentenceLexicons(self.sentences)

    @cached_property
    def months(self) -> frozenset[str]:
        """Month names of all languages."""
        return collect_month_names(self.values)

    @cached_property
    def echo(self) -> PromptEcho:
        """The runs of our own prompt."""
        return PromptEcho(self.prompt, self.echo_words_min)

    @cached_property
    def leading_token_pattern(self) -> regex.Pattern[str]:
        """The fixed token at the beginning, after quotes or other signs."""
        signs = rf"[^\p{{L}}\p{{M}}\p{{N}}]{{0,{LEADING_SIGNS_MAX}}}?"
        return regex.compile(rf"{signs}{regex.escape(self.token)}{_END}", regex.IGNORECASE)

    @cached_property
    def token_pattern(self) -> regex.Pattern[str]:
        """The fixed token as a whole word."""
        return regex.compile(rf"{_BEGIN}{regex.escape(self.token)}{_END}", regex.IGNORECASE)

    def has_token(self, text: str) -> bool:
        """Whether the fixed token stands in `text`; cheap where it does not."""
        return self.token.lower() in text.lower() and self.token_pattern.search(text) is not None

    @property
    def token_end_max(self) -> int:
        """Where the fixed token ends at the latest in an answer that begins with it."""
        return LEADING_SIGNS_MAX + len(self.token)
