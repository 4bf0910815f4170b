"""Bookings that could not be written: on disk, flushed, until they are. One file a process."""

import json
import os
import re
from collections.abc import Iterable
from pathlib import Path

from proxy.ledger.books import Booking
from proxy.ledger.owner import Owner
from proxy.services import Settled


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

    def orphans(self) -> list[Path]:
        """Files of processes that are certainly gone, and of this one."""
        return [path for path in sorted(self._folder.glob("*.jsonl")) if self._gone(path)]

    def _gone(self, path: Path) -> bool:
        if path == self._file:
            return True
        try:
            return Owner.parse(path.stem).dead(self._owner)
        except ValueError:
            return False


def read(path: Path) -> list[Booking]:
    """The bookings of one file; a line that is not one is skipped (its hold is then charged at its bound)."""
    found = (_parse(line) for line in path.read_text(encoding="utf-8").splitlines())
    return [booking for booking in found if booking is not None]


def _line(booking: Booking) -> str:
    cost = booking.settled
    values = [booking.hold, booking.basis, booking.now]
    return json.dumps([*values, cost.input_tokens, cost.output_tokens, cost.nanousd]) + "\n"


def _parse(line: str) -> Booking | None:
    try:
        hold, basis, now, *cost = json.loads(line)
        return Booking(str(hold), str(basis), Settled(*map(int, cost)), float(now))
    except (ValueError, TypeError):
        return None


def _safe(text: str) -> str:
    return re.sub(r"[^\w~-]", "_", text)


def _flush(folder: Path) -> None:
    """Makes the rename itself durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
