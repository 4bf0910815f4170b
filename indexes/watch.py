"""Tells when files below some folders have changed: by the system's events, or by looking."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

RECONCILE_S = 600.0
"""A change is announced at least this often: events get lost, network folders have none."""
POLL_S = 2.0
SETTLE_MS = 200
"""Changes within this time are one: editors write in several steps."""

Sight = frozenset[tuple[str, int]]
"""Paths with what tells two states of a file apart."""


async def changes(
    roots: Sequence[Path], *, reconcile_s: float = RECONCILE_S, poll_s: float = POLL_S, events: bool = True
) -> AsyncGenerator[None, None]:
    """Yields once at the start, then whenever something below `roots` may have changed; never ends.

    What changes while the caller works is announced after. Without the optional `watchfiles`, or with
    `events` off, or where the system cannot watch a root, names, sizes and times are compared every `poll_s`.
    """
    stirred = asyncio.Event()
    # Taken before the first announcement, and listening begun: no change falls between.
    seen = await asyncio.to_thread(_seen, roots)
    listening = asyncio.create_task(_listen(roots, stirred, seen=seen, poll_s=poll_s, events=events))
    await asyncio.sleep(0)
    try:
        while True:
            yield
            with suppress(TimeoutError):
                await asyncio.wait_for(stirred.wait(), reconcile_s)
            stirred.clear()
    finally:
        listening.cancel()


async def _listen(
    roots: Sequence[Path], stirred: asyncio.Event, *, seen: Sight, poll_s: float, events: bool
) -> None:
    if events and find_spec("watchfiles"):
        with suppress(OSError, RuntimeError):
            await _hear(roots, stirred)
    while True:
        now = await asyncio.to_thread(_seen, roots)
        if now != seen:
            stirred.set()
        seen = now
        await asyncio.sleep(poll_s)


async def _hear(roots: Sequence[Path], stirred: asyncio.Event) -> None:
    from watchfiles import awatch

    async for _ in awatch(*roots, debounce=SETTLE_MS, watch_filter=None):
        stirred.set()


def _seen(roots: Sequence[Path]) -> Sight:
    """Every file with its time and size; what cannot be looked at is not seen."""
    found: set[tuple[str, int]] = set()
    for root in roots:
        for path in (root, *root.rglob("*")):
            try:
                about = path.stat()
            except OSError:
                continue
            found.add((str(path), hash((about.st_mtime_ns, about.st_size, about.st_mode))))
    return frozenset(found)
