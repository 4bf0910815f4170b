"""Locks between processes, by `flock`: the system frees one when its holder dies."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows has none
    fcntl = None  # type: ignore[assignment]

POLL_S = 0.05


@asynccontextmanager
async def hold_lock(path: Path, wait_s: float) -> AsyncIterator[bool]:
    """Holds the lock of `path`, or False where another process still has it after `wait_s`."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        yield await _poll_lock(descriptor, wait_s)
    finally:
        os.close(descriptor)


async def _poll_lock(descriptor: int, wait_s: float) -> bool:
    loop = asyncio.get_running_loop()
    deadline = loop.time() + wait_s
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if loop.time() >= deadline:
                return False
            await asyncio.sleep(POLL_S)
        else:
            return True


@contextmanager
def hold_lock_blocking(path: Path, on_wait: Callable[[], None]) -> Iterator[None]:
    """Holds the lock of `path`, however long it takes; `on_wait` is called once if it is not free at once.

    Without `flock` it holds nothing: two builds at once are then waste, but a rename lets only one stand.
    """
    if fcntl is None:
        yield
        return
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            on_wait()
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
