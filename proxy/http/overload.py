"""Overload: so many answers at once, so many waiting for a place, a quick 503 beyond. A pure ASGI layer."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

from starlette.types import ASGIApp, Receive, Scope, Send

from proxy.domain.errors import BusyError
from proxy.http.replies import ResponseWriter
from proxy.settings import tree

UNLIMITED_PATHS = frozenset({"/healthz", "/readyz", "/metrics"})
"""Paths that answer also when nothing else does."""
BUSY_SHARE = 0.9
"""Share of the places, or of the memory, from which on a balancer should send nothing more here."""
REFUSAL_TIMEOUT_S = 5.0
"""Longest that a 503 is tried to be sent."""
PAGE_BYTES = 4_096
"""What `/proc/self/statm` counts in."""


class OverloadLimiter:
    """At most `streams_max` requests inside, `queue_max` waiting up to `queue_s`; others get 503 at once."""

    def __init__(self, app: ASGIApp, settings: tree.ServerSettings):
        self._app = app
        self._settings = settings
        self._places = asyncio.Semaphore(settings.streams_max)
        self.running_count = 0
        self.waiting_count = 0
        self.refused_count = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in UNLIMITED_PATHS:
            await self._app(scope, receive, send)
            return
        try:
            async with self._occupy_place():
                await self._app(scope, receive, send)
        except _OverloadError as fault:
            self.refused_count += 1
            await ResponseWriter(send, REFUSAL_TIMEOUT_S).write_error(fault)

    @contextlib.asynccontextmanager
    async def _occupy_place(self) -> AsyncIterator[None]:
        await self._wait_for_place()
        self.running_count += 1
        try:
            yield
        finally:
            self.running_count -= 1
            self._places.release()

    async def _wait_for_place(self) -> None:
        if not self._places.locked():
            await self._places.acquire()  # does not wait: there is a place
            return
        if self.waiting_count >= self._settings.queue_max:
            raise _OverloadError()
        self.waiting_count += 1
        try:
            async with asyncio.timeout(self._settings.queue_s):
                await self._places.acquire()
        except TimeoutError as fault:
            raise _OverloadError() from fault
        finally:
            self.waiting_count -= 1

    def list_obstacles(self) -> list[str]:
        """Why this worker should get nothing more now; empty: it can take more."""
        obstacles = []
        places = self._settings.streams_max
        if self.running_count >= BUSY_SHARE * places:
            obstacles.append(f"streams: {self.running_count} of {places}")
        if (share := read_memory_share()) >= BUSY_SHARE:
            obstacles.append(f"memory: {share:.0%} used")
        return obstacles


class _OverloadError(BusyError):
    """No place; raised here only, so that an application's own 503 is not counted."""

    def __init__(self) -> None:
        super().__init__("The server is at its limit. Please try again in a moment.")


def read_memory_share(root: Path = Path("/")) -> float:
    """Used share of the memory this process may have, by cgroup v2 or the whole machine; 0: unknown."""
    try:
        pages = int((root / "proc/self/statm").read_text().split()[1])
        return pages * PAGE_BYTES / _read_limit_bytes(root)
    except (OSError, ValueError, IndexError):
        return 0.0


def _read_limit_bytes(root: Path) -> int:
    with contextlib.suppress(OSError, ValueError):  # no cgroup, or one without a limit: its file says "max"
        return int((root / "sys/fs/cgroup/memory.max").read_text())
    words = (root / "proc/meminfo").read_text().split()
    return int(words[words.index("MemTotal:") + 1]) * 1_024  # given in kB
