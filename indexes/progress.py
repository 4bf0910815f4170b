"""Progress of long work: told by a function, shown as a bar on a terminal and as lines elsewhere."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

Progress = Callable[[str, float], None]
"""Told the step under way and its share done, 0..1."""


def ignore_progress(step: str, done: float) -> None:
    """Shows nothing."""


@contextmanager
def show_progress() -> Iterator[Progress]:
    """Shows steps on standard error: bars on a terminal, else one line a step."""
    if not sys.stderr.isatty():
        yield _ProgressLines()
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Bars(*columns, console=Console(stderr=True)) as bars:
        yield _ProgressBars(bars)


class _ProgressLines:
    def __init__(self) -> None:
        self.step = ""

    def __call__(self, step: str, done: float) -> None:
        if step != self.step:
            print(f"{step} …", file=sys.stderr, flush=True)
        self.step = step


class _ProgressBars:
    def __init__(self, bars: Bars) -> None:
        self.bars = bars

    def __call__(self, step: str, done: float) -> None:
        tasks = {task.description: task.id for task in self.bars.tasks}
        if step not in tasks:
            for task in tasks.values():  # a new step: those before it are done
                self.bars.update(task, completed=1.0)
            tasks[step] = self.bars.add_task(step, total=1.0)
        self.bars.update(tasks[step], completed=done)
