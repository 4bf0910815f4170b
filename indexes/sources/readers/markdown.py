"""Markdown and plain text: taken as they are; the first heading is the title."""

import re

from indexes.sources.readers.types import DocumentContent

_HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t#]*$|^(\S.*)\n=+[ \t]*$", re.MULTILINE)
_FENCED = re.compile(r"^(`{3,}|~{3,}).*?(?:^\1|\Z)", re.MULTILINE | re.DOTALL)
_MARKUP = re.compile(r"[*_`]+|!?\[([^\]]*)\]\([^)]*\)")


def read_markdown(body: str) -> DocumentContent:
    """The text as it is; the title is its first heading outside code, freed of markup."""
    match = _HEADING.search(_FENCED.sub("", body))
    title = _MARKUP.sub(r"\1", match[1] or match[2]).strip() if match else None
    return DocumentContent(body, title or None)


def read_plain_text(body: str) -> DocumentContent:
    """Plain text has no headings: what looks like markup is kept as it is."""
    return DocumentContent(body)
