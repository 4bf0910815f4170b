"""What a document says of itself: the keys of front matter, which are those of a pushed document too."""

import re
from dataclasses import dataclass, field

from indexes.sources.access import AccessStatement, parse_access_statement
from indexes.sources.strict_yaml import YamlTable

_URL = re.compile(r"(?:https?://|mailto:)[^\s<>\"]+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class DocumentMetadata:
    """`title, url, language, allowed_groups, valid_from, valid_to, supersedes`; None: not stated."""

    statement: AccessStatement = field(default_factory=AccessStatement)
    title: str | None = None
    url: str | None = None
    supersedes: str | None = None


def parse_front_matter(table: YamlTable | None) -> DocumentMetadata:
    """Front matter, strictly: an unknown key raises `YamlFault`."""
    if table is None:
        return DocumentMetadata()
    meta = DocumentMetadata(
        parse_access_statement(table),
        table.take_text("title"),
        parse_safe_url(table),
        table.take_text("supersedes"),
    )
    table.reject_unknown_keys()
    return meta


def parse_safe_url(table: YamlTable) -> str | None:
    """Its `url`. Raises `YamlFault` for one that a reader could not safely follow."""
    url = table.take_text("url")
    if url is not None and not _URL.fullmatch(url):
        raise table.build_key_fault("url", f"want an address of http, https or mailto, got {url:.80}")
    return url
