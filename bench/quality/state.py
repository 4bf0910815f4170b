"""A long run: its state, one JSON line a question, so that one broken off goes on where it stopped."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import config
import indexes
from bench.quality.vectors import CachedEmbedder
from indexes.progress import Progress


class RunState:
    """Rows by question id, appended to a file that a finished run removes.

    Its name holds a hash of `terms` and of the code that answers: rows of other code are never taken up.
    """

    def __init__(self, folder: Path, part: str, terms: Iterable[object]):
        folder.mkdir(parents=True, exist_ok=True)
        identity = json.dumps([str(term) for term in terms]) + _hash_code()
        self._path = folder / f"{part}-{hashlib.sha256(identity.encode()).hexdigest()[:16]}.jsonl"
        self.rows: dict[str, dict[str, Any]] = {}

    def __enter__(self) -> Self:
        if self._path.exists():
            for line in self._path.read_text("utf-8").splitlines():
                if line.endswith("}"):  # the last one may be torn
                    row = json.loads(line)
                    self.rows[row["id"]] = row
        self._file = self._path.open("w", encoding="utf-8")  # written anew, without a torn line
        for row in self.rows.values():
            self._write_row(row)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
        if kind is None:
            self._path.unlink()

    def add_row(self, row: dict[str, Any]) -> None:
        """Keeps a finished row (with its `id`)."""
        self.rows[row["id"]] = row
        self._write_row(row)

    def _write_row(self, row: dict[str, Any]) -> None:
        self._file.write(json.dumps(row, ensure_ascii=False) + "\n")
        self._file.flush()


@dataclass(frozen=True, slots=True)
class RunContext:
    """What every question of a run needs beside its collection."""

    embedder: CachedEmbedder
    state: RunState
    progress: Progress


def _hash_code() -> str:
    """A hash of all that decides what is found."""
    digest = hashlib.sha256()
    for package in (indexes, config):
        for path in sorted(Path(package.__path__[0]).rglob("*")):
            if path.suffix in (".py", ".toml"):
                digest.update(path.read_bytes())
    return digest.hexdigest()
