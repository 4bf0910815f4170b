"""What a process has used of the machine: processor time, which busy neighbours do not lengthen, and memory.

Read from `/proc` and `getrusage` as Linux has them.
"""

import os
import resource
import time
from pathlib import Path

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def read_own_cpu_s() -> float:
    """User and system seconds of this process, all its threads, to the microsecond and finer."""
    return time.process_time()


def read_cpu_s(pid: int) -> float:
    """User and system seconds of another process, in whole ticks (mostly 10 ms)."""
    stat = Path(f"/proc/{pid}/stat").read_text()
    fields = stat.rpartition(")")[2].split()  # the program's name before it may hold blanks
    return (int(fields[11]) + int(fields[12])) / _TICKS_PER_S


def read_memory_mb(pid: int) -> float:
    """What a process holds in RAM now."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * _PAGE_BYTES / 1e6


def read_peak_mb() -> float:
    """The most that this process has ever held in RAM, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
