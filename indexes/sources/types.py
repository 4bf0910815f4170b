"""What a source of documents yields, and what it says about those it cannot yield."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from indexes.types import Document


@dataclass(frozen=True, slots=True)
class SourceFault:
    """Why something is not indexed, in one line: what is wrong with `path` and what to do."""

    path: str
    text: str

    def __str__(self) -> str:
        return f"{self.path}: {self.text}"


@dataclass(frozen=True, slots=True)
class AccessDoubt:
    """A document whose access cannot be established: whatever is stored of `id` is hidden at once."""

    id: str
    fault: SourceFault | None
    """None where one fault for many has been said already."""


@dataclass(frozen=True, slots=True)
class UnreadableFolder:
    """A place that could not be looked into: what is stored under the id `prefix` stays as it is."""

    prefix: str
    fault: SourceFault


@dataclass(frozen=True, slots=True)
class EmptySource:
    """Nothing at all where documents were expected, as when a disk is not mounted.

    What is stored is hidden, as its files are gone, but kept, as they may come back.
    """

    fault: SourceFault


Finding = Document | AccessDoubt | UnreadableFolder | EmptySource | SourceFault
"""A `SourceFault` alone is a remark: nothing stored is touched by it."""


class DocumentSource(Protocol):
    """Documents from somewhere. Implemented by `folder.DocumentFolder`."""

    @property
    def name(self) -> str:
        """The source's configured name."""
        ...

    def scan(self) -> Iterator[Finding]:
        """All there is (blocking). What was stored before and is not named by any finding is gone."""
        ...
