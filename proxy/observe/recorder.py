"""What a finished request leaves behind: its row, its line in the log, its figures."""

import time
from collections.abc import Callable

from proxy.domain.trace import Trace
from proxy.domain.types import Decision
from proxy.observe import logs
from proxy.observe.decisions import Decisions, discreet
from proxy.observe.metrics import Metrics

LIMITED_S = 1.0
"""Shortest time between two rows of limited requests: a flood of them is counted, not written down."""


class Recorder:
    """Implements `services.DecisionLog` over the decision log, the log lines and the metrics."""

    def __init__(
        self,
        decisions: Decisions,
        metrics: Metrics,
        *,
        questions: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ):
        self._decisions = decisions
        self._metrics = metrics
        self._questions = questions
        self._clock = clock
        self._limited = -LIMITED_S

    async def write(self, trace: Trace) -> None:
        """Never raises."""
        self._metrics.request(trace)
        if trace.decision is Decision.LIMITED and not self._due():
            return
        await self._decisions.write(trace)
        logs.request(trace if self._questions else discreet(trace))

    def _due(self) -> bool:
        now = self._clock()
        due = now - self._limited >= LIMITED_S
        if due:
            self._limited = now
        return due
