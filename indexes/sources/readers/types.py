"""What a reader makes of a file."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DocumentContent:
    """Markdown, with the title and language that the file itself shows; None: it shows none."""

    text: str
    title: str | None = None
    language: str | None = None
