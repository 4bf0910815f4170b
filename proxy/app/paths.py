"""Where the files of one deployment lie, below `server.data_dir`."""

from dataclasses import dataclass
from pathlib import Path

from proxy.settings.tree import Settings


@dataclass(frozen=True, slots=True)
class DataPaths:
    """One file or folder each."""

    store: Path
    keyword_index: Path
    ledger: Path
    keys: Path
    decisions: Path
    limits: Path


def build_data_paths(settings: Settings) -> DataPaths:
    """The paths of a deployment; nothing is created."""
    home = settings.server.data_dir
    return DataPaths(
        store=home / "truth.db",
        keyword_index=home / "lexical",
        ledger=home / "ledger.db",
        keys=home / "keys.db",
        decisions=home / "decisions.db",
        limits=home / "limits.db",
    )
