"""Text in, values out. The order of the stages is the grammar."""

from collections.abc import Mapping

import regex

from proxy.gate.values.codes import read_codes, read_composites
from proxy.gate.values.counts import collect_counted_nouns
from proxy.gate.values.dates import read_dates
from proxy.gate.values.links import CODE_SPAN, find_leftover_sign, find_markup, read_links
from proxy.gate.values.numbers import read_numbers
from proxy.gate.values.pack import LETTER, ValueGrammar, ValuePack, choose_grammar
from proxy.gate.values.page import FIGURE, ValuePage
from proxy.gate.values.phones import read_phones
from proxy.gate.values.romans import read_romans
from proxy.gate.values.spelled import read_spelled_numbers
from proxy.gate.values.times import read_times
from proxy.gate.values.types import TextValues, Value

_BRACKETED = regex.compile(r"[\[【]\s*\^?\d{1,3}(?:\s*[,،、;–-]\s*\^?\d{1,3})*\s*[\]】](?!\()")
_LIST_NUMBER = regex.compile(
    r"^(?:[^\S\n]|[>#*_|+-])*+(?:[(（]?\d{1,3}[.)）、．][)）]?|\d{1,2}(?:\.\d{1,2}){1,3}[.)]|\d\ufe0f?\u20e3|[①-⑳])[*_]{0,3}(?=\s+\S|[^\x00-\x7f\s\d])",
    regex.M,
)
_FIGURE = regex.compile(r"\d+")
_LINE_ENDS = ".:;!?…|。：；！？।॥؟؛۔*_)"
_LIST_CHARS = 8
"""How far into a line its list number may stand."""
_SIGNS = regex.compile(r"[\p{N}@<月]|[.:](?=[\p{L}\p{N}/])|(?<=www)\.|\](?=[(:])|!(?=\[)")
"""Without one of these a text holds no figure, address or markup."""
_INVISIBLE = regex.compile(r"[\p{Cf}\u034f\u115f\u1160\u3164\ufe00-\ufe0e]+")
_STRUCK_DIGIT = regex.compile(r"\p{Nd}[\p{M}--[\ufe0f\u20e3]]", regex.V1)
_TORN_ADDRESS = regex.compile(rf"[{LETTER}\d]\.[{LETTER}\d-]*\p{{Cf}}(?=\p{{Cf}}*[{LETTER}\d])")
_OVERRIDE = regex.compile("[\u202d\u202e]")
_GLUED_LINK = regex.compile(r"\d\[[^\[\]\n]{0,80}\]\(|\]\([^()\s]{0,200}\)\d")
"""A digit written onto a link: a reader sees one number."""
_VALUE_CHAR = regex.compile(r"[\p{Latin}\p{N}.,:/@%+_-]")


def read_values(
    text: str,
    language: str | None,
    packs: Mapping[str, ValuePack],
    *,
    is_source: bool = False,
    spelled: bool = True,
    is_line_start: bool = True,
) -> TextValues:
    """Every value of `text`, a sentence of an answer or (`is_source`) a whole source, read in `language`.

    Markers and list numbers are no values (the latter only where a line begins: `is_line_start` says whether
    `text` itself begins one). In a source, spelled-out numbers always count; in an answer if `spelled`.
    """
    grammar = choose_grammar(language, packs)
    page = ValuePage.build(text)
    has_signs = _SIGNS.search(page.text) is not None
    markup = "" if is_source or not has_signs else find_markup(page.text)
    if has_signs or is_source:
        _read_figures(page, grammar, is_source, is_line_start)
    read_romans(page)
    if is_source or spelled:
        read_spelled_numbers(page, grammar, is_source)
    page.values.sort(key=lambda value: value.start)
    if is_source:
        return TextValues(tuple(page.values), counted_nouns=collect_counted_nouns(page, grammar))
    leftover = _find_leftover(page) if has_signs else ""
    return TextValues(tuple(page.values), leftover, markup, tuple(page.counts))


def _read_figures(page: ValuePage, grammar: ValueGrammar, is_source: bool, is_line_start: bool) -> None:
    """The stages, the most special first; each takes what it knows from the next."""
    _take_bracketed_numbers(page)
    read_links(page)
    read_phones(page)
    read_dates(page, grammar, is_source)
    read_times(page, grammar)
    if is_line_start:
        page.take_matches(_LIST_NUMBER, lambda match: _read_list_number(page, match))
    read_composites(page, grammar)
    read_numbers(page, grammar)
    read_codes(page)


def _take_bracketed_numbers(page: ValuePage) -> None:
    """Markers and reference numbers are no values; inside a code span `[7]` is one, since it stays there."""
    code = [match.span() for match in CODE_SPAN.finditer(page.text)] if "`" in page.text else []

    def read_bracket(match: regex.Match[str]) -> list[Value] | None:
        return None if any(start < match.start() < end for start, end in code) else []

    page.take_matches(_BRACKETED, read_bracket)


def _read_list_number(page: ValuePage, match: regex.Match[str]) -> list[Value] | None:
    """A list number is no value; a figure that only a line break has put first is one."""
    line = page.raw[: match.start()].rstrip().rpartition("\n")[2].strip()
    number = _FIGURE.search(match[0])
    if not line or line[-1] in _LINE_ENDS or number is None or number[0] == "1":
        return []
    last = _FIGURE.search(line[:_LIST_CHARS])
    return [] if last and int(last[0]) + 1 == int(number[0]) else None


def _find_leftover(page: ValuePage) -> str:
    """A digit or address sign that no stage took, or what a reader cannot see or would misread in a value."""
    digit = FIGURE.search(page.text) or ("](" in page.raw and _GLUED_LINK.search(page.raw))
    return digit[0] if digit else find_leftover_sign(page) or _find_invisible(page)


def _find_invisible(page: ValuePage) -> str:
    """The first character that is not seen, or strikes a digit out, where a value is: as `U+200B`."""
    if page.raw.isascii():
        return ""
    unseen = (
        _STRUCK_DIGIT.search(page.raw)
        or _TORN_ADDRESS.search(page.raw)
        or (page.values and _OVERRIDE.search(page.raw))
    )
    if unseen:
        return f"U+{ord(unseen[0][-1]):04X}"
    edges = {edge for value in page.values for edge in (value.start, value.end)}
    addresses = [value for value in page.values if value.kind in ("url", "mail")]
    for match in _INVISIBLE.finditer(page.raw):
        start, end = match.span()
        touches = (
            {start, end} & edges
            and _VALUE_CHAR.match(page.raw[:start][-1:])
            and _VALUE_CHAR.match(page.raw[end:][:1])
        )
        if touches or any(value.start < start < value.end for value in addresses):
            return f"U+{ord(match[0][0]):04X}"
    return ""
