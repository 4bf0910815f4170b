"""Citations: which span of the released text stands on which source, and the list below an answer."""

from collections.abc import Iterable, Sequence
from urllib.parse import quote, urlsplit

import regex

from proxy.domain.types import Citation, Source
from proxy.gate.types import Release

LINK_SCHEMES = frozenset({"http", "https", "mailto"})
TITLE_CHARS_MAX = 200
"""A longer title is cut in what is shown: a list of links must not drown the answer."""
_SPECIAL = regex.compile(r"([\\`*_{}\[\]()<>#+!|~&])")
_UNSEEN = regex.compile(r"[\p{Cc}\p{Cf}\p{Z}]+")
_UNSEEN_BUT_JOINERS = regex.compile(r"[[\p{Cc}\p{Cf}\p{Z}]--[\u200c\u200d]]+", regex.VERSION1)
"""The same but for zero-width joiners and non-joiners, which Persian and Hindi are spelt with."""


def build_citations(releases: Sequence[Release], sources: Sequence[Source]) -> tuple[Citation, ...]:
    """One citation a sentence and source: half-open code-point spans into the joined text.

    A source without a safe URL is cited by its title alone, `url` ""; it cannot be an annotation.
    """
    sources_by_number = {source.number: source for source in sources}
    citations: list[Citation] = []
    offset = 0
    for release in releases:
        start = offset + len(release.text) - len(release.text.lstrip())
        end = offset + len(release.text.rstrip())
        offset += len(release.text)
        citations += (
            Citation(start, end, clean_title(sources_by_number[n].title), clean_url(sources_by_number[n].url))
            for n in dict.fromkeys(release.source_numbers)
            if n in sources_by_number and start < end
        )
    return tuple(citations)


def render_source_list(citations: Iterable[Citation], heading: str) -> str:
    """The list below an answer, each source once, in order of first use, linked where it has an address."""
    used: dict[str, Citation] = {}
    for citation in citations:
        used.setdefault(citation.url or citation.title, citation)
    lines = [_render_source_link(citation) for citation in used.values()]
    return f"\n\n{heading}:\n" + "\n".join(lines) if lines else ""


def _render_source_link(citation: Citation) -> str:
    title = escape_title(citation.title)
    return f"- [{title}]({citation.url})" if citation.url else f"- {title}"


def clean_url(url: str | None) -> str:
    """`url` fit for a link: http, https or mailto, nothing that could end the link early; "" otherwise."""
    text = _UNSEEN.sub("", url or "")
    if not text or text != (url or "").strip():
        return ""
    try:
        parts = urlsplit(text)
    except ValueError:
        return ""
    if parts.scheme.lower() not in LINK_SCHEMES or not (parts.netloc or parts.path):
        return ""
    # Round brackets are not safe: `)` would end a Markdown link.
    return quote(text, safe="!#$%&'*+,/:;=?@[]~-._")


def clean_title(title: str) -> str:
    """A title fit to be shown: one line of bounded length, nothing in it that turns text around."""
    line = _UNSEEN_BUT_JOINERS.sub(" ", title).strip()
    return line if len(line) <= TITLE_CHARS_MAX else line[: TITLE_CHARS_MAX - 1].rstrip() + "…"


def escape_title(title: str) -> str:
    """A title as plain text in Markdown, every special character escaped."""
    return _SPECIAL.sub(r"\\\1", clean_title(title))
