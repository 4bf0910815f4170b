"""File formats → Markdown text with what the file says about itself."""

from collections.abc import Callable, Mapping
from pathlib import PurePath

from indexes.sources.readers.front_matter_block import FileParts, split_front_matter
from indexes.sources.readers.html import read_html
from indexes.sources.readers.markdown import read_markdown, read_plain_text
from indexes.sources.readers.types import DocumentContent

READERS: Mapping[str, Callable[[str], DocumentContent]] = {
    ".md": read_markdown,
    ".markdown": read_markdown,
    ".txt": read_plain_text,
    ".html": read_html,
    ".htm": read_html,
}
"""By the file name's ending, lower case."""


def is_readable(name: str) -> bool:
    return PurePath(name).suffix.lower() in READERS


def read_content(name: str, body: str) -> DocumentContent:
    """`body` is the file without its front matter."""
    return READERS[PurePath(name).suffix.lower()](body)


__all__ = ["READERS", "DocumentContent", "FileParts", "is_readable", "read_content", "split_front_matter"]
