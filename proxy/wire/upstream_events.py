"""What an upstream can say, in our own words: the readers of all protocols speak in these."""

import json
from dataclasses import dataclass
from typing import Literal

from proxy.domain.types import Usage


@dataclass(frozen=True, slots=True)
class Text:
    """One content event of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Thought:
    """Text that is paid for and never leaves: reasoning, refusals, tool calls, transcripts."""

    text: str


Reason = Literal["stop", "length", "content_filter", "tool_calls", "error"]


@dataclass(frozen=True, slots=True)
class Finished:
    """The first real finish reason ends the answer; what comes behind it is not text."""

    reason: Reason


@dataclass(frozen=True, slots=True)
class Failed:
    """The upstream reports an error inside its answer. `detail` is for our log only."""

    detail: str
    malformed: bool = False
    """It did not speak the protocol at all."""


@dataclass(frozen=True, slots=True)
class Done:
    """Nothing more will come."""


Said = Text | Thought | Usage | Finished | Failed | Done

How = Literal["done", "eof", "error", "cut", "malformed"]


@dataclass(frozen=True, slots=True)
class End:
    """How a reply ended. Clean only with a `reason` of "stop" or "length" and `how` "done" or "eof"."""

    reason: Reason | None
    how: How
    detail: str = ""


def shown(value: object) -> str:
    """Any parsed JSON as text again, for the bill and our log; never raises, whatever an upstream sent.

    ASCII, since half surrogate pairs have no bytes.
    """
    try:
        return json.dumps(value, default=str)
    except (ValueError, RecursionError):
        return "(nested too deep to be shown)"
