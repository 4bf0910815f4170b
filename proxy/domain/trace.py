"""What a request shows of itself: parts that the steps return, and the one place that joins them to a row."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace

from proxy.domain.types import Caller, Decision, Layer


@dataclass(frozen=True, slots=True)
class RequestTrace:
    """Who asked what of which model."""

    id: str
    caller: Caller
    model: str
    question: str
    started: float = 0.0
    """Unix seconds."""


@dataclass(frozen=True, slots=True)
class RetrievalTrace:
    """What steps 3 and 4 looked for and found."""

    mode: str = ""
    degraded: str = ""
    """Why keywords alone served where vectors were wanted."""
    best: float | None = None
    threshold: float | None = None
    sources: tuple[Mapping[str, object], ...] = ()
    """number, id, title, url, and of passages document, similarity, coverage, cosine: of each handed over."""
    embedded: bool = False


@dataclass(frozen=True, slots=True)
class SpendingTrace:
    """What steps 6 to 9 cost, all attempts together; `hold_nanousd` is the last hold's."""

    released: int = 0
    """Sentences released."""
    input_tokens: int = 0
    output_tokens: int = 0
    hold_nanousd: int = 0
    cost_nanousd: int = 0
    upstream_calls: int = 0


@dataclass(frozen=True, slots=True)
class Ruling:
    """The decision and what it rests on."""

    decision: Decision | None = None
    layer: Layer = Layer.NONE
    topic: str = ""
    rule: str = ""
    """The gate's rule, or the pattern of layer 1."""
    detail: str = ""
    offending: str = ""
    """The piece of text that failed."""
    looked: tuple[int, ...] = ()
    """Numbers of the sources in which it was looked for."""


@dataclass(frozen=True, slots=True)
class Trace:
    """All of it on one level: one row of the decision log, whose fields these are."""

    id: str
    caller: Caller
    model: str
    question: str
    started: float = 0.0
    language: str = ""
    decision: Decision | None = None
    layer: Layer = Layer.NONE
    topic: str = ""
    rule: str = ""
    detail: str = ""
    mode: str = ""
    degraded: str = ""
    best: float | None = None
    threshold: float | None = None
    sources: tuple[Mapping[str, object], ...] = ()
    released: int = 0
    offending: str = ""
    looked: tuple[int, ...] = ()
    input_tokens: int = 0
    output_tokens: int = 0
    hold_nanousd: int = 0
    cost_nanousd: int = 0
    upstream_calls: int = 0
    embedded: bool = False
    timings_ms: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TraceParts:
    """The parts of one trace, as far as its steps have come."""

    request: RequestTrace
    language: str = ""
    retrieval: RetrievalTrace = RetrievalTrace()
    spending: SpendingTrace = SpendingTrace()
    ruling: Ruling = Ruling()

    def join_trace(self, timings_ms: Mapping[str, float]) -> Trace:
        """The row of the decision log. Each field of `Trace` comes from exactly one part."""
        row = Trace(
            self.request.id,
            self.request.caller,
            self.request.model,
            self.request.question,
            language=self.language,
            timings_ms=dict(timings_ms),
        )
        parts = (self.request, self.retrieval, self.spending, self.ruling)
        values = {item.name: getattr(part, item.name) for part in parts for item in fields(part)}
        return replace(row, **values)
