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
STALE_FILE_S = 86_400
"""Age at which the file of a process goes of which nothing is certain, such as one in another container."""


class Spool:
    """The folder beside the ledger. `write` replaces this process's file whole: never half a line."""

    def __init__(self, folder: Path, owner: Owner):
        self._folder = folder
        self._owner = owner
        self._file = folder / f"{_sanitize_file_name(str(owner))}.jsonl"

    def write(self, bookings: Iterable[Booking]) -> None:
        """Makes the file hold exactly these; none: removes it. Raises OSError."""
        lines = [_format_booking(booking) for booking in bookings]
        if not lines:
            self._file.unlink(missing_ok=True)
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        new_file = self._file.with_suffix(".new")
        with new_file.open("w", encoding="utf-8") as out:
            out.write("".join(lines))
            out.flush()
            os.fsync(out.fileno())
        new_file.replace(self._file)
        _flush_folder(self._folder)

    def list_files(self) -> list[Path]:
        """The files of every process."""
        return sorted(self._folder.glob("*.jsonl"))

    def remove_files(self, paths: Iterable[Path]) -> None:
        """Removes files that are booked and whose process will not write them again."""
        for path in paths:
            with suppress(FileNotFoundError):  # another process that starts now was quicker
                if self._is_finished(path) or time.time() - path.stat().st_mtime > STALE_FILE_S:
                    path.unlink()

    def _is_finished(self, path: Path) -> bool:
        """True for our own file, which is booked by now, and for that of a process that is certainly dead."""
        if path == self._file:
            return True
        try:
            return Owner.parse(path.stem).is_dead(self._owner)
        except ValueError:
            return False


def find_spool_folder(ledger: Path) -> Path:
    """Where the bookings of the ledger at this path wait, those of all its processes."""
    return ledger.with_name(f"{ledger.name}.spool")


def read_bookings(path: Path) -> list[Booking]:
    """The bookings of one file; a line that is not one is skipped (its hold is then charged at its bound)."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:  # another process that starts now has booked it
        return []
    bookings = (_parse_booking(line) for line in text.splitlines())
    return [booking for booking in bookings if booking is not None]


def _format_booking(booking: Booking) -> str:
    cost = booking.settled
    values = [booking.hold_id, booking.basis, booking.now]
    return json.dumps([*values, cost.input_tokens, cost.output_tokens, cost.nanousd]) + "\n"


def _parse_booking(line: str) -> Booking | None:
    try:
        hold_id, basis, now, *cost = json.loads(line)
        booking = Booking(str(hold_id), str(basis), Settled(*map(int, cost)), float(now))
    except (ValueError, TypeError, OverflowError, RecursionError):
        return None
    return booking if math.isfinite(booking.now) and all(0 <= part <= COST_MAX for part in cost) else None


def _sanitize_file_name(text: str) -> str:
    return re.sub(r"[^\w~-]", "_", text)


def _flush_folder(folder: Path) -> None:
    """Makes the rename itself durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
