"""What an upstream can say, in our own words: the readers of all protocols speak in these."""

from dataclasses import dataclass
from typing import Literal

from proxy.domain.types import Usage


@dataclass(frozen=True, slots=True)
class AnswerText:
    """One content event of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ThoughtText:
    """Text that is paid for and never leaves: reasoning, refusals, tool calls, transcripts."""

    text: str


FinishReason = Literal["stop", "length", "content_filter", "tool_calls", "error"]


@dataclass(frozen=True, slots=True)
class AnswerFinish:
    """The first real finish reason ends the answer; what comes behind it is not text."""

    reason: FinishReason


@dataclass(frozen=True, slots=True)
class UpstreamFailure:
    """The upstream reports an error inside its answer. `detail` is for our log only."""

    detail: str
    is_malformed: bool = False
    """It did not speak the protocol at all."""


@dataclass(frozen=True, slots=True)
class DoneSignal:
    """Nothing more will come."""


DialectEvent = AnswerText | ThoughtText | Usage | AnswerFinish | UpstreamFailure | DoneSignal

EndKind = Literal["done", "eof", "error", "cut", "malformed"]


@dataclass(frozen=True, slots=True)
class ResponseEnd:
    """How a reply ended. Clean only with a `reason` of "stop" or "length" and a `kind` of "done" or "eof"."""

    reason: FinishReason | None
    kind: EndKind
    detail: str = ""
