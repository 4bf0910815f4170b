"""`read`: text in, values out. The order of the stages is the grammar."""

from collections.abc import Mapping

import regex

from proxy.gate.values.codes import read_codes, read_composites
from proxy.gate.values.counts import counted
from proxy.gate.values.dates import read_dates
from proxy.gate.values.links import CODE, left_sign, markup, read_links
from proxy.gate.values.numbers import read_numbers
from proxy.gate.values.pack import LETTER, Tongue, ValuePack, tongue
from proxy.gate.values.page import FIGURE, Page
from proxy.gate.values.phones import read_phones
from proxy.gate.values.romans import read_romans
from proxy.gate.values.spelled import read_spelled
from proxy.gate.values.times import read_times
from proxy.gate.values.types import Value, Values

_BRACKETED = regex.compile(r"[\[【]\s*\^?\d{1,3}(?:\s*[,،、;–-]\s*\^?\d{1,3})*\s*[\]】](?!\()")
_LISTED = regex.compile(
    r"^(?:[^\S\n]|[>#*_|+-])*+(?:[(（]?\d{1,3}[.)）、．][)）]?|\d{1,2}(?:\.\d{1,2}){1,3}[.)]|\d\ufe0f?\u20e3|[①-⑳])[*_]{0,3}(?=\s+\S|[^\x00-\x7f\s\d])",
    regex.M,
)
_FIGURE = regex.compile(r"\d+")
_LINE_ENDS = ".:;!?…|。：；！？।॥؟؛۔*_)"
_LIST_CHARS = 8
"""How far into a line its list number may stand."""
_SIGNS = regex.compile(r"[\p{N}@<月]|[.:](?=[\p{L}\p{N}/])|(?<=www)\.|\](?=[(:])|!(?=\[)")
"""Without one of these a text holds no figure, address or markup."""
_UNSEEN = regex.compile(r"[\p{Cf}\u034f\u115f\u1160\u3164\ufe00-\ufe0e]+")
_STRUCK = regex.compile(r"\p{Nd}[\p{M}--[\ufe0f\u20e3]]", regex.V1)
_TORN = regex.compile(rf"[{LETTER}\d]\.[{LETTER}\d-]*\p{{Cf}}(?=\p{{Cf}}*[{LETTER}\d])")
_OVERRIDE = regex.compile("[\u202d\u202e]")
_GLUED = regex.compile(r"\d\[[^\[\]\n]{0,80}\]\(|\]\([^()\s]{0,200}\)\d")
"""A digit written onto a link: a reader sees one number."""
_NEAR = regex.compile(r"[\p{Latin}\p{N}.,:/@%+_-]")


def read(
    text: str,
    language: str | None,
    packs: Mapping[str, ValuePack],
    *,
    source: bool = False,
    spelled: bool = True,
    line_start: bool = True,
) -> Values:
    """Every value of `text`, a sentence of an answer or (`source`) a whole source, read in `language`.

    Markers and list numbers are no values (the latter only where a line begins: `line_start` says whether
    `text` itself begins one). In a source, spelled-out numbers always count; in an answer if `spelled`.
    """
    speech = tongue(language, packs)
    page = Page.of(text)
    signs = _SIGNS.search(page.text) is not None
    broken = "" if source or not signs else markup(page.text)
    if signs or source:
        _figures(page, speech, source, line_start)
    read_romans(page)
    if source or spelled:
        read_spelled(page, speech, source)
    page.found.sort(key=lambda value: value.start)
    if source:
        return Values(tuple(page.found), counted=counted(page, speech))
    left = _leftover(page) if signs else ""
    return Values(tuple(page.found), left, broken, tuple(page.counts))


def _figures(page: Page, speech: Tongue, source: bool, line_start: bool) -> None:
    """The stages, the most special first; each takes what it knows from the next."""
    _brackets(page)
    read_links(page)
    read_phones(page)
    read_dates(page, speech, source)
    read_times(page, speech)
    if line_start:
        page.take(_LISTED, lambda match: _listed(page, match))
    read_composites(page, speech)
    read_numbers(page, speech)
    read_codes(page)


def _brackets(page: Page) -> None:
    """Markers and reference numbers are no values; inside a code span `[7]` is one, since it stays there."""
    code = [match.span() for match in CODE.finditer(page.text)] if "`" in page.text else []

    def read(match: regex.Match[str]) -> list[Value] | None:
        return None if any(start < match.start() < end for start, end in code) else []

    page.take(_BRACKETED, read)


def _listed(page: Page, match: regex.Match[str]) -> list[Value] | None:
    """A list number is no value; a figure that only a line break has put first is one."""
    line = page.raw[: match.start()].rstrip().rpartition("\n")[2].strip()
    number = _FIGURE.search(match[0])
    if not line or line[-1] in _LINE_ENDS or number is None or number[0] == "1":
        return []
    last = _FIGURE.search(line[:_LIST_CHARS])
    return [] if last and int(last[0]) + 1 == int(number[0]) else None


def _leftover(page: Page) -> str:
    """A digit or address sign that no stage took, or what a reader cannot see or would misread in a value."""
    digit = FIGURE.search(page.text) or ("](" in page.raw and _GLUED.search(page.raw))
    return digit[0] if digit else left_sign(page) or _unseen(page)


def _unseen(page: Page) -> str:
    """The first character that is not seen, or strikes a digit out, where a value is: as `U+200B`."""
    if page.raw.isascii():
        return ""
    found = _STRUCK.search(page.raw) or _TORN.search(page.raw) or (page.found and _OVERRIDE.search(page.raw))
    if found:
        return f"U+{ord(found[0][-1]):04X}"
    edges = {edge for value in page.found for edge in (value.start, value.end)}
    addresses = [value for value in page.found if value.kind in ("url", "mail")]
    for match in _UNSEEN.finditer(page.raw):
        start, end = match.span()
        touches = (
            {start, end} & edges and _NEAR.match(page.raw[:start][-1:]) and _NEAR.match(page.raw[end:][:1])
        )
        if touches or any(value.start < start < value.end for value in addresses):
            return f"U+{ord(match[0][0]):04X}"
    return ""
