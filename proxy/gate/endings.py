"""Whether a stop ends its sentence, decided on the word before it and the next significant characters.

The errors' prices differ: a wrong end costs a false stop at worst (the first part lacks its marker), a missed
one lets a claim ride on its neighbour's marker. So the unknown is an end.
"""

import re
from collections.abc import Callable, Mapping

import regex

from proxy.gate.lexicon import SentenceLexicon, SentenceLexicons, is_roman
from proxy.gate.listing import is_next_inline_number
from proxy.gate.lookahead import QUESTION_STOPS, STRONG_STOPS, WAIT, Lookahead, Wait
from proxy.gate.ordinals import decide_after_number, is_number
from proxy.gate.stop_context import WORD, StopContext
from proxy.gate.values.page import flatten_text

LanguageDetector = Callable[[str, str], str]
"""(text, default) → language tag."""

_CERTAIN_STOPS = frozenset(STRONG_STOPS + "！？؟")
_QUESTION_STOPS = frozenset(QUESTION_STOPS)
_COMMAS = frozenset(",;:،؛、，；：")
_DASHES = frozenset("-–—―−")
_GLUE_SIGNS = frozenset("-‐‑/@\\=&+%#~^$_")
_JOIN_SIGNS = frozenset("-–—―−/&+=%‰°·")

_TOKEN = regex.compile(r"(?r)[\p{L}\p{M}\p{N}.’'\-‐º°ª]{1,40}+")
_LIST_NUMBER = regex.compile(
    r"[\s>]*+(?:[-*+•][ \t]+)?(?:\#{1,6}[ \t]+)?[*_]{0,3}"
    r"\(?(?:\p{Nd}{1,3}|(?:\p{Nd}{1,2}\.){1,3}\p{Nd}{1,2}|\p{Latin}|[ivx]{2,4}|[IVX]{2,4})"
)
_FIRST_INLINE_NUMBER = regex.compile(r"(?r)[:：][^\S\r\n]{1,4}[*_]{0,3}\(?[1１۱١१]")
_NEXT_INLINE_NUMBER = regex.compile(r"(?r)[^\S\r\n]\(?(\p{Nd}{1,2})")
_MARKER_BEFORE = regex.compile(r"(?r)[\[【［][^\[\]【】［］]{1,40}[\]】］][\"'”’»)*_]{0,4}")
_OPENING_SIGNS = re.compile(r"[(\[{\"'“”„«»‘‚‹›¿¡*_`（「『【《〈［]{0,8}+")
_LATIN = regex.compile(r"[A-Za-z]++")
_HOST_PATH = regex.compile(r"[a-z\d]\.[a-z]{2,}/")
"""A host and its path: example.org/a."""
_HAN = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}]")
_ABBREVIATION_CHARS_MAX = 4
"""Letters of a word that may be an abbreviation nobody listed, when a lower-case letter follows."""


