"""A source that is written to: documents pushed by a program, under the rules that files obey.

What is accepted is committed, so it holds for the next query: at once for access and removal, and for new
text as soon as the keyword index has taken it.
"""

import asyncio
import json
from collections.abc import Callable, Mapping

from indexes.document_writes import DocumentChange
from indexes.sources.access import Denied, Stated, combined, stated
from indexes.sources.front_matter import Meta, described
from indexes.sources.readers.html import read_html
from indexes.sources.readers.markdown import read_markdown, read_text
from indexes.sources.readers.types import Content
from indexes.sources.strict_yaml import Bad, Table, load
from indexes.store import Store
from indexes.sync import write
from indexes.text.language import WordPack
from indexes.types import Access, Document

KEY_CHARS_MAX = 500
TEXT_CHARS_MAX = 10_000_000
FORMATS: Mapping[str, Callable[[str], Content]] = {
    "markdown": read_markdown,
    "text": read_text,
    "html": read_html,
}


class Rejected(Exception):
    """Why a document cannot be taken; the text may be shown to whoever pushed it."""


class Unknown(Rejected):
    """There is no such document. Who meant to take it from somebody must hear that nothing was done."""


class Push:
    """Takes documents for the source `name`. A key names one; it is the part of the id after the source.

    Who may push may give a document to any groups, as whoever writes into a folder may.
    """

    def __init__(self, store: Store, name: str, packs: Mapping[str, WordPack]):
        self.name = name
        self._store = store
        self._packs = packs

    async def put(self, key: str, fields: Mapping[str, object]) -> DocumentChange:
        """Stores a document whole. Fields: those of front matter, `text` and `format` (default markdown).

        Raises `Rejected`. Its vectors are made by the next `sync.embed`; keywords find it before.
        """
        read = await asyncio.to_thread(document, self.name, key, fields)
        return await write(self._store, read, self._packs)

    async def set_access(self, key: str, fields: Mapping[str, object]) -> bool:
        """Replaces `allowed_groups`, `valid_from`, `valid_to`. False: no change. Raises `Unknown`."""
        id, who = _id(self.name, key), access(fields)
        if await self._store.set_access(id, who):
            return True
        if await self._store.read_access(id) is None:
            raise Unknown("no document of this key has been pushed")
        return False

    async def remove(self, key: str) -> bool:
        """False: there was none."""
        return await self._store.remove_document(_id(self.name, key))


def document(source: str, key: str, fields: Mapping[str, object]) -> Document:
    """A pushed document, checked. Raises `Rejected`."""
    id = _id(source, key)
    text, format = fields.get("text"), fields.get("format", "markdown")
    if not isinstance(text, str) or not text.strip():
        raise Rejected("`text`: want the document's text, got nothing")
    if len(text) > TEXT_CHARS_MAX:
        raise Rejected(f"`text`: has more than {TEXT_CHARS_MAX} characters: split it")
    if not isinstance(format, str) or format not in FORMATS:
        raise Rejected(f"`format`: want one of {', '.join(FORMATS)}")
    if not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text):
        raise Rejected("`text`: holds halves of characters (lone surrogates)")
    content = FORMATS[format](text)
    meta, who = _described({name: value for name, value in fields.items() if name not in ("text", "format")})
    return Document(
        id=id,
        source=source,
        title=meta.title or content.title or key.rpartition("/")[2],
        text=content.text,
        access=who,
        url=meta.url,
        language=meta.stated.language or content.language,
        supersedes=meta.supersedes and _id(source, meta.supersedes.removeprefix(f"{source}/")),
    )


def access(fields: Mapping[str, object]) -> Access:
    """Groups and validity alone, checked. Raises `Rejected`."""
    try:
        table = _table(fields)
        found = _granted(stated(table))
        table.close()
    except (Bad, Denied) as fault:
        raise Rejected(str(fault)) from None
    return found


def _described(fields: Mapping[str, object]) -> tuple[Meta, Access]:
    try:
        meta = described(_table(fields))
        return meta, _granted(meta.stated)
    except (Bad, Denied) as fault:
        raise Rejected(str(fault)) from None


def _granted(said: Stated) -> Access:
    """What was said, where no folder stands above it to say the rest."""
    if said.groups is None:
        raise Denied('states no allowed_groups: name who may see it, as in ["public"]')
    return combined(None, said)


def _table(fields: Mapping[str, object]) -> Table:
    """JSON is YAML: the fields are read by the very code that reads front matter. None is not stated."""
    said = {name: value for name, value in fields.items() if value is not None}
    table = load(json.dumps(said, ensure_ascii=False))
    assert table is not None
    return table


def _id(source: str, key: str) -> str:
    if not key.strip("/ ") or len(key) > KEY_CHARS_MAX or not key.isprintable():
        raise Rejected(f"the key: want 1 to {KEY_CHARS_MAX} printable characters")
    return f"{source}/{key.strip('/')}"
