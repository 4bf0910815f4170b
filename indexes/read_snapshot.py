"""What one query reads of the truth, in one snapshot: the only place where text is had for a viewer."""

import json
import sqlite3
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from indexes import outbox
from indexes.embedding import vectors
from indexes.grants import Filter, instant
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
class State:
    """Where the truth stands. Derived indexes of another `epoch` are worthless."""

    epoch: str
    generation: int
    drained: int


class Look:
    """One read transaction. Not kept after it; every method blocks for a few hundred microseconds at most."""

    def __init__(self, connection: sqlite3.Connection):
        self._connection = connection

    def state(self) -> State:
        return State(*self._connection.execute(_STATE).fetchone())

    def allowed(self, groups: Collection[str]) -> frozenset[int]:
        """Ids of the group sets of which `groups` holds a member."""
        rows = self._connection.execute(_ALLOWED, (_json(groups),))
        return frozenset(acl for (acl,) in rows)

    def filter(self, viewer: Viewer) -> Filter:
        """What the indexes are asked for `viewer`."""
        return Filter(self.allowed(viewer.groups), viewer.sources, instant(viewer.now), viewer.languages)

    def recheck(self, ids: Iterable[int], viewer: Viewer) -> dict[int, Passage]:
        """Those of `ids` that `viewer` may see now, with their text, whatever an index believed."""
        rows = self._connection.execute(_RECHECK, {"ids": json.dumps(list(ids)), **terms(viewer)})
        return {row[0]: Passage(*[*row[:6], tuple(json.loads(row[6])), row[7]]) for row in rows}

    def visible_sources(self, viewer: Viewer) -> frozenset[str]:
        """Sources in which `viewer` may see at least one document."""
        rows = self._connection.execute(_SOURCES, terms(viewer))
        return frozenset(name for (name,) in rows)

    def titles(self, viewer: Viewer) -> tuple[str, ...]:
        """Titles of documents that `viewer` may see, in order; where there are very many, only some."""
        return tuple(sorted(title for (title,) in self._connection.execute(_TITLES, terms(viewer))))

    def batch(self, after: int, limit: int) -> outbox.Batch:
        """The next changes, for an index that follows the truth."""
        return outbox.batch(self._connection, after, limit)

    def everything(self, after: int, limit: int) -> tuple[outbox.Item, ...]:
        """The next passages by id, for an index that starts anew."""
        return outbox.everything(self._connection, after, limit)

    def place(self) -> outbox.Place:
        return outbox.place(self._connection)

    def vectors(self, model: str, hashes: Iterable[str]) -> dict[str, bytes]:
        """Half floats by hash of the embedded text, for those that have a vector of `model`."""
        return vectors.of(self._connection, model, hashes)


def terms(viewer: Viewer) -> dict[str, object]:
    """A viewer as the named parameters of these statements."""
    return {
        "groups": _json(viewer.groups),
        "sources": _json(viewer.sources),
        "languages": _json(viewer.languages),
        "any_language": not viewer.languages,
        "now": instant(viewer.now),
    }


def _json(names: Collection[str]) -> str:
    return json.dumps(sorted(names))
