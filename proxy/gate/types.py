"""What the gate is given and what it says."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

StopKind = Literal["stopped", "not_in_sources", "truncated"]


class GateRule(StrEnum):
    """What a stop can be for. Names and meanings are the README's, the golden sets' and the log's."""

    RANGE = "range"  # a marker points at no source handed over
    PRESENT = "present"  # a sentence with content has no marker
    VALUES = "values"  # a value that no cited source holds, or a digit that belongs to no value
    MARKUP = "markup"  # an image, raw HTML, or a link of a forbidden scheme
    CODE = "code"  # a code line that no cited source holds
    VOICE = "voice"  # first person
    ECHO = "echo"  # a run of our own prompt
    TOPIC = "topic"  # an answer pattern of a refusal topic
    TOKEN = "token"  # the fixed token: first (not in sources) or later
    UNCITED = "uncited"  # the answer ended without one cited sentence (not in sources)
    LONG = "long"  # a sentence longer than may be held
    CAP = "cap"  # more output than the cap allows
    FAULT = "fault"  # the gate itself failed: nothing more is let through
    LENGTH = "length"  # cut by a cap: the unfinished sentence is dropped


@dataclass(frozen=True, slots=True)
class Release:
    """A sentence let out: exactly as it came, markers gone. `source_numbers`: those it cites."""

    text: str
    source_numbers: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Stop:
    """The end of the answer. `piece` is what offends, looked for in the sources of `source_numbers`."""

    rule: GateRule
    kind: StopKind
    piece: str = ""
    source_numbers: tuple[int, ...] = ()
    detail: str = ""
