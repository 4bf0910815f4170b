"""Whether a stop ends its sentence, decided on the word before it and the next significant characters.

The errors' prices differ: a wrong end costs a false stop at worst (the first part lacks its marker), a missed
one lets a claim ride on its neighbour's marker. So the unknown is an end.
"""

import re
from collections.abc import Callable, Mapping

import regex

from proxy.gate.lexicon import Lexicon, Lexicons, roman
from proxy.gate.listing import listed
from proxy.gate.lookahead import ASKS, STRONG, WAIT, Ahead, Wait
from proxy.gate.ordinals import ends_number, is_number
from proxy.gate.stop_context import WORD, Place
from proxy.gate.values.page import flatten

Detect = Callable[[str, str], str]
"""(text, default) → language tag."""

_STRONG = frozenset(STRONG + "！？؟")
_ASKS = frozenset(ASKS)
_COMMAS = frozenset(",;:،؛、，；：")
_DASHES = frozenset("-–—―−")
_GLUE = frozenset("-‐‑/@\\=&+%#~^$_")
_JOINS = frozenset("-–—―−/&+=%‰°·")

_TOKEN = regex.compile(r"(?r)[\p{L}\p{M}\p{N}.’'\-‐º°ª]{1,40}+")
_NUMBERED = regex.compile(
    r"[\s>]*+(?:[-*+•][ \t]+)?(?:\#{1,6}[ \t]+)?[*_]{0,3}"
    r"\(?(?:\p{Nd}{1,3}|(?:\p{Nd}{1,2}\.){1,3}\p{Nd}{1,2}|\p{Latin}|[ivx]{2,4}|[IVX]{2,4})"
)
_FIRST = regex.compile(r"(?r)[:：][^\S\r\n]{1,4}[*_]{0,3}\(?[1１۱١१]")
_NEXT = regex.compile(r"(?r)[^\S\r\n]\(?(\p{Nd}{1,2})")
_MARKED = regex.compile(r"(?r)[\[【［][^\[\]【】［］]{1,40}[\]】］][\"'”’»)*_]{0,4}")
_OPENERS = re.compile(r"[(\[{\"'“”„«»‘‚‹›¿¡*_`（「『【《〈［]{0,8}+")
_LATIN = regex.compile(r"[A-Za-z]++")
_PATHED = regex.compile(r"[a-z\d]\.[a-z]{2,}/")
"""A host and its path: example.org/a."""
_HAN = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}]")
_ABBREVIATION_MAX = 4
"""Letters of a word that may be an abbreviation nobody listed, when a lower-case letter follows."""


