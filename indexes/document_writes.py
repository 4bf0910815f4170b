"""Writes documents and passages inside a transaction of the truth; says what the indexes must redo."""

import hashlib
import json
import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Literal

from indexes.chunks import VERSION, Chunk
from indexes.grants import FOREVER, instant, moment
from indexes.types import Access, Document

Change = Literal["added", "changed", "access", "unchanged"]


@dataclass(frozen=True, slots=True)
class _Row:
    """A line of `document`; the names are its columns."""

    id: int
    key: str
    source: str
    title: str
    url: str | None
    language: str | None
    supersedes: str | None
    digest: str
    acl: int
    valid_from: int
    valid_to: int
    ends: int

    def holds(self, new: Mapping[str, object]) -> bool:
        return all(getattr(self, name) == value for name, value in new.items())


_UPSERT = """
    INSERT INTO document
        (key, source, title, url, language, supersedes, digest, acl, valid_from, valid_to, ends)
    VALUES (:key, :source, :title, :url, :language, :supersedes, :digest,
        :acl, :valid_from, :valid_to, :valid_to)
    ON CONFLICT (key) DO UPDATE SET source = :source, title = :title, url = :url, language = :language,
        supersedes = :supersedes, digest = :digest, acl = :acl, valid_from = :valid_from, valid_to = :valid_to
"""

_NEW = "INSERT INTO passage (document, place, key, headings, text, hash) VALUES (?, ?, ?, ?, ?, ?)"

_ENDS = "UPDATE document SET ends = ? WHERE id = ?"

_COLUMNS = ", ".join(field.name for field in fields(_Row))

_SUCCESSOR = "SELECT min(valid_from) FROM document WHERE supersedes = ? AND key != ?"


def put(connection: sqlite3.Connection, document: Document, chunks: Sequence[Chunk]) -> Change:
    """Writes a document whole. Passages of unchanged text keep their ids; all others are new or gone."""
    old = _row(connection, document.id)
    new = _columns(connection, document)
    if old is not None and old.holds(new):
        return "unchanged"
    connection.execute(_UPSERT, new)
    row = _row(connection, document.id)
    assert row is not None
    touched = _passages(connection, row.id, document.title, chunks)
    if old is not None:
        touched |= _ids(connection, row.id)
    heirs = {document.id, document.supersedes, old.supersedes if old else None}
    changed(connection, touched | _settle_ends(connection, heirs))
    if old is None:
        return "added"
    return "changed" if old.digest != new["digest"] else "access"


def set_access(connection: sqlite3.Connection, key: str, access: Access) -> bool:
    """Changes who may see a document, and when; nothing else. False: there is none, or it is so already."""
    old = _row(connection, key)
    new = _access(connection, access)
    if old is None or old.holds(new):
        return False
    connection.execute(
        "UPDATE document SET acl = :acl, valid_from = :valid_from, valid_to = :valid_to WHERE id = :id",
        {**new, "id": old.id},
    )
    changed(connection, _ids(connection, old.id) | _settle_ends(connection, {key, old.supersedes}))
    return True


def hide(connection: sqlite3.Connection, keys: Collection[str]) -> int:
    """Takes every group from documents whose access is in doubt; text and validity stay. How many changed."""
    nobody = intern(connection, frozenset())
    hidden = 0
    touched: set[int] = set()
    for key in keys:
        old = _row(connection, key)
        if old is not None and old.acl != nobody:
            connection.execute("UPDATE document SET acl = ? WHERE id = ?", (nobody, old.id))
            touched |= _ids(connection, old.id)
            hidden += 1
    if hidden:
        changed(connection, touched)
    return hidden


def remove(connection: sqlite3.Connection, key: str) -> bool:
    """Deletes a document and its passages; a predecessor lives on to its own end. False: there was none."""
    old = _row(connection, key)
    if old is None:
        return False
    touched = _ids(connection, old.id)
    connection.execute("DELETE FROM document WHERE id = ?", (old.id,))
    changed(connection, touched | _settle_ends(connection, {old.supersedes}))
    return True


