"""What one query reads of the truth, in one snapshot: the only place where text is had for a viewer."""

import json
import sqlite3
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from indexes import outbox
from indexes.embedding import vectors
from indexes.grants import SearchFilter, encode_instant
from indexes.types import Passage, Viewer

TITLES_MAX = 2_000

_STATE = "SELECT epoch, generation, drained FROM state"

_ALLOWED = "SELECT DISTINCT acl FROM acl_group WHERE name IN (SELECT value FROM json_each(?))"

_VISIBLE = """
    document.source IN (SELECT value FROM json_each(:sources))
    AND document.valid_from <= :now AND :now < document.ends
    AND (:any_language OR document.language IN (SELECT value FROM json_each(:languages)))
    AND EXISTS (
        SELECT 1 FROM acl_group WHERE acl_group.acl = document.acl
        AND acl_group.name IN (SELECT value FROM json_each(:groups))
    )
"""

_RECHECK = f"""
    SELECT passage.id, document.key, document.source, document.title, document.url, document.language,
           passage.headings, passage.text
    FROM json_each(:ids) AS wanted
    CROSS JOIN passage ON passage.id = wanted.value
    CROSS JOIN document ON document.id = passage.document
    WHERE {_VISIBLE}
"""

# CROSS JOIN keeps the order of the tables: from the viewer's group sets to documents, never through them all.
_SOURCES = f"""
    SELECT name.value FROM json_each(:sources) AS name
    WHERE EXISTS (
        SELECT 1 FROM acl_group AS held
        CROSS JOIN document ON document.source = name.value AND document.acl = held.acl
        WHERE held.name IN (SELECT value FROM json_each(:groups)) AND {_VISIBLE}
    )
"""

_TITLES = f"""
    SELECT DISTINCT document.title FROM acl_group AS held
    CROSS JOIN json_each(:sources) AS name
    CROSS JOIN document ON document.source = name.value AND document.acl = held.acl
    WHERE held.name IN (SELECT value FROM json_each(:groups)) AND {_VISIBLE} LIMIT {TITLES_MAX}
"""


@dataclass(frozen=True, slots=True)
class StoreState:
    """Where the truth stands. Derived indexes of another `epoch` are worthless."""

    epoch: str
    generation: int
    drained: int


class ReadSnapshot:
    """One read transaction. Not kept after it; every method blocks for a few hundred microseconds at most."""

    def __init__(self, connection: sqlite3.Connection):
        self._connection = connection

    def read_state(self) -> StoreState:
        return StoreState(*self._connection.execute(_STATE).fetchone())

    def find_acls(self, groups: Collection[str]) -> frozenset[int]:
        """Ids of the group sets of which `groups` holds a member."""
        rows = self._connection.execute(_ALLOWED, (_encode_names(groups),))
        return frozenset(acl for (acl,) in rows)

    def build_filter(self, viewer: Viewer) -> SearchFilter:
        """What the indexes are asked for `viewer`."""
        return SearchFilter(
            self.find_acls(viewer.groups), viewer.sources, encode_instant(viewer.now), viewer.languages
        )

    def recheck_passages(self, ids: Iterable[int], viewer: Viewer) -> dict[int, Passage]:
        """Those of `ids` that `viewer` may see now, with their text, whatever an index believed."""
        rows = self._connection.execute(_RECHECK, {"ids": json.dumps(list(ids)), **encode_viewer(viewer)})
        return {row[0]: Passage(*[*row[:6], tuple(json.loads(row[6])), row[7]]) for row in rows}

    def list_visible_sources(self, viewer: Viewer) -> frozenset[str]:
        """Sources in which `viewer` may see at least one document."""
        rows = self._connection.execute(_SOURCES, encode_viewer(viewer))
        return frozenset(name for (name,) in rows)

    def list_titles(self, viewer: Viewer) -> tuple[str, ...]:
        """Titles of documents that `viewer` may see, in order; where there are very many, only some."""
        return tuple(sorted(title for (title,) in self._connection.execute(_TITLES, encode_viewer(viewer))))

    def read_batch(self, after: int, limit: int) -> outbox.OutboxBatch:
        """The next changes, for an index that follows the truth."""
        return outbox.read_batch(self._connection, after, limit)

    def read_items(self, after: int, limit: int) -> tuple[outbox.OutboxItem, ...]:
        """The next passages by id, for an index that starts anew."""
        return outbox.read_items(self._connection, after, limit)

    def read_position(self) -> outbox.OutboxPosition:
        return outbox.read_position(self._connection)

    def read_vectors(self, model: str, hashes: Iterable[str]) -> dict[str, bytes]:
        """Half floats by hash of the embedded text, for those that have a vector of `model`."""
        return vectors.read_vectors(self._connection, model, hashes)


def encode_viewer(viewer: Viewer) -> dict[str, object]:
    """A viewer as the named parameters of these statements."""
    return {
        "groups": _encode_names(viewer.groups),
        "sources": _encode_names(viewer.sources),
        "languages": _encode_names(viewer.languages),
        "any_language": not viewer.languages,
        "now": encode_instant(viewer.now),
    }


def _encode_names(names: Collection[str]) -> str:
    return json.dumps(sorted(names))
