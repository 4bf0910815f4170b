"""The counts of one worker, in bounded tables."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence

from proxy.limits.rules import CONCURRENT_RETRY_S, LimitRule, WindowFull, compute_full_at, compute_wait_s

_NO_WINDOWS: Mapping[str, float] = {}


class MemoryLimitStore:
    """Counts in this process. `table_max` subjects a limit; who asked longest ago goes first."""

    def __init__(self, table_max: int = 50_000):
        self._table_max = table_max
        self._full_at: dict[str, OrderedDict[str, float]] = {}
        self._running_counts: dict[tuple[str, str], int] = {}

    async def count_request(self, rules: Sequence[LimitRule], now: float) -> WindowFull | None:
        """See `LimitStore`. Never waits, so that nothing can come between the check and the count."""
        for rule in rules:
            wait_s = self._read_wait_s(rule, now)
            if wait_s > 0:
                return WindowFull(rule, wait_s)
        for rule in rules:
            self._count_under_rule(rule, now)
        return None

    async def end_request(self, rules: Sequence[LimitRule]) -> None:
        """See `LimitStore`."""
        for rule in rules:
            if rule.window_s:
                continue
            left = self._running_counts.get((rule.name, rule.subject), 0) - 1
            if left > 0:
                self._running_counts[rule.name, rule.subject] = left
            else:
                self._running_counts.pop((rule.name, rule.subject), None)

    def __len__(self) -> int:
        """Rows of all tables."""
        return sum(map(len, self._full_at.values())) + len(self._running_counts)

    def _read_wait_s(self, rule: LimitRule, now: float) -> float:
        """Seconds until one more request fits; 0: now."""
        if not rule.window_s:
            return (
                CONCURRENT_RETRY_S
                if self._running_counts.get((rule.name, rule.subject), 0) >= rule.count
                else 0
            )
        full_at = self._full_at.get(rule.name, _NO_WINDOWS).get(rule.subject, now)
        return max(0.0, compute_wait_s(rule, full_at, now))

    def _count_under_rule(self, rule: LimitRule, now: float) -> None:
        if not rule.window_s:
            running = self._running_counts.get((rule.name, rule.subject), 0)
            self._running_counts[rule.name, rule.subject] = running + 1
            return
        table = self._full_at.setdefault(rule.name, OrderedDict())
        table[rule.subject] = compute_full_at(rule, table.get(rule.subject, now), now)
        table.move_to_end(rule.subject)
        if len(table) > self._table_max:
            table.popitem(last=False)
