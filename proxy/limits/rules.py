"""The rules: per address over a minute, an hour and a day, per key over a minute, and at once per key.

A window is a bucket that refills continuously (GCRA, ITU-T I.371): `count` requests may come at once, and one
more every `window_s / count`. Its whole state is one moment, at which it will be full again.
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
STORE_TIMEOUT_S = 0.25
"""Longest that a request waits for the store before it passes unlimited."""
CONCURRENT_RETRY_S = 1.0
"""When to come back to a limit on what runs at once: such a request may end at any moment."""


@dataclass(frozen=True, slots=True)
class LimitRule:
    """One limit on one subject: `count` requests in `window_s` seconds; 0: `count` at once."""

    name: str
    subject: str
    count: int
    window_s: float = 0

    @property
    def interval_s(self) -> float:
        """Seconds in which one request comes back."""
        return self.window_s / self.count


@dataclass(frozen=True, slots=True)
class WindowFull:
    """The rule that is used up, and when to come back."""

    rule: LimitRule
    retry_after_s: float


class LimitStore(Protocol):
    """Where the counts live. May raise anything: the request then passes."""

    async def count_request(self, rules: Sequence[LimitRule], now: float) -> WindowFull | None:
        """Counts one request under every rule, or, if one is used up, under none."""
        ...

    async def end_request(self, rules: Sequence[LimitRule]) -> None:
        """Ends a request that was taken: only what counts `at once` gets free."""
        ...


class RateLimits:
    """`async with limits.enter(caller, address)` around a request. Raises LimitError naming the limit.

    `failure_count` counts requests that passed because the store did not answer.
    """

    def __init__(
        self, settings: tree.LimitSettings, store: LimitStore, *, clock: Callable[[], float] = time.time
    ):
        self._settings = settings
        self.store = store
        self._clock = clock
        self.failure_count = 0

    @contextlib.asynccontextmanager
    async def enter(self, caller: Caller, address: str) -> AsyncIterator[None]:
        """Counts the request; ends its share of the concurrent ones on leaving."""
        rules = self.list_rules(caller, address)
        was_counted = await self._try_count_request(rules)
        try:
            yield
        finally:
            if was_counted:
                await asyncio.shield(self._try_end_request(rules))  # also when the request is cancelled

    def list_rules(self, caller: Caller, address: str) -> tuple[LimitRule, ...]:
        """Every limit that is on, for this request."""
        settings = self._settings
        every = (
            LimitRule("address_minute", address, settings.address_minute, 60),
            LimitRule("address_hour", address, settings.address_hour, 3_600),
            LimitRule("address_day", address, settings.address_day, 86_400),
            LimitRule("key_minute", caller.key_id, settings.key_minute, 60),
            LimitRule("key_concurrent", caller.key_id, settings.key_concurrent),
        )
        return tuple(rule for rule in every if rule.count)

    async def _try_count_request(self, rules: Sequence[LimitRule]) -> bool:
        """False: the store failed, and the request passes uncounted. Raises LimitError."""
        try:
            async with asyncio.timeout(STORE_TIMEOUT_S):
                full = await self.store.count_request(rules, self._clock())
        except Exception as fault:
            self.failure_count += 1
            log.error("limits are off, their store failed: %s: %s", type(fault).__name__, fault)
            return False
        if full is not None:
            raise _build_limit_error(full)
        return True

    async def _try_end_request(self, rules: Sequence[LimitRule]) -> None:
        try:
            await self.store.end_request(rules)
        except Exception as fault:
            log.error("a limit was not released: %s: %s", type(fault).__name__, fault)


def compute_wait_s(rule: LimitRule, full_at: float, now: float) -> float:
    """Seconds until one more request fits into a bucket that will be full at `full_at`; not above 0: now.

    A moment further off than one window means that the clock was put back: the window starts anew.
    """
    full_at = full_at if full_at <= now + rule.window_s else now
    return max(full_at, now) + rule.interval_s - now - rule.window_s


def compute_full_at(rule: LimitRule, full_at: float, now: float) -> float:
    """When the bucket will be full after one more request at `now`."""
    full_at = full_at if full_at <= now + rule.window_s else now
    return max(full_at, now) + rule.interval_s


def _build_limit_error(full: WindowFull) -> LimitError:
    rule = full.rule
    span = f"in {rule.window_s:g} seconds" if rule.window_s else "at once"
    text = f"Too many requests: limit {rule.name} allows {rule.count} {span}."
    return LimitError(text, limit=rule.name, retry_after_s=full.retry_after_s)
