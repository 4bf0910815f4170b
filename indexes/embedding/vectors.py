"""Vectors in the truth, by model and text: passages of the same text share one, and none is made twice."""

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from indexes.document_writes import build_embedding_text, enqueue_passages
from indexes.embedding.vector_matrix import is_intact_vector

_MISSING = """
    SELECT passage.id, passage.hash, document.title, passage.headings, passage.text
    FROM passage JOIN document ON document.id = passage.document
    WHERE passage.id > ?
    AND NOT EXISTS (SELECT 1 FROM vector WHERE vector.model = ? AND vector.hash = passage.hash)
    ORDER BY passage.id LIMIT ?
"""

_COUNT = """
    SELECT count(*) FROM passage
    WHERE NOT EXISTS (SELECT 1 FROM vector WHERE vector.model = ? AND vector.hash = passage.hash)
"""

_VECTORS = """
    SELECT hash, half_floats FROM vector
    WHERE model = ? AND hash IN (SELECT value FROM json_each(?))
"""

_STRAY = "DELETE FROM vector WHERE hash NOT IN (SELECT hash FROM passage)"


@dataclass(frozen=True, slots=True)
class UnembeddedPassage:
    """A passage without a vector: what to embed, and the hash to keep the vector under."""

    id: int
    hash: str
    text: str


def list_unembedded(
    connection: sqlite3.Connection, model: str, after: int, limit: int
) -> tuple[UnembeddedPassage, ...]:
    """The next `limit` passages with ids after `after` that have no vector of `model`."""
    rows = connection.execute(_MISSING, (after, model, limit))
    return tuple(
        UnembeddedPassage(passage, hashed, build_embedding_text(title, json.loads(headings), text))
        for passage, hashed, title, headings, text in rows
    )


def count_unembedded(connection: sqlite3.Connection, model: str) -> int:
    return int(connection.execute(_COUNT, (model,)).fetchone()[0])


def read_vectors(connection: sqlite3.Connection, model: str, hashes: Iterable[str]) -> dict[str, bytes]:
    """Half floats by hash, for those of `hashes` that have a vector of `model`."""
    rows = connection.execute(_VECTORS, (model, json.dumps(sorted(set(hashes)))))
    return dict(rows.fetchall())


def save_vectors(connection: sqlite3.Connection, model: str, blobs: Mapping[str, bytes]) -> None:
    """Keeps half floats by hash and tells the indexes which passages have them now."""
    rows = [(model, hashed, blob) for hashed, blob in blobs.items()]
    connection.executemany("INSERT OR REPLACE INTO vector VALUES (?, ?, ?)", rows)
    statement = "SELECT id FROM passage WHERE hash IN (SELECT value FROM json_each(?))"
    passages = connection.execute(statement, (json.dumps(sorted(blobs)),))
    enqueue_passages(connection, [passage for (passage,) in passages])


def list_damaged(connection: sqlite3.Connection, model: str, dim: int) -> list[str]:
    """Hashes of passages whose vector of `model` is none of `dim` numbers. Reads all of them."""
    rows = connection.execute("SELECT hash, half_floats FROM vector WHERE model = ?", (model,))
    return [hashed for hashed, blob in rows if not is_intact_vector(blob, dim)]


def delete_vectors(connection: sqlite3.Connection, model: str, hashes: Sequence[str]) -> None:
    """Deletes vectors: they lack now, and are made again."""
    rows = ((model, hashed) for hashed in hashes)
    connection.executemany("DELETE FROM vector WHERE model = ? AND hash = ?", rows)


def prune_vectors(connection: sqlite3.Connection) -> int:
    """Deletes vectors of texts that are gone. How many."""
    return connection.execute(_STRAY).rowcount
