"""Puts markers into a labelled answer that has none, as a model would have written them.

Modes: `best` cites for each sentence the source that shares most words and numbers with it, `all` every
source, `wrong` the one that shares least. The marker goes before the sentence's final punctuation.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import regex

from indexes.text.words import split_words

Mode = Literal["best", "all", "wrong"]

_ABBREVIATION = regex.compile(
    r"(?:^|\P{L})(?:Mr|Mrs|Ms|Dr|St|No|vs|U\.S|Inc|Co|Jan|Feb|Mar|Apr|Aug|Sept?|Oct|Nov|Dec|\p{Lu})$"
    r"|(?:^|[\n:.!?])\s*\p{Nd}{1,2}$"
)
_ORDINAL = regex.compile(r"\s(\p{Nd}{1,2})$")
_STOP = regex.compile(r"[.!?…؟।]+[\"'”’)\]]*(?=\s|$)|(?<=\p{Han})\.(?=\p{Han})|[。！？]+[”’」』）]*|\n+")
_FINAL = regex.compile(r"[.!?…؟।。！？]+[\"'”’)\]]*$")


@dataclass(frozen=True, slots=True)
class Marked:
    """`text` with markers; `origins[i]` is where its character i stood in the answer, -1 for added ones."""

    text: str
    origins: tuple[int, ...]


def split(text: str, language: str) -> list[tuple[int, int]]:
    """Half-open spans of sentences, by a plain rule of its own: the gate must not mark its own test."""
    spans: list[tuple[int, int]] = []
    last = 0
    for m in _STOP.finditer(text):
        if m.group()[0] == "." and _inside(text, m.start(), language):
            continue
        _add(spans, text, last, m.end())
        last = m.end()
    _add(spans, text, last, len(text))
    return spans


def mark(answer: str, sources: Sequence[str], mode: Mode, language: str) -> Marked:
    """`answer`, written in `language`, with a marker in every sentence."""
    known = [frozenset(split_words(source)) for source in sources]
    pieces: list[tuple[str, int]] = []
    last = 0
    for start, end in split(answer, language):
        final = _FINAL.search(answer, start, end)
        at = final.start() if final else end
        pieces.append((answer[last:at], last))
        pieces.append((_marker(answer[start:end], known, mode, gap=at > start), -1))
        last = at
    pieces.append((answer[last:], last))
    origins = [origin + i if origin >= 0 else -1 for piece, origin in pieces for i in range(len(piece))]
    return Marked("".join(piece for piece, _ in pieces), tuple(origins))


def _inside(text: str, at: int, language: str) -> bool:
    """Whether the stop at `at` is an abbreviation's, a list number's or, in German, an ordinal's."""
    start = max(0, at - 12)
    ordinal = _ORDINAL.search(text, start, at)
    listed = ordinal and f" {int(ordinal[1]) - 1}. " in text[:at]
    return bool((ordinal and language == "de") or listed or _ABBREVIATION.search(text, start, at))


def _marker(sentence: str, known: Sequence[frozenset[str]], mode: Mode, gap: bool) -> str:
    shared = [len(frozenset(split_words(sentence)) & source) for source in known]
    chosen = {
        "best": [shared.index(max(shared))],
        "wrong": [shared.index(min(shared))],
        "all": list(range(len(known))),
    }[mode]
    return " " * gap + "".join(f"[{number + 1}]" for number in chosen)


def _add(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    piece = text[start:end]
    if piece.strip():
        spans.append((start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())))
