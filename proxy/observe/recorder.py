"""What a finished request leaves behind: its row, its line in the log, its figures."""

from proxy.observe import logs
from proxy.observe.decisions import Decisions
from proxy.observe.metrics import Metrics
from proxy.types import Trace


class Recorder:
    """Implements `services.DecisionLog` over the decision log, the log lines and the metrics."""

    def __init__(self, decisions: Decisions, metrics: Metrics):
        self._decisions = decisions
        self._metrics = metrics

    async def write(self, trace: Trace) -> None:
        """Never raises."""
        await self._decisions.write(trace)
        self._metrics.request(trace)
        logs.request(trace)
