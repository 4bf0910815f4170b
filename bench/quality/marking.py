"""Puts markers into a labelled answer that has none, as a model would have written them.

Modes: `best` cites for each sentence the source that shares most words and numbers with it, `all` every
source, `wrong` the one that shares least. The marker goes before the sentence's final punctuation.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import regex

from indexes.text.words import split_words

MarkingMode = Literal["best", "all", "wrong"]

_ABBREVIATION = regex.compile(
    r"(?:^|\P{L})(?:Mr|Mrs|Ms|Dr|St|No|vs|U\.S|Inc|Co|Jan|Feb|Mar|Apr|Aug|Sept?|Oct|Nov|Dec|\p{Lu})$"
    r"|(?:^|[\n:.!?])\s*\p{Nd}{1,2}$"
)
_ORDINAL = regex.compile(r"\s(\p{Nd}{1,2})$")
_SENTENCE_END = regex.compile(
    r"[.!?…؟।]+[\"'”’)\]]*(?=\s|$)|(?<=\p{Han})\.(?=\p{Han})|[。！？]+[”’」』）]*|\n+"
)
_FINAL_PUNCTUATION = regex.compile(r"[.!?…؟।。！？]+[\"'”’)\]]*$")


@dataclass(frozen=True, slots=True)
class MarkedAnswer:
    """`text` with markers; `origins[i]` is where its character i stood in the answer, -1 for added ones."""

    text: str
    origins: tuple[int, ...]


def split_answer_sentences(text: str, language: str) -> list[tuple[int, int]]:
    """Half-open spans of sentences, by a plain rule of its own: the gate must not mark its own test."""
    spans: list[tuple[int, int]] = []
    last = 0
    for match in _SENTENCE_END.finditer(text):
        if match.group()[0] == "." and _is_inside_sentence(text, match.start(), language):
            continue
        _append_span(spans, text, last, match.end())
        last = match.end()
    _append_span(spans, text, last, len(text))
    return spans


def mark_answer(answer: str, sources: Sequence[str], mode: MarkingMode, language: str) -> MarkedAnswer:
    """`answer`, written in `language`, with a marker in every sentence."""
    source_words = [frozenset(split_words(source)) for source in sources]
    # Each with its place in the answer, or -1: added.
    pieces: list[tuple[str, int]] = []
    last = 0
    for start, end in split_answer_sentences(answer, language):
        final = _FINAL_PUNCTUATION.search(answer, start, end)
        marker_start = final.start() if final else end
        markers = _build_markers(answer[start:end], source_words, mode, has_gap=marker_start > start)
        pieces += [(answer[last:marker_start], last), (markers, -1)]
        last = marker_start
    pieces.append((answer[last:], last))
    origins = [origin + i if origin >= 0 else -1 for piece, origin in pieces for i in range(len(piece))]
    return MarkedAnswer("".join(piece for piece, _ in pieces), tuple(origins))


def _is_inside_sentence(text: str, position: int, language: str) -> bool:
    """Whether the stop at `position` is an abbreviation's, a list number's or, in German, an ordinal's."""
    start = max(0, position - 12)  # longer than any of them
    ordinal = _ORDINAL.search(text, start, position)
    listed = ordinal and f" {int(ordinal[1]) - 1}. " in text[:position]
    return bool((ordinal and language == "de") or listed or _ABBREVIATION.search(text, start, position))


def _build_markers(
    sentence: str, source_words: Sequence[frozenset[str]], mode: MarkingMode, has_gap: bool
) -> str:
    """Markers of the sources that `mode` chooses, after a blank unless they begin the sentence."""
    shared = [len(frozenset(split_words(sentence)) & source) for source in source_words]
    chosen = {
        "best": [shared.index(max(shared))],
        "wrong": [shared.index(min(shared))],
        "all": list(range(len(source_words))),
    }[mode]
    return " " * has_gap + "".join(f"[{number + 1}]" for number in chosen)


def _append_span(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    """Without the white space around it; nothing if it is nothing else."""
    piece = text[start:end]
    if piece.strip():
        spans.append((start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())))
