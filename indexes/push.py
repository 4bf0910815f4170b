"""A source that is written to: documents pushed by a program, under the rules that files obey.

What is accepted is committed, so it holds for the next query: at once for access and removal, and for new
text as soon as the keyword index has taken it.
"""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from indexes.document_writes import DocumentChange
from indexes.sources.access import AccessStatement, UnindexableError, combine_access, parse_access_statement
from indexes.sources.front_matter import DocumentMetadata, parse_front_matter
from indexes.sources.readers.html import read_html
from indexes.sources.readers.markdown import read_markdown, read_plain_text
from indexes.sources.readers.types import DocumentContent
from indexes.sources.strict_yaml import YamlFault, YamlTable, load_table
from indexes.store import Store
from indexes.sync import write_document
from indexes.text.language import WordPack
from indexes.types import Access, Document

KEY_CHARS_MAX = 500
TEXT_CHARS_MAX = 10_000_000
FORMATS: Mapping[str, Callable[[str], DocumentContent]] = {
    "markdown": read_markdown,
    "text": read_plain_text,
    "html": read_html,
}


class PushRejection(Exception):
    """Why a document cannot be taken; the text may be shown to whoever pushed it."""


class UnknownDocument(PushRejection):
    """There is no such document. Who meant to take it from somebody must hear that nothing was done."""


class PushReceiver:
    """Takes documents for the source `name`. A key names one; it is the part of the id after the source.

    Who may push may give a document to any groups, as whoever writes into a folder may.
    """

    def __init__(self, store: Store, name: str, packs: Mapping[str, WordPack]):
        self.name = name
        self._store = store
        self._packs = packs

    async def put_document(self, key: str, fields: Mapping[str, object]) -> DocumentChange:
        """Stores a document whole. Fields: those of front matter, `text` and `format` (default markdown).

        Raises `PushRejection`. Its vectors are made by the next `sync.embed_missing_passages`; keywords find
        it before.
        """
        new_document = await asyncio.to_thread(build_document, self.name, key, fields)
        return await write_document(self._store, new_document, self._packs)

    async def set_access(self, key: str, fields: Mapping[str, object]) -> bool:
        """Replaces `allowed_groups`, `valid_from`, `valid_to`. False: no change. Raises `UnknownDocument`."""
        id, access = _build_document_id(self.name, key), parse_access(fields)
        if await self._store.set_access(id, access):
            return True
        if await self._store.read_access(id) is None:
            raise UnknownDocument("no document of this key has been pushed")
        return False

    async def remove_document(self, key: str) -> bool:
        """False: there was none."""
        return await self._store.remove_document(_build_document_id(self.name, key))


def build_document(source: str, key: str, fields: Mapping[str, object]) -> Document:
    """A pushed document, checked. Raises `PushRejection`."""
    id = _build_document_id(source, key)
    text, format = fields.get("text"), fields.get("format", "markdown")
    if not isinstance(text, str) or not text.strip():
        raise PushRejection("`text`: want the document's text, got nothing")
    if len(text) > TEXT_CHARS_MAX:
        raise PushRejection(f"`text`: has more than {TEXT_CHARS_MAX} characters: split it")
    if not isinstance(format, str) or format not in FORMATS:
        raise PushRejection(f"`format`: want one of {', '.join(FORMATS)}")
    if not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text):
        raise PushRejection("`text`: holds halves of characters (lone surrogates)")
    content = FORMATS[format](text)
    meta, access = _parse_metadata(
        {name: value for name, value in fields.items() if name not in ("text", "format")}
    )
    return Document(
        id=id,
        source=source,
        title=meta.title or content.title or key.rpartition("/")[2],
        text=content.text,
        access=access,
        url=meta.url,
        language=meta.statement.language or content.language,
        supersedes=meta.supersedes and _build_document_id(source, meta.supersedes.removeprefix(f"{source}/")),
    )


def parse_access(fields: Mapping[str, object]) -> Access:
    """Groups and validity alone, checked. Raises `PushRejection`."""
    with _reject_faults():
        table = _load_fields(fields)
        access = _grant_access(parse_access_statement(table))
        table.reject_unknown_keys()
    return access


def _parse_metadata(fields: Mapping[str, object]) -> tuple[DocumentMetadata, Access]:
    with _reject_faults():
        meta = parse_front_matter(_load_fields(fields))
        access = _grant_access(meta.statement)
    return meta, access


@contextmanager
def _reject_faults() -> Iterator[None]:
    """What is wrong with the fields, as a rejection: those faults may be shown to whoever pushed them."""
    try:
        yield
    except (YamlFault, UnindexableError) as fault:
        raise PushRejection(str(fault)) from None


def _grant_access(statement: AccessStatement) -> Access:
    """What `statement` says by itself: no folder stands above it to say the rest."""
    if statement.groups is None:
        raise UnindexableError('states no allowed_groups: name who may see it, as in ["public"]')
    return combine_access(None, statement)


def _load_fields(fields: Mapping[str, object]) -> YamlTable:
    """JSON is YAML: the fields are read by the very code that reads front matter. None is not stated."""
    given = {name: value for name, value in fields.items() if value is not None}
    table = load_table(json.dumps(given, ensure_ascii=False))
    assert table is not None
    return table


def _build_document_id(source: str, key: str) -> str:
    if not key.strip("/ ") or len(key) > KEY_CHARS_MAX or not key.isprintable():
        raise PushRejection(f"the key: want 1 to {KEY_CHARS_MAX} printable characters")
    return f"{source}/{key.strip('/')}"