class Ends:
    """Decides stops; knows the words of all languages and finds the one that a sentence is made of."""

    def __init__(self, lexicons: Lexicons, language: str, detect: Detect) -> None:
        self._lexicons = lexicons
        self._language = language
        self._detect = detect

    def at(self, text: str, line: int, ahead: Ahead) -> bool | Wait:
        """Whether the sentence ends at the stop; `line`: where its line begins, negative if it has gone."""
        stops = text[ahead.at : ahead.terms]
        if (
            ahead.next == ahead.closed
            and text[ahead.closed : ahead.closed + 1] in _COMMAS
            and not ahead.line_end
        ):
            return False
        if not _STRONG.isdisjoint(stops) or not _ASKS.isdisjoint(stops):
            return _asks(text, stops, ahead)
        if ahead.line_end:
            return True
        inside = _OPENERS.match(text, ahead.next, ahead.limit).end()  # type: ignore[union-attr]  # matches ""
        if ahead.short and inside == ahead.limit:
            return WAIT
        if stops not in (".", "．"):
            place = Place(text, "", ahead, inside)
            return place.marked or place.following.isupper() or place.following.isdigit()
        if ahead.closed - ahead.at <= 4 and _numbered(text, max(0, line), ahead.at):
            return False
        if marker := _MARKED.match(text, max(0, ahead.at - 48), ahead.at):
            return not self._parted_date(Place(text, _token(text, marker.start()), ahead, inside))
        return self._stop(Place(text, _token(text, ahead.at), ahead, inside))

    def _parted_date(self, place: Place) -> bool:
        """`Jan [1]. 18`: a marker put before the stop of a month, not before that of the sentence."""
        if not place.following.isdigit() or not self._lexicons.knows(place.token):
            return False
        return self._lexicons[self._language].classify("", place.token, 0) == "date"

    def _stop(self, place: Place) -> bool | Wait:
        ahead = place.ahead
        glued = _glued(place.text, ahead) if ahead.next == ahead.closed else None
        if glued is not None and not glued:
            return False
        lexicon = self._lexicon(place)
        kind = lexicon.classify(place.text, place.token, ahead.at) if lexicon else ""
        if glued is not None:
            return glued if not kind else False
        if lexicon is None:
            return _unknown(place)
        if begins := _begins(place, lexicon):
            return begins if isinstance(begins, Wait) else False
        if lexicon.is_word(place.token) and not place.measured:
            kind = ""
        if kind in ("title", "inline") and lexicon.is_unit(place.token) and place.measured:
            kind = "may_end"  # `2019 г.` is a year, `г. Тула` a town
        if kind:
            return _CLASSES[kind](place, lexicon)
        if is_number(place.token, lexicon):
            return ends_number(place, lexicon)
        if lexicon.dotted(place.token) or lexicon.initial(place.token, place.before()):
            return _acronym(place, lexicon)
        return _unknown(place)

    def _lexicon(self, place: Place) -> Lexicon | None:
        """The words of the sentence's own language; None if no language has anything to say on this one."""
        token = place.token
        if not token:
            return None
        plain = len(token) > 1 and not token.isdigit() and "." not in token
        at = place.ahead.at
        if (plain and not (roman(token) or self._lexicons.knows(token))) or _in_address(place.text, at):
            return None
        return self._lexicons[self._detect(place.text[max(0, at - 300) : at], self._language)]


def _token(text: str, end: int) -> str:
    """The word, abbreviation or number right before `end`."""
    end = len(text[:end].rstrip()) if text[end - 1 : end].isspace() else end
    m = _TOKEN.match(text, max(0, end - 41), end)
    return m.group().replace("’", "'").rpartition("'")[2].lstrip(".-‐°") if m else ""


def _numbered(text: str, start: int, at: int) -> bool:
    """Whether a list number stands before the stop: where a line or sentence begins, `: 1`, or the next."""
    before = text[max(0, at - 2) : at - 1]
    if before.isalpha() and before not in "ivxIVX":
        return False  # a word, as nearly always
    if _NUMBERED.fullmatch(text, start, at) or _FIRST.match(text, max(start, at - 12), at):
        return True
    m = _NEXT.match(text, max(start, at - 4), at)
    return m is not None and listed(text, start, m.start(), int(flatten(m[1])))


def _asks(text: str, stops: str, ahead: Ahead) -> bool | Wait:
    if ahead.line_end or ahead.end > ahead.closed:
        return True
    following = text[ahead.next]
    if following == "[" and ahead.next == ahead.closed:
        return False  # an image
    if _ASKS.isdisjoint(stops):
        return True
    if following.islower() or following in _DASHES:
        return False
    if ahead.next == ahead.closed and _STRONG.isdisjoint(stops):
        glued = _glued(text, ahead)
        return True if glued is None else glued
    return True


def _begins(place: Place, lexicon: Lexicon) -> bool | Wait:
    """Whether the token and the next word are the parts of one abbreviation (`z. B.`)."""
    seconds = lexicon.seconds(place.token)
    if not any(second.startswith(place.following.lower() or " ") for second in seconds):
        return False
    word = place.word()
    return word if isinstance(word, Wait) else word.lower() in seconds


def _title(place: Place, lexicon: Lexicon) -> bool | Wait:
    return _opener(place, lexicon) if place.following.isupper() else False


