"""The embedder that a run is asked to use."""

from argparse import Namespace
from pathlib import Path

from bench.quality.vectors import CachedEmbedder
from indexes.embedding.default_model import ensure_default_model
from indexes.progress import Progress


def open_embedder(options: Namespace, progress: Progress) -> CachedEmbedder:
    """The model of `--model`, its vectors kept in `--cache`; the default is built where it is missing."""
    folder = ensure_default_model(progress) if options.model == "auto" else Path(options.model)
    return CachedEmbedder(folder, options.cache)
