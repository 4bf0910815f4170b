"""The embedder that a run is asked to use."""

from argparse import Namespace
from pathlib import Path

from indexes.model import ensure
from indexes.progress import Progress

from .vectors import Remembered


def remembered(options: Namespace, progress: Progress) -> Remembered:
    """The model of `--model`, its vectors kept in `--cache`; the default is built where it is missing."""
    folder = ensure(progress) if options.model == "auto" else Path(options.model)
    return Remembered(folder, options.cache)