def _reference(place: Place, lexicon: Lexicon) -> bool | Wait:
    following = place.following
    if not following.isupper():
        return not (following.isalnum() or following in _JOINS)
    word = place.word()
    if isinstance(word, Wait):
        return word
    if place.measured and lexicon.opens(word):  # `100 км/ч. В мае`, but `п. В`
        return True
    return not (len(word) == 1 or roman(word))


def _date(place: Place, lexicon: Lexicon) -> bool | Wait:
    following = place.following
    return not (following.isdigit() or following.islower() or following in _JOINS)


def _inline(place: Place, lexicon: Lexicon) -> bool | Wait:
    return _opener(place, lexicon) if place.following.isupper() else False


def _may_end(place: Place, lexicon: Lexicon) -> bool | Wait:
    following = place.following
    return place.marked or not (following.islower() or following in _JOINS)


def _acronym(place: Place, lexicon: Lexicon) -> bool | Wait:
    following = place.following
    if place.marked or following.isdigit():
        return True
    if following.isupper():
        return _opener(place, lexicon)
    return not (following.isalpha() or following in _JOINS)


_CLASSES: Mapping[str, Callable[[Place, Lexicon], bool | Wait]] = {
    "title": _title,
    "reference": _reference,
    "date": _date,
    "inline": _inline,
    "may_end": _may_end,
}


def _opener(place: Place, lexicon: Lexicon) -> bool | Wait:
    word = place.word()
    if isinstance(word, Wait):
        return word
    initial = len(word) == 1 and place.text[place.inside + 1 : place.inside + 2] == "."
    return lexicon.opens(word) and not initial


def _unknown(place: Place) -> bool:
    """Lower case after a short word of a cased script tells of an abbreviation that nobody listed."""
    token = place.token
    short = 0 < len(token) <= _ABBREVIATION_MAX and token.isalpha() and token[-1].islower()
    return place.marked or not (short and place.following.islower())


def _glued(text: str, ahead: Ahead) -> bool | Wait | None:
    """The verdict on a stop with no space after it; None if what follows is no part of a word."""
    following, before = text[ahead.closed], text[ahead.at - 1 : ahead.at]
    if following in _GLUE:
        return False
    if not (following.isalnum() or WORD.match(following)):
        return None
    if _HAN.match(following):
        return True
    if _HAN.match(before):
        return _apart(text, ahead)
    if following.islower() or (following.isdigit() and not before.isalpha()):
        return False
    if following.isascii() and _in_address(text, ahead.at):
        return False
    if ahead.closed > ahead.terms:
        return True
    return _fused(text, ahead, before)


def _apart(text: str, ahead: Ahead) -> bool | Wait:
    """Whether what is written onto a stop after Han begins a sentence: `。Next`; not `.txt`, `.NET`."""
    m = _LATIN.match(text, ahead.closed, ahead.limit)
    if m is None:
        return True
    if ahead.short and m.end() == ahead.limit:
        return WAIT
    return len(m.group()) == 1 or not (m.group().islower() or m.group().isupper())


def _fused(text: str, ahead: Ahead, before: str) -> bool | Wait:
    """Whether two words with a stop between are two sentences that lack their space (`end.Next`)."""
    m = WORD.match(text, ahead.closed, ahead.limit)
    left = _TOKEN.match(text, max(0, ahead.at - 41), ahead.at)
    word, token = m.group() if m else "", left.group() if left else ""
    letters = sum(c.isalpha() for c in token)
    if not token or "." in token or not (before.islower() or not before.isupper()):
        return False
    if word[0].isupper() and len(word) == 1 and ahead.short and ahead.closed + 1 == ahead.limit:
        return WAIT
    if word[0].isupper():
        return letters != 1 and (word[1:2].islower() or (len(word) == 1 and letters > 2))
    return letters > 2 or (word[0].isalpha() and before.isdigit())


def _in_address(text: str, at: int) -> bool:
    """Whether a URL, host or e-mail address runs up to `at` without a break."""
    start = at
    lowest = max(0, at - 200)
    while start > lowest and "!" <= text[start - 1] <= "~":
        start -= 1
    run = text[start:at]
    return "://" in run or "www." in run or "@" in run or _PATHED.search(run) is not None
