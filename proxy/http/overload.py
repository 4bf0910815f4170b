"""Overload: so many answers at once, so many waiting for a place, a quick 503 beyond. A pure ASGI layer."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

from starlette.types import ASGIApp, Receive, Scope, Send

from proxy.domain.errors import BusyError
from proxy.http.replies import Line
from proxy.settings import tree

FREE = frozenset({"/healthz", "/readyz", "/metrics"})
"""Paths that answer also when nothing else does."""
NEARLY = 0.9
"""Share of the places, or of the memory, from which on a balancer should send nothing more here."""
GIVE_UP_S = 5.0
"""Longest that a 503 is tried to be sent."""
PAGE_BYTES = 4_096


class Overload:
    """At most `streams_max` requests inside, `queue_max` waiting up to `queue_s`; others get 503 at once."""

    def __init__(self, app: ASGIApp, settings: tree.Server):
        self._app = app
        self._settings = settings
        self._places = asyncio.Semaphore(settings.streams_max)
        self.running = 0
        self.waiting = 0
        self.refused = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in FREE:
            await self._app(scope, receive, send)
            return
        try:
            async with self._place():
                await self._app(scope, receive, send)
        except _Full as fault:
            self.refused += 1
            await Line(send, GIVE_UP_S).fail(fault)

    @contextlib.asynccontextmanager
    async def _place(self) -> AsyncIterator[None]:
        await self._wait()
        self.running += 1
        try:
            yield
        finally:
            self.running -= 1
            self._places.release()

    async def _wait(self) -> None:
        if not self._places.locked():
            await self._places.acquire()  # does not wait: there is a place
            return
        if self.waiting >= self._settings.queue_max:
            raise _Full()
        self.waiting += 1
        try:
            async with asyncio.timeout(self._settings.queue_s):
                await self._places.acquire()
        except TimeoutError as fault:
            raise _Full() from fault
        finally:
            self.waiting -= 1

    def missing(self) -> list[str]:
        """Why this worker should get nothing more now; empty: it can take more."""
        most = self._settings.streams_max
        found = [f"streams: {self.running} of {most}"] if self.running >= NEARLY * most else []
        share = memory()
        return found + ([f"memory: {share:.0%} used"] if share >= NEARLY else [])


class _Full(BusyError):
    """No place; raised here only, so that an application's own 503 is not counted."""

    def __init__(self) -> None:
        super().__init__("The server is at its limit. Please try again in a moment.")


def memory(root: Path = Path("/")) -> float:
    """Used share of the memory this process may have, by cgroup v2 or the whole machine; 0: unknown."""
    try:
        pages = int((root / "proc/self/statm").read_text().split()[1])
        return pages * PAGE_BYTES / _limit_bytes(root)
    except (OSError, ValueError, IndexError):
        return 0.0


def _limit_bytes(root: Path) -> int:
    with contextlib.suppress(OSError, ValueError):
        return int((root / "sys/fs/cgroup/memory.max").read_text())
    first = (root / "proc/meminfo").read_text().split()
    return int(first[first.index("MemTotal:") + 1]) * 1_024
