"""Tells when files, or files below folders, have changed: by the system's events, or by looking."""

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

FileSnapshot = frozenset[tuple[str, int]]
"""Paths with what tells two states of a file apart."""


async def watch_changes(
    roots: Sequence[Path],
    *,
    reconcile_s: float = RECONCILE_S,
    poll_s: float = POLL_S,
    use_events: bool = True,
) -> AsyncGenerator[None, None]:
    """Yields once at the start, then whenever a root, or something below it, may have changed.

    What changes while the caller works is announced after. Without the optional `watchfiles`, or with
    `use_events` off, or where the system cannot watch a root, names, sizes and times are compared every
    `poll_s`.
    """
    changed = asyncio.Event()
    # Taken before the first announcement: no change falls between that and the listening.
    snapshot = await asyncio.to_thread(_take_snapshot, roots)
    listening = asyncio.create_task(
        _signal_changes(roots, changed, snapshot=snapshot, poll_s=poll_s, use_events=use_events)
    )
    try:
        while True:
            yield
            with suppress(TimeoutError):
                await asyncio.wait_for(changed.wait(), reconcile_s)
            changed.clear()
    finally:
        listening.cancel()


async def _signal_changes(
    roots: Sequence[Path], changed: asyncio.Event, *, snapshot: FileSnapshot, poll_s: float, use_events: bool
) -> None:
    if use_events and find_spec("watchfiles"):
        try:
            await _watch_events(roots, changed, snapshot)
        except* (OSError, RuntimeError):
            pass  # what sends no events is looked at
    while True:
        current = await asyncio.to_thread(_take_snapshot, roots)
        if current != snapshot:
            changed.set()
        snapshot = current
        await asyncio.sleep(poll_s)


async def _watch_events(roots: Sequence[Path], changed: asyncio.Event, snapshot: FileSnapshot) -> None:
    """Folders with all that is below them; of a file, its folder, as editors put new files in its place.

    What changed before the listening began is looked for once it has.
    """
    files = [root for root in roots if root.is_file()]
    folders = [root for root in roots if not root.is_file()]
    async with asyncio.TaskGroup() as group:
        if folders:
            group.create_task(_watch_folders(changed, folders, None))
        if files:
            names = frozenset(file.name for file in files)
            group.create_task(_watch_folders(changed, sorted({file.parent for file in files}), names))
        await asyncio.sleep(0)  # the tasks above begin, and to listen is the first thing they do
        if await asyncio.to_thread(_take_snapshot, roots) != snapshot:
            changed.set()


async def _watch_folders(
    changed: asyncio.Event, folders: Sequence[Path], only_names: frozenset[str] | None
) -> None:
    from watchfiles import awatch

    is_kept = (lambda change, path: Path(path).name in only_names) if only_names is not None else None
    async for _ in awatch(*folders, debounce=SETTLE_MS, watch_filter=is_kept, recursive=only_names is None):
        changed.set()


def _take_snapshot(roots: Sequence[Path]) -> FileSnapshot:
    """Every file with its time and size; what cannot be looked at is not seen."""
    states: set[tuple[str, int]] = set()
    for root in roots:
        for path in (root, *root.rglob("*")):
            try:
                stat = path.stat()
            except OSError:
                continue
            states.add((str(path), hash((stat.st_mtime_ns, stat.st_size, stat.st_mode))))
    return frozenset(states)
