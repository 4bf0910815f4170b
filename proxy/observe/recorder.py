"""What a finished request leaves behind: its row, its line in the log, its figures."""

import time
from collections.abc import Callable

from proxy.domain.trace import Trace
from proxy.domain.types import Decision
from proxy.observe import logs
from proxy.observe.decisions import SqliteDecisionLog, redact_trace
from proxy.observe.metrics import Metrics

LIMITED_ROW_INTERVAL_S = 1.0
"""Shortest time between two rows of limited requests: a flood of them is counted, not written down."""


class DecisionRecorder:
    """Implements `ports.DecisionLog` over the decision log, the log lines and the metrics."""

    def __init__(
        self,
        decisions: SqliteDecisionLog,
        metrics: Metrics,
        *,
        keep_questions: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ):
        self._decisions = decisions
        self._metrics = metrics
        self._keep_questions = keep_questions
        self._clock = clock
        self._last_limited_s = -LIMITED_ROW_INTERVAL_S

    async def write(self, trace: Trace) -> None:
        """Never raises."""
        self._metrics.observe_request(trace)
        if trace.decision is Decision.LIMITED:
            now = self._clock()
            if now - self._last_limited_s < LIMITED_ROW_INTERVAL_S:
                return
            self._last_limited_s = now
        await self._decisions.write(trace)
        logs.log_request(trace if self._keep_questions else redact_trace(trace))
