"""The counts of one worker, in bounded tables."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence

from proxy.limits.rules import AT_ONCE_RETRY_S, Full, Rule, taken, wait

_NONE: Mapping[str, float] = {}


class MemoryStore:
    """Counts in this process. `table_max` subjects a limit; who asked longest ago goes first."""

    def __init__(self, table_max: int = 50_000):
        self._table_max = table_max
        self._full_at: dict[str, OrderedDict[str, float]] = {}
        self._running: dict[tuple[str, str], int] = {}

    async def take(self, rules: Sequence[Rule], now: float) -> Full | None:
        """See `Store`. Never waits, so that nothing can come between the check and the count."""
        for rule in rules:
            wait_s = self._wait(rule, now)
            if wait_s > 0:
                return Full(rule, wait_s)
        for rule in rules:
            self._count(rule, now)
        return None

    async def release(self, rules: Sequence[Rule]) -> None:
        """See `Store`."""
        for rule in rules:
            if rule.seconds:
                continue
            left = self._running.get((rule.limit, rule.subject), 0) - 1
            if left > 0:
                self._running[rule.limit, rule.subject] = left
            else:
                self._running.pop((rule.limit, rule.subject), None)

    def __len__(self) -> int:
        """Rows of all tables."""
        return sum(map(len, self._full_at.values())) + len(self._running)

    def _wait(self, rule: Rule, now: float) -> float:
        """Seconds until one more request fits; 0: now."""
        if not rule.seconds:
            return AT_ONCE_RETRY_S if self._running.get((rule.limit, rule.subject), 0) >= rule.count else 0
        full_at = self._full_at.get(rule.limit, _NONE).get(rule.subject, now)
        return max(0.0, wait(rule, full_at, now))

    def _count(self, rule: Rule, now: float) -> None:
        if not rule.seconds:
            running = self._running.get((rule.limit, rule.subject), 0)
            self._running[rule.limit, rule.subject] = running + 1
            return
        table = self._full_at.setdefault(rule.limit, OrderedDict())
        table[rule.subject] = taken(rule, table.get(rule.subject, now), now)
        table.move_to_end(rule.subject)
        if len(table) > self._table_max:
            table.popitem(last=False)
