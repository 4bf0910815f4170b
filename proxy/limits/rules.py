"""The rules: per address over a minute, an hour and a day, per key over a minute, and at once per key.

A window is a bucket that refills continuously (GCRA, ITU-T I.371): `count` requests may come at once, and one
more every `seconds / count`. Its whole state is one moment, at which it will be full again.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from proxy.domain.errors import LimitError
from proxy.domain.types import Caller
from proxy.settings import tree

log = logging.getLogger("fiador.limits")
STORE_S = 0.25
"""Longest that a request waits for the store before it passes unlimited."""
AT_ONCE_RETRY_S = 1.0


@dataclass(frozen=True, slots=True)
class Rule:
    """One limit on one subject: `count` requests in `seconds`; 0 seconds: at once."""

    limit: str
    subject: str
    count: int
    seconds: float = 0

    @property
    def every_s(self) -> float:
        """Seconds in which one request comes back."""
        return self.seconds / self.count


@dataclass(frozen=True, slots=True)
class Full:
    """The rule that is used up, and when to come back."""

    rule: Rule
    retry_after_s: float


class Store(Protocol):
    """Where the counts live. May raise anything: the request then passes."""

    async def take(self, rules: Sequence[Rule], now: float) -> Full | None:
        """Counts one request under every rule, or, if one is used up, under none."""
        ...

    async def release(self, rules: Sequence[Rule]) -> None:
        """Ends a request that was taken: only what counts `at once` gets free."""
        ...


class Limits:
    """`async with limits.enter(caller, address)` around a request. Raises LimitError naming the limit.

    `failures` counts requests that passed because the store did not answer.
    """

    def __init__(self, settings: tree.Limits, store: Store, *, clock: Callable[[], float] = time.time):
        self._settings = settings
        self.store = store
        self._clock = clock
        self.failures = 0

    @contextlib.asynccontextmanager
    async def enter(self, caller: Caller, address: str) -> AsyncIterator[None]:
        """Counts the request; ends its share of the concurrent ones on leaving."""
        rules = self.rules(caller, address)
        taken = await self._take(rules)
        try:
            yield
        finally:
            if taken:
                await asyncio.shield(self._release(rules))

    def rules(self, caller: Caller, address: str) -> tuple[Rule, ...]:
        """Every limit that is on, for this request."""
        s = self._settings
        every = (
            Rule("address_minute", address, s.address_minute, 60),
            Rule("address_hour", address, s.address_hour, 3_600),
            Rule("address_day", address, s.address_day, 86_400),
            Rule("key_minute", caller.key_id, s.key_minute, 60),
            Rule("key_concurrent", caller.key_id, s.key_concurrent),
        )
        return tuple(rule for rule in every if rule.count)

    async def _take(self, rules: Sequence[Rule]) -> bool:
        try:
            async with asyncio.timeout(STORE_S):
                full = await self.store.take(rules, self._clock())
        except Exception as fault:
            self.failures += 1
            log.error("limits are off, their store failed: %s: %s", type(fault).__name__, fault)
            return False
        if full is not None:
            raise _error(full)
        return True

    async def _release(self, rules: Sequence[Rule]) -> None:
        try:
            await self.store.release(rules)
        except Exception as fault:
            log.error("a limit was not released: %s: %s", type(fault).__name__, fault)


def wait(rule: Rule, full_at: float, now: float) -> float:
    """Seconds until one more request fits into a bucket that will be full at `full_at`; not above 0: now.

    A moment further off than one window means that the clock was put back: the window starts anew.
    """
    full_at = full_at if full_at <= now + rule.seconds else now
    return max(full_at, now) + rule.every_s - now - rule.seconds


def taken(rule: Rule, full_at: float, now: float) -> float:
    """When the bucket will be full after one more request at `now`."""
    full_at = full_at if full_at <= now + rule.seconds else now
    return max(full_at, now) + rule.every_s


def _error(full: Full) -> LimitError:
    rule = full.rule
    span = f"in {rule.seconds:g} seconds" if rule.seconds else "at once"
    text = f"Too many requests: limit {rule.limit} allows {rule.count} {span}."
    return LimitError(text, limit=rule.limit, retry_after_s=full.retry_after_s)
