"""Record books in YAML: a list of typed, dated entries, read strictly."""

import hashlib
import re
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from indexes.sources.access import Denied, Stated, combined, stated
from indexes.sources.front_matter import address
from indexes.sources.strict_yaml import Bad, Table, load_list
from indexes.sources.types import Fault
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
class BookRead:
    """What a file yields. `records` None: it could not be read at all, and what is stored stays."""

    records: tuple[Record, ...] | None
    faults: tuple[Fault, ...] = ()


def read_book(book: BookFile) -> BookRead:
    """Every valid record, and a fault with file and line for each that is not (blocking).

    A file that is no YAML yields no record: their access can no longer be established.
    """
    try:
        text = book.path.read_bytes().decode("utf-8")
    except OSError as fault:
        reason = f"cannot be read ({fault.strerror or fault}): what is stored of it stays as it is"
        return BookRead(None, (Fault(str(book.path), reason),))
    except UnicodeDecodeError:
        return BookRead((), (Fault(str(book.path), "is not UTF-8: its records are hidden"),))
    reading = _Reading(book)
    try:
        reading.run(text)
    except Bad as fault:
        return BookRead((), (reading.fault(fault, "its records are hidden"),))
    return BookRead(tuple(reading.records.values()), tuple(reading.faults))


def read_text(book: BookFile, text: str) -> BookRead:
    """The same for the text of a book that was pushed: JSON, which is YAML, or YAML itself."""
    reading = _Reading(book)
    try:
        reading.run(text)
    except Bad as fault:
        return BookRead(None, (reading.fault(fault, "nothing is taken"),))
    return BookRead(tuple(reading.records.values()), tuple(reading.faults))


class _Reading:
    """One pass over a file: valid records by id, and what is wrong with the others."""

    def __init__(self, book: BookFile):
        self.records: dict[str, Record] = {}
        self.faults: list[Fault] = []
        self._book = book
        self._twice: set[str] = set()

    def run(self, text: str) -> None:
        listing = load_list(text, "records")
        common = stated(listing.common) if listing.common else None
        if listing.common:
            listing.common.close()
        for node in listing.nodes:
            try:
                self._keep(_record(self._book.name, Table(node), common), node.start_mark.line + 1)
            except Bad as fault:
                self.faults.append(self.fault(fault, "this record is hidden"))

    def fault(self, fault: Bad, effect: str) -> Fault:
        return Fault(f"{self._book.path}:{fault.line}", f"{fault.text}: {effect}")

    def _keep(self, record: Record, line: int) -> None:
        """Of two records with one id neither is kept: which one is meant cannot be known."""
        if record.id in self._twice or record.id in self.records:
            self._twice.add(record.id)
            self.records.pop(record.id, None)
            raise Bad(line, f"`{record.id}` stands in this book twice: give each an `id` of its own")
        self.records[record.id] = record


def _record(book: str, table: Table, common: Stated | None) -> Record:
    whole = stated(table).over(common or Stated())
    language = whole.language or "en"
    record = Record(
        id=f"{book}/{table.text('id') or _named(table)}",
        book=book,
        kind=_kind(table),
        title=_texts(table, "title", language),
        text=_texts(table, "text", language),
        access=_access(table, whole),
        start=_date(table, "from"),
        end=_date(table, "to"),
        current=table.flag("current"),
        url=address(table),
    )
    table.close()
    if record.start and record.end and _parts(record.end) < _parts(record.start)[: len(_parts(record.end))]:
        raise table.bad("to", "lies before `from`")
    return record


def _named(table: Table) -> str:
    """An id that stays as long as kind and title do."""
    title = sorted(table.texts_by("title", "").items())
    return f"{_kind(table)}-{hashlib.sha256(repr(title).encode()).hexdigest()[:8]}"


def _kind(table: Table) -> str:
    kind = table.text("kind")
    if kind is None or not _KIND.fullmatch(kind):
        raise table.bad("kind", f"want a kind of record as career or projects, got {kind or 'nothing'}")
    return kind


def _texts(table: Table, name: str, language: str) -> dict[str, str]:
    texts = table.texts_by(name, language)
    if not texts:
        raise table.bad(name, "is missing")
    strange = [tag for tag in texts if not _TAG.fullmatch(tag)]
    if strange:
        raise table.bad(name, f"want texts by language tag as en or fa, got {strange[0]:.20}")
    return texts


def _access(table: Table, whole: Stated) -> Access:
    if not whole.groups:
        raise Bad(table.line, "no `allowed_groups` in the record nor for the whole book: nobody may see it")
    try:
        return combined(None, whole)
    except Denied as fault:
        raise Bad(table.line, str(fault)) from None


def _date(table: Table, name: str) -> PartialDate | None:
    text = table.plain(name)
    if text is None:
        return None
    if _DATE.fullmatch(text) is None:
        raise table.bad(name, f"want 2024, 2024-05 or 2024-05-01, got {text:.20}")
    found = PartialDate(*map(int, text.split("-")))
    try:
        date(found.year, found.month or 1, found.day or 1)
    except ValueError:
        raise table.bad(name, f"{text} is no date of the calendar") from None
    return found


def _parts(date: PartialDate) -> tuple[int, ...]:
    return tuple(part for part in (date.year, date.month, date.day) if part is not None)
