"""What an attempt amounts to: the decision, the notice behind the released text, the finish reason. Pure."""

from dataclasses import dataclass

from proxy.domain.types import Decision, UpstreamEnd
from proxy.gate.types import Stop

VOICE_RULES = frozenset({"voice", "topic"})
"""Layer 5: how the assistant may speak. Every other rule of the gate is layer 4."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """`notice` is the key of a fixed text, "" for none."""

    decision: Decision
    layer: str = ""
    notice: str = ""
    finish: str = "stop"


@dataclass(frozen=True, slots=True)
class VerdictContext:
    """What the verdict on an attempt depends on besides its end."""

    is_client_cap: bool = False
    """The cap in force was the client's own, so a cut by length is its doing and is told as `length`."""
    has_released: bool = True
    """A sentence was released before."""
    stop_finish: str = "stop"


def judge_attempt(stop: Stop | None, ending: UpstreamEnd, terms: VerdictContext) -> Verdict:
    """The verdict on one attempt that has said something."""
    broken = ending.finish in ("cut", "failed")
    if broken and (stop is None or stop.rule == "length"):
        return Verdict(Decision.UPSTREAM_FAILED, "", "upstream_failed")
    if stop is not None:
        return _stopped(stop, terms)
    return Verdict(Decision.ANSWERED)


def _stopped(stop: Stop, terms: VerdictContext) -> Verdict:
    if stop.ending == "not_in_sources":
        return Verdict(Decision.NOT_IN_SOURCES, "3" if stop.rule == "token" else "4", "not_in_sources")
    if stop.ending == "truncated":
        return Verdict(Decision.TRUNCATED, "4", "truncated", "length" if terms.is_client_cap else "stop")
    layer = "5" if stop.rule in VOICE_RULES else "4"
    return Verdict(
        Decision.STOPPED, layer, "stopped" if terms.has_released else "withheld", terms.stop_finish
    )
