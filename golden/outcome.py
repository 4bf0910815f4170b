"""What became of a case: all that grading looks at, as the pipeline left it."""

from dataclasses import dataclass
from datetime import datetime

from indexes.types import Access
from proxy.domain.types import Citation, Decision, SourceKind


@dataclass(frozen=True, slots=True)
class HandedSource:
    """A source that was handed to the model, or would have been, in the order of its number."""

    id: str
    """Of the record (`BOOK/ID`), or of the passage."""
    title: str
    access: Access
    """Groups and validity as the truth has them."""
    document_id: str = ""
    """`SOURCE/PATH`; "" for a record."""
    url: str | None = None
    kind: SourceKind = "passage"

    def has_name(self, name: str) -> bool:
        """Whether a case means this source by `name`: id, document id, url or title."""
        return name in (self.id, self.document_id, self.url, self.title)


@dataclass(frozen=True, slots=True)
class CaseOutcome:
    """One answered case. `groups` and `now` are what the pipeline was run with."""

    decision: Decision
    answer: str
    """The text that the reader saw, without a list of sources behind it."""
    groups: frozenset[str]
    now: datetime
    """Aware, UTC."""
    handed: tuple[HandedSource, ...] = ()
    citations: tuple[Citation, ...] = ()
    topic: str = ""
    rule: str = ""
    layer: str = ""
    language: str = ""
    """Of the fixed texts, as the pipeline chose it."""
    assistant: str = ""
    similarity: float | None = None
    """Best similarity; None where nothing was searched."""
    upstream_calls: int = 0
    embedded: bool = False
    mode: str = ""
    """`hybrid` or `keywords`; "" where nothing was searched."""
