"""What a document says of itself: the keys of front matter, which are those of a pushed document too."""

import re
from dataclasses import dataclass, field

from indexes.sources.access import Stated, stated
from indexes.sources.strict_yaml import Table

_URL = re.compile(r"(?:https?://|mailto:)[^\s<>\"]+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Meta:
    """`title, url, language, allowed_groups, valid_from, valid_to, supersedes`; None: not stated."""

    stated: Stated = field(default_factory=Stated)
    title: str | None = None
    url: str | None = None
    supersedes: str | None = None


def described(front: Table | None) -> Meta:
    """Front matter, strictly: an unknown key is `Bad`."""
    if front is None:
        return Meta()
    meta = Meta(stated(front), front.text("title"), address(front), front.text("supersedes"))
    front.close()
    return meta


def address(table: Table) -> str | None:
    """Its `url`. Raises `Bad` for one that a reader could not safely follow."""
    url = table.text("url")
    if url is not None and not _URL.fullmatch(url):
        raise table.bad("url", f"want an address of http, https or mailto, got {url:.80}")
    return url
