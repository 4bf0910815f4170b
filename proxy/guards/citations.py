"""Citations: which span of the released text stands on which source, and the list below an answer."""

from collections.abc import Iterable, Sequence
from urllib.parse import quote, urlsplit

import regex

from proxy.guards.gate.types import Release
from proxy.types import Citation, Source

SCHEMES = frozenset({"http", "https", "mailto"})
_SPECIAL = regex.compile(r"([\\`*_{}\[\]()<>#+!|~])")
_UNSEEN = regex.compile(r"[\p{Cc}\p{Cf}\p{Z}]+")


def annotate(releases: Sequence[Release], sources: Sequence[Source]) -> tuple[Citation, ...]:
    """One citation a sentence and source with a safe URL: half-open code-point spans into the joined text."""
    known = {source.number: source for source in sources}
    out: list[Citation] = []
    at = 0
    for release in releases:
        start = at + len(release.text) - len(release.text.lstrip())
        end = at + len(release.text.rstrip())
        at += len(release.text)
        out += (
            Citation(start, end, known[n].title, url)
            for n in dict.fromkeys(release.cites)
            if n in known and start < end and (url := safe_url(known[n].url))
        )
    return tuple(out)


def listing(citations: Iterable[Citation], heading: str) -> str:
    """The list of links below an answer, each source once, in order of first use; "" without any."""
    links: dict[str, str] = {}
    for citation in citations:
        links.setdefault(citation.url, citation.title)
    lines = [f"- [{escape(title)}]({url})" for url, title in links.items()]
    return f"\n\n{heading}:\n" + "\n".join(lines) if lines else ""


def safe_url(url: str | None) -> str:
    """`url` fit for a link: http, https or mailto, nothing that could end the link early; "" otherwise."""
    text = _UNSEEN.sub("", url or "")
    if not text or text != (url or "").strip():
        return ""
    try:
        parts = urlsplit(text)
    except ValueError:
        return ""
    if parts.scheme.lower() not in SCHEMES or not (parts.netloc or parts.path):
        return ""
    return quote(text, safe="!#$%&'*+,/:;=?@[]~-._")


def escape(title: str) -> str:
    """A title as plain text in Markdown: one line, every special character escaped."""
    return _SPECIAL.sub(r"\\\1", _UNSEEN.sub(" ", title).strip())
