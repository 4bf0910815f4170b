"""Bookings that could not be written: on disk, flushed, until they are. One file a process."""

import json
import math
import os
import re
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from proxy.domain.ports import Settled
from proxy.ledger.owner import Owner
from proxy.ledger.transactions import Booking

COST_MAX = 10**18
"""Nano-dollars or tokens: what is beyond it was never written here, and would not fit into the books."""
OLD_S = 86_400
"""Age at which the file of a process goes of which nothing is certain, such as one in another container."""


class Spool:
    """The folder beside the ledger. `write` replaces this process's file whole: never half a line."""

    def __init__(self, folder: Path, owner: Owner):
        self._folder = folder
        self._owner = owner
        self._file = folder / f"{_safe(str(owner))}.jsonl"

    def write(self, bookings: Iterable[Booking]) -> None:
        """Makes the file hold exactly these; none: removes it. Raises OSError."""
        lines = [_line(booking) for booking in bookings]
        if not lines:
            self._file.unlink(missing_ok=True)
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        fresh = self._file.with_suffix(".new")
        with fresh.open("w", encoding="utf-8") as out:
            out.write("".join(lines))
            out.flush()
            os.fsync(out.fileno())
        fresh.replace(self._file)
        _flush(self._folder)

    def files(self) -> list[Path]:
        """The files of every process."""
        return sorted(self._folder.glob("*.jsonl"))

    def clear(self, paths: Iterable[Path]) -> None:
        """Removes files that are booked and whose process will not write them again."""
        for path in paths:
            with suppress(FileNotFoundError):  # another process that starts now was quicker
                if self._gone(path) or time.time() - path.stat().st_mtime > OLD_S:
                    path.unlink()

    def _gone(self, path: Path) -> bool:
        if path == self._file:
            return True
        try:
            return Owner.parse(path.stem).dead(self._owner)
        except ValueError:
            return False


def beside(ledger: Path) -> Path:
    """Where the bookings of the ledger at this path wait, those of all its processes."""
    return ledger.with_name(f"{ledger.name}.spool")


def read(path: Path) -> list[Booking]:
    """The bookings of one file; a line that is not one is skipped (its hold is then charged at its bound)."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:  # another process that starts now has booked it
        return []
    found = (_parse(line) for line in text.splitlines())
    return [booking for booking in found if booking is not None]


def _line(booking: Booking) -> str:
    cost = booking.settled
    values = [booking.hold, booking.basis, booking.now]
    return json.dumps([*values, cost.input_tokens, cost.output_tokens, cost.nanousd]) + "\n"


def _parse(line: str) -> Booking | None:
    try:
        hold, basis, now, *cost = json.loads(line)
        found = Booking(str(hold), str(basis), Settled(*map(int, cost)), float(now))
    except (ValueError, TypeError, OverflowError, RecursionError):
        return None
    return found if math.isfinite(found.now) and all(0 <= part <= COST_MAX for part in cost) else None


def _safe(text: str) -> str:
    return re.sub(r"[^\w~-]", "_", text)


def _flush(folder: Path) -> None:
    """Makes the rename itself durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