class SentenceEndDetector:
    """Decides stops; knows the words of all languages and finds the one that a sentence is made of."""

    def __init__(self, lexicons: SentenceLexicons, language: str, detect_language: LanguageDetector) -> None:
        self._lexicons = lexicons
        self._language = language
        self._detect_language = detect_language

    def decide_end(self, text: str, line_start: int, ahead: Lookahead) -> bool | Wait:
        """Whether the sentence ends at the stop; `line_start` is negative if its line began in text gone."""
        stops = text[ahead.at : ahead.stops_end]
        if (
            ahead.next_at == ahead.closers_end
            and text[ahead.closers_end : ahead.closers_end + 1] in _COMMAS
            and not ahead.is_line_end
        ):
            return False
        if not _CERTAIN_STOPS.isdisjoint(stops) or not _QUESTION_STOPS.isdisjoint(stops):
            return _decide_strong_stop(text, stops, ahead)
        if ahead.is_line_end:
            return True
        content_start = _OPENING_SIGNS.match(text, ahead.next_at, ahead.limit).end()  # type: ignore[union-attr]  # matches ""
        if ahead.can_grow and content_start == ahead.limit:
            return WAIT
        if stops not in (".", "．"):
            context = StopContext(text, "", ahead, content_start)
            return context.has_marker or context.following.isupper() or context.following.isdigit()
        if ahead.closers_end - ahead.at <= 4 and _is_list_number(text, max(0, line_start), ahead.at):
            return False
        if marker := _MARKER_BEFORE.match(text, max(0, ahead.at - 48), ahead.at):
            return not self._is_split_date(
                StopContext(text, _read_token_before(text, marker.start()), ahead, content_start)
            )
        return self._decide_single_stop(
            StopContext(text, _read_token_before(text, ahead.at), ahead, content_start)
        )

    def _is_split_date(self, context: StopContext) -> bool:
        """`Jan [1]. 18`: a marker put before the stop of a month, not before that of the sentence."""
        if not context.following.isdigit() or not self._lexicons.has_entry(context.token):
            return False
        return self._lexicons[self._language].classify_abbreviation("", context.token, 0) == "date"

    def _decide_single_stop(self, context: StopContext) -> bool | Wait:
        ahead = context.ahead
        glued = _decide_glued_stop(context.text, ahead) if ahead.next_at == ahead.closers_end else None
        if glued is not None and not glued:
            return False
        lexicon = self._choose_lexicon(context)
        kind = lexicon.classify_abbreviation(context.text, context.token, ahead.at) if lexicon else ""
        if glued is not None:
            return glued if not kind else False
        if lexicon is None:
            return _decide_after_unknown(context)
        if is_pair := _decide_abbreviation_pair(context, lexicon):
            return is_pair if isinstance(is_pair, Wait) else False
        if lexicon.needs_number_before(context.token) and not context.has_number_before:
            kind = ""
        if (
            kind in ("title", "inline")
            and lexicon.may_end_sentence(context.token)
            and context.has_number_before
        ):
            kind = "may_end"  # `2019 г.` is a year, `г. Тула` a town
        if kind:
            return _DECISIONS_BY_CLASS[kind](context, lexicon)
        if is_number(context.token, lexicon):
            return decide_after_number(context, lexicon)
        if lexicon.is_dotted(context.token) or lexicon.is_initial(context.token, context.read_word_before()):
            return _decide_after_acronym(context, lexicon)
        return _decide_after_unknown(context)

    def _choose_lexicon(self, context: StopContext) -> SentenceLexicon | None:
        """The words of the sentence's own language; None if no language has anything to say on this one."""
        token = context.token
        if not token:
            return None
        is_plain = len(token) > 1 and not token.isdigit() and "." not in token
        at = context.ahead.at
        if (is_plain and not (is_roman(token) or self._lexicons.has_entry(token))) or _is_in_address(
            context.text, at
        ):
            return None
        return self._lexicons[self._detect_language(context.text[max(0, at - 300) : at], self._language)]


def _read_token_before(text: str, end: int) -> str:
    """The word, abbreviation or number right before `end`."""
    end = len(text[:end].rstrip()) if text[end - 1 : end].isspace() else end
    m = _TOKEN.match(text, max(0, end - 41), end)
    return m.group().replace("’", "'").rpartition("'")[2].lstrip(".-‐°") if m else ""


def _is_list_number(text: str, start: int, at: int) -> bool:
    """Whether a list number stands before the stop: where a line or sentence begins, `: 1`, or the next."""
    before = text[max(0, at - 2) : at - 1]
    if before.isalpha() and before not in "ivxIVX":
        return False  # a word, as nearly always
    if _LIST_NUMBER.fullmatch(text, start, at) or _FIRST_INLINE_NUMBER.match(text, max(start, at - 12), at):
        return True
    m = _NEXT_INLINE_NUMBER.match(text, max(start, at - 4), at)
    return m is not None and is_next_inline_number(text, start, m.start(), int(flatten_text(m[1])))


def _decide_strong_stop(text: str, stops: str, ahead: Lookahead) -> bool | Wait:
    """The verdict on stops that are more than points and `…`: no abbreviation is looked for."""
    if ahead.is_line_end or ahead.end > ahead.closers_end:
        return True
    following = text[ahead.next_at]
    if following == "[" and ahead.next_at == ahead.closers_end:
        return False  # an image
    if _QUESTION_STOPS.isdisjoint(stops):
        return True
    if following.islower() or following in _DASHES:
        return False
    if ahead.next_at == ahead.closers_end and _CERTAIN_STOPS.isdisjoint(stops):
        glued = _decide_glued_stop(text, ahead)
        return True if glued is None else glued
    return True


def _decide_abbreviation_pair(context: StopContext, lexicon: SentenceLexicon) -> bool | Wait:
    """Whether the token and the next word are the parts of one abbreviation (`z. B.`)."""
    seconds = lexicon.find_second_words(context.token)
    if not any(second.startswith(context.following.lower() or " ") for second in seconds):
        return False
    word = context.read_next_word()
    return word if isinstance(word, Wait) else word.lower() in seconds


def _decide_after_dependent(context: StopContext, lexicon: SentenceLexicon) -> bool | Wait:
    """After what wants its next word (`Dr`, `e.g`): no end, unless that is a capitalised opener."""
    return _decide_before_opener(context, lexicon) if context.following.isupper() else False