def intern(connection: sqlite3.Connection, groups: frozenset[str]) -> int:
    """The id of a set of groups: the same set, the same id."""
    name = json.dumps(sorted(groups))
    row = connection.execute("SELECT id FROM acl WHERE groups = ?", (name,)).fetchone()
    if row is not None:
        return int(row[0])
    acl = connection.execute("INSERT INTO acl (groups) VALUES (?)", (name,)).lastrowid
    connection.executemany("INSERT INTO acl_group VALUES (?, ?)", [(acl, group) for group in sorted(groups)])
    assert acl is not None
    return acl


def moved(connection: sqlite3.Connection) -> None:
    """Moves the generation: whoever derives something from the truth looks again."""
    connection.execute("UPDATE state SET generation = generation + 1")


def digest(document: Document) -> str:
    """Of all that makes a document's passages, the way of cutting included; not of its access."""
    parts = [document.source, document.title, document.url, document.language, document.supersedes]
    return hashlib.sha256(json.dumps([VERSION, *parts, document.text]).encode()).hexdigest()


def embedded(title: str, headings: Sequence[str], text: str) -> str:
    """The text that a passage's vector is made of."""
    return " › ".join(dict.fromkeys(part for part in (title, *headings, text) if part))


def text_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _row(connection: sqlite3.Connection, key: str) -> _Row | None:
    row = connection.execute(f"SELECT {_COLUMNS} FROM document WHERE key = ?", (key,)).fetchone()
    return None if row is None else _Row(*row)


def _access(connection: sqlite3.Connection, access: Access) -> dict[str, int]:
    return {
        "acl": intern(connection, access.groups),
        "valid_from": instant(access.valid_from),
        "valid_to": instant(access.valid_to),
    }


def _columns(connection: sqlite3.Connection, document: Document) -> dict[str, int | str | None]:
    return {
        "key": document.id,
        "source": document.source,
        "title": document.title,
        "url": document.url,
        "language": document.language,
        "supersedes": document.supersedes,
        "digest": digest(document),
        **_access(connection, document.access),
    }


def _passages(connection: sqlite3.Connection, document: int, title: str, chunks: Sequence[Chunk]) -> set[int]:
    """Brings the passages of a document up to `chunks`; ids of those written anew or deleted."""
    rows = connection.execute("SELECT key, id FROM passage WHERE document = ?", (document,))
    old: dict[str, int] = dict(rows.fetchall())
    touched: set[int] = set()
    for place, chunk in enumerate(chunks):
        hashed = text_hash(embedded(title, chunk.headings, chunk.text))
        passage = old.pop(chunk.key, None)
        if passage is None:
            above = json.dumps(chunk.headings)
            touched.add(_insert(connection, document, place, chunk.key, above, chunk.text, hashed))
        else:
            connection.execute(
                "UPDATE passage SET place = ?, hash = ? WHERE id = ?", (place, hashed, passage)
            )
    connection.executemany("DELETE FROM passage WHERE id = ?", [(passage,) for passage in old.values()])
    return touched | set(old.values())


def _insert(connection: sqlite3.Connection, *values: object) -> int:
    passage = connection.execute(_NEW, values).lastrowid
    assert passage is not None
    return passage


def _settle_ends(connection: sqlite3.Connection, keys: Iterable[str | None]) -> set[int]:
    """Ends documents where their first successor begins; ids of passages of those whose end moved."""
    touched: set[int] = set()
    for key in keys:
        row = _row(connection, key) if key else None
        if row is None:
            continue
        (begins,) = connection.execute(_SUCCESSOR, (key, key)).fetchone()
        ends = min(row.valid_to, FOREVER if begins is None else begins)
        if ends != row.ends:
            connection.execute(_ENDS, (ends, row.id))
            touched |= _ids(connection, row.id)
    return touched


def _ids(connection: sqlite3.Connection, document: int) -> set[int]:
    rows = connection.execute("SELECT id FROM passage WHERE document = ?", (document,))
    return {passage for (passage,) in rows}


def changed(connection: sqlite3.Connection, passages: Iterable[int]) -> None:
    """Puts passages on the list of what the indexes must look at again, and moves the generation."""
    connection.executemany("INSERT INTO outbox (passage) VALUES (?)", [(p,) for p in sorted(passages)])
    moved(connection)


def access(groups: str, valid_from: int, valid_to: int) -> Access:
    """What the columns of a document or record say."""
    begins = moment(valid_from)
    assert begins is not None
    return Access(frozenset(json.loads(groups)), begins, moment(valid_to))
