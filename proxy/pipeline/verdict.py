"""What an attempt amounts to: the decision, the notice behind the released text, the finish reason. Pure."""

from dataclasses import dataclass

from proxy.domain.trace import Ruling
from proxy.domain.types import Decision, Layer, UpstreamEnd
from proxy.gate.types import GateRule, Stop

VOICE_RULES = frozenset({GateRule.VOICE, GateRule.TOPIC})
"""Layer 5: how the assistant may speak. Every other rule of the gate is layer 4."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """`notice` is the key of a fixed text, "" for none."""

    decision: Decision
    layer: Layer = Layer.NONE
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


def judge_attempt(stop: Stop | None, end: UpstreamEnd, context: VerdictContext) -> Verdict:
    """The verdict on one attempt that has said something."""
    is_broken = end.finish in ("cut", "failed")
    if is_broken and (stop is None or stop.rule == GateRule.LENGTH):
        return Verdict(Decision.UPSTREAM_FAILED, Layer.NONE, "upstream_failed")
    if stop is not None:
        return judge_stop(stop, context)
    return Verdict(Decision.ANSWERED)


def judge_stop(stop: Stop, context: VerdictContext) -> Verdict:
    """The verdict where the gate ended the answer, and which notice stands behind what was released.

    `not_in_sources` comes only where nothing was released before.
    """
    if stop.kind == "not_in_sources":
        layer = Layer.PROMPT if stop.rule == GateRule.TOKEN else Layer.GATE
        return Verdict(Decision.NOT_IN_SOURCES, layer, "not_in_sources")
    if stop.kind == "truncated":
        finish = "length" if context.is_client_cap else "stop"
        return Verdict(Decision.TRUNCATED, Layer.GATE, "truncated", finish)
    layer = Layer.VOICE if stop.rule in VOICE_RULES else Layer.GATE
    notice = "withheld_rest" if context.has_released else "withheld_all"
    return Verdict(Decision.STOPPED, layer, notice, context.stop_finish)


def build_attempt_ruling(verdict: Verdict, stop: Stop | None, end: UpstreamEnd) -> Ruling:
    """The verdict for the log, with the piece that failed and where it was looked for."""
    if stop is None:
        return Ruling(verdict.decision, verdict.layer, detail=end.explanation)
    return Ruling(
        verdict.decision,
        verdict.layer,
        rule=stop.rule,
        detail=end.explanation or stop.detail,  # what broke says more than that something did
        offending=stop.piece,
        looked=stop.source_numbers,
    )
