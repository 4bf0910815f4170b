"""File formats → Markdown text with what the file says about itself."""

from collections.abc import Callable, Mapping
from pathlib import PurePath

from indexes.sources.readers.front_matter_block import Parts, split
from indexes.sources.readers.html import read_html
from indexes.sources.readers.markdown import read_markdown, read_text
from indexes.sources.readers.types import Content

READERS: Mapping[str, Callable[[str], Content]] = {
    ".md": read_markdown,
    ".markdown": read_markdown,
    ".txt": read_text,
    ".html": read_html,
    ".htm": read_html,
}
"""By the file name's ending, lower case."""


def readable(name: str) -> bool:
    return PurePath(name).suffix.lower() in READERS


def read(name: str, body: str) -> Content:
    """`body` is the file without its front matter."""
    return READERS[PurePath(name).suffix.lower()](body)


__all__ = ["READERS", "Content", "Parts", "read", "readable", "split"]
