"""Where the files of one deployment lie, below `server.data_dir`."""

from dataclasses import dataclass
from pathlib import Path

from proxy.settings.tree import Settings


@dataclass(frozen=True, slots=True)
class Paths:
    """One file or folder each."""

    store: Path
    lexical: Path
    ledger: Path
    keys: Path
    decisions: Path
    limits: Path


def paths(settings: Settings) -> Paths:
    """The paths of a deployment; nothing is created."""
    home = settings.server.data_dir
    return Paths(
        store=home / "truth.db",
        lexical=home / "lexical",
        ledger=home / "ledger.db",
        keys=home / "keys.db",
        decisions=home / "decisions.db",
        limits=home / "limits.db",
    )
