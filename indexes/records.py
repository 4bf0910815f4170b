"""Records: the subject's own dated facts, chosen by rule and never by similarity."""

import json
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from indexes import document_writes
from indexes.grants import encode_instant
from indexes.read_snapshot import encode_viewer
from indexes.store import Store
from indexes.types import PartialDate, Record, Viewer

CURRENT_MARKS = {
    "en": "current",
    "fa": "در حال حاضر",
    "es": "actual",
    "pt": "atual",
    "fr": "en cours",
    "de": "aktuell",
    "ru": "в настоящее время",
    "ar": "حالي",
    "hi": "वर्तमान",
    "zh": "目前",
}
"""How a record of today is marked in its text, by language."""

_COLUMNS = "key, book, kind, title, text, url, begun, ended, current, acl, valid_from, valid_to"

_SELECT_RECORDS = """
    SELECT key, book, kind, title, text, url, begun, ended, current, groups, valid_from, valid_to
    FROM record JOIN acl ON acl.id = record.acl
    WHERE book IN (SELECT value FROM json_each(:sources))
    AND (:any_kind OR kind IN (SELECT value FROM json_each(:kinds)))
    AND valid_from <= :now AND :now < valid_to
    AND EXISTS (
        SELECT 1 FROM acl_group WHERE acl_group.acl = record.acl
        AND acl_group.name IN (SELECT value FROM json_each(:groups))
    )
    ORDER BY current DESC, coalesce(ended, begun, '') DESC, coalesce(begun, '') DESC, key
    LIMIT :limit
"""


class RecordStore:
    """Implements `types.RecordFinder` over the truth."""

    def __init__(self, store: Store):
        self._store = store

    async def choose_records(
        self, kinds: frozenset[str], viewer: Viewer, language: str, limit: int
    ) -> tuple[Record, ...]:
        """Records of `kinds` (empty: every kind) that `viewer` may see now: current ones, then newest first.

        Titles and texts are cut down to one language: `language` where there is a translation.
        """
        parameters = {
            **encode_viewer(viewer),
            "kinds": json.dumps(sorted(kinds)),
            "any_kind": not kinds,
            "limit": limit,
        }
        rows = await self._store.run_read(
            lambda connection: connection.execute(_SELECT_RECORDS, parameters).fetchall()
        )
        return tuple(_localize_record(_parse_record_row(row), language) for row in rows)

    async def list_kinds(self) -> tuple[tuple[str, str], ...]:
        """Every book with each kind of record that it holds, whoever may see them."""
        statement = "SELECT DISTINCT book, kind FROM record ORDER BY book, kind"
        return tuple(await self._store.run_read(lambda connection: connection.execute(statement).fetchall()))

    async def replace_book(self, book: str, records: Collection[Record]) -> bool:
        """Replaces all records of a book in one transaction. False: nothing has changed."""
        return await self._store.run_write(lambda connection: _replace_book_rows(connection, book, records))


def render_record(record: Record, language: str) -> str:
    """The record as a text to hand over: title, dates as exactly as they are known, whether current, text."""
    tag = choose_language_tag(record.text, language)
    dates = format_record_dates(record)
    mark = CURRENT_MARKS.get(tag, CURRENT_MARKS["en"]) if record.current else ""
    when = f"{dates} ({mark})" if dates and mark else dates or mark
    title = record.title[choose_language_tag(record.title, language)]
    return "\n".join(part for part in (title, when, record.text[tag]) if part)


def _localize_record(record: Record, language: str) -> Record:
    in_title, in_text = (choose_language_tag(texts, language) for texts in (record.title, record.text))
    return replace(record, title={in_title: record.title[in_title]}, text={in_text: record.text[in_text]})


def format_record_dates(record: Record) -> str:
    """`2021-05 – 2024`, `2021-05 –` where a current one has no end, or a single date."""
    begun, ended = (date and format_partial_date(date) for date in (record.start, record.end))
    if begun and (ended or record.current):
        return f"{begun} – {ended or ''}".rstrip()
    return begun or ended or ""


def format_partial_date(date: PartialDate) -> str:
    """2024, 2024-05 or 2024-05-01: ISO 8601 at the date's own precision."""
    parts = [f"{date.year:04}"] + [f"{part:02}" for part in (date.month, date.day) if part is not None]
    return "-".join(parts)


def choose_language_tag(texts: Mapping[str, str], language: str) -> str:
    """The tag to read `texts` in: the reader's language, else English, else the first there is."""
    return next((tag for tag in (language, "en") if tag in texts), min(texts))


def _replace_book_rows(connection: sqlite3.Connection, book: str, records: Collection[Record]) -> bool:
    old = connection.execute(f"SELECT {_COLUMNS} FROM record WHERE book = ? ORDER BY key", (book,)).fetchall()
    new = sorted(_build_record_row(connection, record) for record in records)
    if old == new:
        return False
    connection.execute("DELETE FROM record WHERE book = ?", (book,))
    placeholders = ", ".join("?" * len(_COLUMNS.split(", ")))
    connection.executemany(f"INSERT INTO record ({_COLUMNS}) VALUES ({placeholders})", new)
    document_writes.advance_generation(connection)
    return True


def _build_record_row(connection: sqlite3.Connection, record: Record) -> tuple[object, ...]:
    return (
        record.id,
        record.book,
        record.kind,
        _encode_texts(record.title),
        _encode_texts(record.text),
        record.url,
        record.start and format_partial_date(record.start),
        record.end and format_partial_date(record.end),
        int(record.current),
        document_writes.intern_groups(connection, record.access.groups),
        encode_instant(record.access.valid_from),
        encode_instant(record.access.valid_to),
    )


def _parse_record_row(row: Sequence[Any]) -> Record:
    key, book, kind, title, text, url, begun, ended, current, *visibility = row
    return Record(
        id=key,
        book=book,
        kind=kind,
        title=json.loads(title),
        text=json.loads(text),
        access=document_writes.decode_access(*visibility),
        start=_parse_stored_date(begun),
        end=_parse_stored_date(ended),
        current=bool(current),
        url=url,
    )


def _parse_stored_date(text: str | None) -> PartialDate | None:
    return PartialDate(*map(int, text.split("-"))) if text else None


def _encode_texts(texts: Mapping[str, str]) -> str:
    return json.dumps(dict(sorted(texts.items())), ensure_ascii=False)
