"""Who owns a hold: a process that can be told from every other one, also after a reboot."""

import os
import re
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Self

PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Owner:
    """`boot` and `space` (the process-id namespace) say where `pid` and `started` (its ticks) mean anything.

    Without /proc nothing can be known of another process: `boot` is then empty, and only expiry ends holds.
    """

    boot: str
    space: str
    pid: int
    started: str

    @classmethod
    def read_current(cls) -> Self:
        """The owner that this process is."""
        pid = os.getpid()
        try:
            return cls(_read_boot_id(), _read_pid_namespace(), pid, _read_start_ticks(pid) or "")
        except OSError:
            return cls("", secrets.token_hex(8), pid, "")  # random, so that no other process is taken for it

    @classmethod
    def parse(cls, text: str) -> Self:
        """The inverse of `str`. Raises ValueError."""
        boot, space, pid, started = text.split("~")
        return cls(boot, space, int(pid), started)

    def __str__(self) -> str:
        return f"{self.boot}~{self.space}~{self.pid}~{self.started}"

    def is_dead(self, observer: "Owner") -> bool:
        """True only where it is certain, seen from the process `observer`."""
        if not self.boot or not observer.boot:
            return False
        if self.boot != observer.boot:
            return True
        return self.space == observer.space and _read_start_ticks(self.pid) != self.started


def _read_boot_id() -> str:
    return (PROC / "sys/kernel/random/boot_id").read_text().strip()


def _read_pid_namespace() -> str:
    return re.sub(r"\D", "", os.readlink(PROC / "self/ns/pid"))


def _read_start_ticks(pid: int) -> str | None:
    """Start time in ticks since boot (proc_pid_stat(5), field 22); None: no such process, or it has ended."""
    try:
        stat = (PROC / str(pid) / "stat").read_text()
    except OSError:
        return None
    # The name in parentheses may hold anything, so the fields are counted from behind it.
    fields = stat[stat.rindex(")") + 2 :].split()
    return None if fields[0] in "ZX" else fields[19]
