"""Writes documents and passages inside a transaction of the truth; says what the indexes must redo."""

import hashlib
import json
import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Literal

from indexes.chunks import CHUNKING_VERSION, Chunk
from indexes.grants import FOREVER, decode_instant, encode_instant
from indexes.types import Access, Document

DocumentChange = Literal["added", "changed", "access", "unchanged"]


@dataclass(frozen=True, slots=True)
class _DocumentRow:
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

    def has_values(self, new: Mapping[str, object]) -> bool:
        return all(getattr(self, name) == value for name, value in new.items())


_UPSERT = """
    INSERT INTO document
        (key, source, title, url, language, supersedes, digest, acl, valid_from, valid_to, ends)
    VALUES (:key, :source, :title, :url, :language, :supersedes, :digest,
        :acl, :valid_from, :valid_to, :valid_to)
    ON CONFLICT (key) DO UPDATE SET source = :source, title = :title, url = :url, language = :language,
        supersedes = :supersedes, digest = :digest, acl = :acl, valid_from = :valid_from, valid_to = :valid_to
"""

_INSERT_PASSAGE = "INSERT INTO passage (document, place, key, headings, text, hash) VALUES (?, ?, ?, ?, ?, ?)"

_SET_ENDS = "UPDATE document SET ends = ? WHERE id = ?"

_COLUMNS = ", ".join(field.name for field in fields(_DocumentRow))

_SUCCESSOR = "SELECT min(valid_from) FROM document WHERE supersedes = ? AND key != ?"


def put_document(
    connection: sqlite3.Connection, document: Document, chunks: Sequence[Chunk]
) -> DocumentChange:
    """Writes a document whole. Passages of unchanged text keep their ids; all others are new or gone."""
    old = _read_document_row(connection, document.id)
    new = _encode_document(connection, document)
    if old is not None and old.has_values(new):
        return "unchanged"
    connection.execute(_UPSERT, new)
    row = _read_document_row(connection, document.id)
    assert row is not None
    touched = _write_passages(connection, row.id, document.title, chunks)
    if old is not None:
        touched |= _list_passage_ids(connection, row.id)
    affected = {document.id, document.supersedes, old.supersedes if old else None}
    enqueue_passages(connection, touched | _update_ends(connection, affected))
    if old is None:
        return "added"
    return "changed" if old.digest != new["digest"] else "access"


def set_access(connection: sqlite3.Connection, key: str, access: Access) -> bool:
    """Changes who may see a document, and when; nothing else. False: there is none, or it is so already."""
    old = _read_document_row(connection, key)
    new = _encode_access(connection, access)
    if old is None or old.has_values(new):
        return False
    connection.execute(
        "UPDATE document SET acl = :acl, valid_from = :valid_from, valid_to = :valid_to WHERE id = :id",
        {**new, "id": old.id},
    )
    enqueue_passages(
        connection, _list_passage_ids(connection, old.id) | _update_ends(connection, {key, old.supersedes})
    )
    return True


def hide_documents(connection: sqlite3.Connection, keys: Collection[str]) -> int:
    """Takes every group from documents whose access is in doubt; text and validity stay. How many changed."""
    nobody = intern_groups(connection, frozenset())
    hidden = 0
    touched: set[int] = set()
    for key in keys:
        old = _read_document_row(connection, key)
        if old is not None and old.acl != nobody:
            connection.execute("UPDATE document SET acl = ? WHERE id = ?", (nobody, old.id))
            touched |= _list_passage_ids(connection, old.id)
            hidden += 1
    if hidden:
        enqueue_passages(connection, touched)
    return hidden


def remove_document(connection: sqlite3.Connection, key: str) -> bool:
    """Deletes a document and its passages; a predecessor lives on to its own end. False: there was none."""
    old = _read_document_row(connection, key)
    if old is None:
        return False
    touched = _list_passage_ids(connection, old.id)
    connection.execute("DELETE FROM document WHERE id = ?", (old.id,))
    enqueue_passages(connection, touched | _update_ends(connection, {old.supersedes}))
    return True


def intern_groups(connection: sqlite3.Connection, groups: frozenset[str]) -> int:
    """The id of a set of groups: the same set, the same id."""
    encoded = json.dumps(sorted(groups))
    row = connection.execute("SELECT id FROM acl WHERE groups = ?", (encoded,)).fetchone()
    if row is not None:
        return int(row[0])
    acl = connection.execute("INSERT INTO acl (groups) VALUES (?)", (encoded,)).lastrowid
    connection.executemany("INSERT INTO acl_group VALUES (?, ?)", [(acl, group) for group in sorted(groups)])
    assert acl is not None
    return acl


