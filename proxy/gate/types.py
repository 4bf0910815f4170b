"""What the gate is given and what it says."""

from dataclasses import dataclass
from typing import Literal

StopKind = Literal["stopped", "not_in_sources", "truncated"]

RULE_NAMES = (
    "range",  # a marker points at no source handed over
    "present",  # a sentence with content has no marker
    "values",  # a value that no cited source holds, or a digit that belongs to no value
    "markup",  # an image, raw HTML, or a link of a forbidden scheme
    "code",  # a code line that no cited source holds
    "voice",  # first person
    "echo",  # a run of our own prompt
    "topic",  # an answer pattern of a refusal topic
    "token",  # the fixed token: first (not in sources) or later
    "uncited",  # the answer ended without one cited sentence (not in sources)
    "long",  # a sentence longer than may be held
    "cap",  # more output than the cap allows
    "fault",  # the gate itself failed: nothing more is let through
    "length",  # cut by a cap: the unfinished sentence is dropped
)


@dataclass(frozen=True, slots=True)
class Release:
    """A sentence let out: exactly as it came, markers gone. `cites` are the numbers of its sources."""

    text: str
    source_numbers: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Stop:
    """The end of the answer. `piece` is what offends, `looked` the sources looked at."""

    rule: str
    ending: StopKind
    piece: str = ""
    source_numbers: tuple[int, ...] = ()
    detail: str = ""