def _decide_after_reference(context: StopContext, lexicon: SentenceLexicon) -> bool | Wait:
    following = context.following
    if not following.isupper():
        return not (following.isalnum() or following in _JOIN_SIGNS)
    word = context.read_next_word()
    if isinstance(word, Wait):
        return word
    if context.has_number_before and lexicon.is_opener(word):  # `100 км/ч. В мае`, but `п. В`
        return True
    return not (len(word) == 1 or is_roman(word))


def _decide_after_date(context: StopContext, lexicon: SentenceLexicon) -> bool | Wait:
    following = context.following
    return not (following.isdigit() or following.islower() or following in _JOIN_SIGNS)


def _decide_after_may_end(context: StopContext, lexicon: SentenceLexicon) -> bool | Wait:
    following = context.following
    return context.has_marker or not (following.islower() or following in _JOIN_SIGNS)


def _decide_after_acronym(context: StopContext, lexicon: SentenceLexicon) -> bool | Wait:
    following = context.following
    if context.has_marker or following.isdigit():
        return True
    if following.isupper():
        return _decide_before_opener(context, lexicon)
    return not (following.isalpha() or following in _JOIN_SIGNS)


_DECISIONS_BY_CLASS: Mapping[str, Callable[[StopContext, SentenceLexicon], bool | Wait]] = {
    "title": _decide_after_dependent,
    "reference": _decide_after_reference,
    "date": _decide_after_date,
    "inline": _decide_after_dependent,
    "may_end": _decide_after_may_end,
}


def _decide_before_opener(context: StopContext, lexicon: SentenceLexicon) -> bool | Wait:
    """An end only before a word that begins sentences and is no initial (`A.`)."""
    word = context.read_next_word()
    if isinstance(word, Wait):
        return word
    is_initial = len(word) == 1 and context.text[context.content_start + 1 : context.content_start + 2] == "."
    return lexicon.is_opener(word) and not is_initial


def _decide_after_unknown(context: StopContext) -> bool:
    """Lower case after a short word of a cased script tells of an abbreviation that nobody listed."""
    token = context.token
    is_short = 0 < len(token) <= _ABBREVIATION_CHARS_MAX and token.isalpha() and token[-1].islower()
    return context.has_marker or not (is_short and context.following.islower())


def _decide_glued_stop(text: str, ahead: Lookahead) -> bool | Wait | None:
    """The verdict on a stop with no space after it; None if what follows is no part of a word."""
    following, before = text[ahead.closers_end], text[ahead.at - 1 : ahead.at]
    if following in _GLUE_SIGNS:
        return False
    if not (following.isalnum() or WORD.match(following)):
        return None
    if _HAN.match(following):
        return True
    if _HAN.match(before):
        return _decide_after_han(text, ahead)
    if following.islower() or (following.isdigit() and not before.isalpha()):
        return False
    if following.isascii() and _is_in_address(text, ahead.at):
        return False
    if ahead.closers_end > ahead.stops_end:
        return True
    return _decide_joined_words(text, ahead, before)


def _decide_after_han(text: str, ahead: Lookahead) -> bool | Wait:
    """Whether what is written onto a stop after Han begins a sentence: `。Next`; not `.txt`, `.NET`."""
    m = _LATIN.match(text, ahead.closers_end, ahead.limit)
    if m is None:
        return True
    if ahead.can_grow and m.end() == ahead.limit:
        return WAIT
    return len(m.group()) == 1 or not (m.group().islower() or m.group().isupper())


def _decide_joined_words(text: str, ahead: Lookahead, before: str) -> bool | Wait:
    """Whether two words with a stop between are two sentences that lack their space (`end.Next`)."""
    m = WORD.match(text, ahead.closers_end, ahead.limit)
    left = _TOKEN.match(text, max(0, ahead.at - 41), ahead.at)
    word, token = m.group() if m else "", left.group() if left else ""
    letters = sum(c.isalpha() for c in token)
    if not token or "." in token or not (before.islower() or not before.isupper()):
        return False
    if word[0].isupper() and len(word) == 1 and ahead.can_grow and ahead.closers_end + 1 == ahead.limit:
        return WAIT
    if word[0].isupper():
        return letters != 1 and (word[1:2].islower() or (len(word) == 1 and letters > 2))
    return letters > 2 or (word[0].isalpha() and before.isdigit())


def _is_in_address(text: str, at: int) -> bool:
    """Whether a URL, host or e-mail address runs up to `at` without a break."""
    start = at
    lowest = max(0, at - 200)
    while start > lowest and "!" <= text[start - 1] <= "~":
        start -= 1
    run = text[start:at]
    return "://" in run or "www." in run or "@" in run or _HOST_PATH.search(run) is not None