def advance_generation(connection: sqlite3.Connection) -> None:
    """Moves the generation: whoever derives something from the truth looks again."""
    connection.execute("UPDATE state SET generation = generation + 1")


def compute_digest(document: Document) -> str:
    """Of all that makes a document's passages, the way of cutting included; not of its access."""
    parts = [document.source, document.title, document.url, document.language, document.supersedes]
    return hashlib.sha256(json.dumps([CHUNKING_VERSION, *parts, document.text]).encode()).hexdigest()


def build_embedding_text(title: str, headings: Sequence[str], text: str) -> str:
    """The text that a passage's vector is made of."""
    return " › ".join(dict.fromkeys(part for part in (title, *headings, text) if part))


def hash_text(text: str) -> str:
    """The key of a text's vector: 128 bits of its SHA-256, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _read_document_row(connection: sqlite3.Connection, key: str) -> _DocumentRow | None:
    row = connection.execute(f"SELECT {_COLUMNS} FROM document WHERE key = ?", (key,)).fetchone()
    return None if row is None else _DocumentRow(*row)


def _encode_access(connection: sqlite3.Connection, access: Access) -> dict[str, int]:
    return {
        "acl": intern_groups(connection, access.groups),
        "valid_from": encode_instant(access.valid_from),
        "valid_to": encode_instant(access.valid_to),
    }


def _encode_document(connection: sqlite3.Connection, document: Document) -> dict[str, int | str | None]:
    return {
        "key": document.id,
        "source": document.source,
        "title": document.title,
        "url": document.url,
        "language": document.language,
        "supersedes": document.supersedes,
        "digest": compute_digest(document),
        **_encode_access(connection, document.access),
    }


def _write_passages(
    connection: sqlite3.Connection, document: int, title: str, chunks: Sequence[Chunk]
) -> set[int]:
    """Brings the passages of a document up to `chunks`; ids of those written anew or deleted."""
    rows = connection.execute("SELECT key, id FROM passage WHERE document = ?", (document,))
    old: dict[str, int] = dict(rows.fetchall())
    touched: set[int] = set()
    for place, chunk in enumerate(chunks):
        hashed = hash_text(build_embedding_text(title, chunk.headings, chunk.text))
        passage = old.pop(chunk.key, None)
        if passage is None:
            headings = json.dumps(chunk.headings)
            touched.add(_insert_passage(connection, document, place, chunk.key, headings, chunk.text, hashed))
        else:
            connection.execute(
                "UPDATE passage SET place = ?, hash = ? WHERE id = ?", (place, hashed, passage)
            )
    connection.executemany("DELETE FROM passage WHERE id = ?", [(passage,) for passage in old.values()])
    return touched | set(old.values())


def _insert_passage(connection: sqlite3.Connection, *values: object) -> int:
    passage = connection.execute(_INSERT_PASSAGE, values).lastrowid
    assert passage is not None
    return passage


def _update_ends(connection: sqlite3.Connection, keys: Iterable[str | None]) -> set[int]:
    """Ends documents where their first successor begins; ids of passages of those whose end moved."""
    touched: set[int] = set()
    for key in keys:
        row = _read_document_row(connection, key) if key else None
        if row is None:
            continue
        (begins,) = connection.execute(_SUCCESSOR, (key, key)).fetchone()
        ends = min(row.valid_to, FOREVER if begins is None else begins)
        if ends != row.ends:
            connection.execute(_SET_ENDS, (ends, row.id))
            touched |= _list_passage_ids(connection, row.id)
    return touched


def _list_passage_ids(connection: sqlite3.Connection, document: int) -> set[int]:
    rows = connection.execute("SELECT id FROM passage WHERE document = ?", (document,))
    return {passage for (passage,) in rows}


def enqueue_passages(connection: sqlite3.Connection, passages: Iterable[int]) -> None:
    """Puts passages on the list of what the indexes must look at again, and moves the generation."""
    connection.executemany("INSERT INTO outbox (passage) VALUES (?)", [(p,) for p in sorted(passages)])
    advance_generation(connection)


def decode_access(groups: str, valid_from: int, valid_to: int) -> Access:
    """What the columns of a document or record say."""
    begins = decode_instant(valid_from)
    assert begins is not None
    return Access(frozenset(json.loads(groups)), begins, decode_instant(valid_to))
