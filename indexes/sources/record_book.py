"""Record books in YAML: a list of typed, dated entries, read strictly."""

import hashlib
import re
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from indexes.sources.access import AccessStatement, UnindexableError, combine_access, parse_access_statement
from indexes.sources.front_matter import parse_safe_url
from indexes.sources.strict_yaml import YamlFault, YamlTable, load_yaml_list
from indexes.sources.types import SourceFault
from indexes.types import Access, PartialDate, Record

_KIND = re.compile(r"[a-z][a-z0-9_-]*")
_DATE = re.compile(r"\d{4}(?:-(?!00)\d\d(?:-(?!00)\d\d)?)?")
_TAG = re.compile(r"[a-z]{2,3}")


@dataclass(frozen=True, slots=True)
class BookFile:
    """A record book's file: a list of records, or a mapping of `records` and what holds for them all.

    A record has `kind`, `title` and `text` (a text, or texts by language), and may have `id, from, to,
    current, url, language, allowed_groups, valid_from, valid_to`. Dates are 2024, 2024-05 or 2024-05-01.
    """

    name: str
    path: Path


@dataclass(frozen=True, slots=True)
class BookContents:
    """What a file yields. `records` None: it could not be read at all, and what is stored stays."""

    records: tuple[Record, ...] | None
    faults: tuple[SourceFault, ...] = ()


def read_book(book: BookFile) -> BookContents:
    """Every valid record, and a fault with file and line for each that is not (blocking).

    A file that is no YAML yields no record: their access can no longer be established.
    """
    try:
        text = book.path.read_bytes().decode("utf-8")
    except OSError as fault:
        reason = f"cannot be read ({fault.strerror or fault}): what is stored of it stays as it is"
        return BookContents(None, (SourceFault(str(book.path), reason),))
    except UnicodeDecodeError:
        return BookContents((), (SourceFault(str(book.path), "is not UTF-8: its records are hidden"),))
    reading = _RecordBookReading(book)
    try:
        reading.read_records(text)
    except YamlFault as fault:
        return BookContents((), (reading.build_source_fault(fault, "its records are hidden"),))
    return BookContents(tuple(reading.records.values()), tuple(reading.faults))


def read_book_text(book: BookFile, text: str) -> BookContents:
    """The same for the text of a book that was pushed: JSON, which is YAML, or YAML itself."""
    reading = _RecordBookReading(book)
    try:
        reading.read_records(text)
    except YamlFault as fault:
        return BookContents(None, (reading.build_source_fault(fault, "nothing is taken"),))
    return BookContents(tuple(reading.records.values()), tuple(reading.faults))


class _RecordBookReading:
    """One pass over a file: valid records by id, and what is wrong with the others."""

    def __init__(self, book: BookFile):
        self.records: dict[str, Record] = {}
        self.faults: list[SourceFault] = []
        self._book = book
        self._duplicate_ids: set[str] = set()

    def read_records(self, text: str) -> None:
        listing = load_yaml_list(text, "records")
        common = parse_access_statement(listing.common) if listing.common else None
        if listing.common:
            listing.common.reject_unknown_keys()
        for node in listing.nodes:
            try:
                self._add_record(
                    _parse_record(self._book.name, YamlTable(node), common), node.start_mark.line + 1
                )
            except YamlFault as fault:
                self.faults.append(self.build_source_fault(fault, "this record is hidden"))

    def build_source_fault(self, fault: YamlFault, effect: str) -> SourceFault:
        return SourceFault(f"{self._book.path}:{fault.line}", f"{fault.text}: {effect}")

    def _add_record(self, record: Record, line: int) -> None:
        """Of two records with one id neither is kept: which one is meant cannot be known."""
        if record.id in self._duplicate_ids or record.id in self.records:
            self._duplicate_ids.add(record.id)
            self.records.pop(record.id, None)
            raise YamlFault(line, f"`{record.id}` stands in this book twice: give each an `id` of its own")
        self.records[record.id] = record


def _parse_record(book: str, table: YamlTable, common: AccessStatement | None) -> Record:
    statement = parse_access_statement(table).merge_defaults(common or AccessStatement())
    language = statement.language or "en"
    record = Record(
        id=f"{book}/{table.take_text('id') or _derive_record_id(table)}",
        book=book,
        kind=_parse_record_kind(table),
        title=_parse_language_texts(table, "title", language),
        text=_parse_language_texts(table, "text", language),
        access=_combine_record_access(table, statement),
        start=_parse_partial_date(table, "from"),
        end=_parse_partial_date(table, "to"),
        current=table.take_flag("current"),
        url=parse_safe_url(table),
    )
    table.reject_unknown_keys()
    if (
        record.start
        and record.end
        and _list_date_parts(record.end) < _list_date_parts(record.start)[: len(_list_date_parts(record.end))]
    ):
        raise table.build_key_fault("to", "lies before `from`")
    return record


def _derive_record_id(table: YamlTable) -> str:
    """An id that stays as long as kind and title do."""
    title = sorted(table.take_text_map("title", "").items())
    return f"{_parse_record_kind(table)}-{hashlib.sha256(repr(title).encode()).hexdigest()[:8]}"


def _parse_record_kind(table: YamlTable) -> str:
    kind = table.take_text("kind")
    if kind is None or not _KIND.fullmatch(kind):
        raise table.build_key_fault(
            "kind", f"want a kind of record as career or projects, got {kind or 'nothing'}"
        )
    return kind


def _parse_language_texts(table: YamlTable, name: str, language: str) -> dict[str, str]:
    texts = table.take_text_map(name, language)
    if not texts:
        raise table.build_key_fault(name, "is missing")
    strange = [tag for tag in texts if not _TAG.fullmatch(tag)]
    if strange:
        raise table.build_key_fault(name, f"want texts by language tag as en or fa, got {strange[0]:.20}")
    return texts


def _combine_record_access(table: YamlTable, statement: AccessStatement) -> Access:
    if not statement.groups:
        raise YamlFault(
            table.line, "no `allowed_groups` in the record nor for the whole book: nobody may see it"
        )
    try:
        return combine_access(None, statement)
    except UnindexableError as fault:
        raise YamlFault(table.line, str(fault)) from None


def _parse_partial_date(table: YamlTable, name: str) -> PartialDate | None:
    text = table.take_scalar(name)
    if text is None:
        return None
    if _DATE.fullmatch(text) is None:
        raise table.build_key_fault(name, f"want 2024, 2024-05 or 2024-05-01, got {text:.20}")
    partial = PartialDate(*map(int, text.split("-")))
    try:
        date(partial.year, partial.month or 1, partial.day or 1)
    except ValueError:
        raise table.build_key_fault(name, f"{text} is no date of the calendar") from None
    return partial


def _list_date_parts(date: PartialDate) -> tuple[int, ...]:
    return tuple(part for part in (date.year, date.month, date.day) if part is not None)
