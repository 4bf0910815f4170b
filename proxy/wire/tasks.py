"""Recognises the errands that chat windows run on the side: titles, tags, follow-up questions.

They come to the same endpoint as questions. The shapes are those of the windows' own prompts, several
words each, so that a person's question about titles or tags is not taken for one.
"""

import re
from collections.abc import Mapping

from proxy.types import ChatRequest

_SPACE = re.compile(r"\s+")
_HEAD_CHARS = 1_500  # the instruction stands first; the conversation that it quotes may hold anything


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)


TASKS: Mapping[str, re.Pattern[str]] = {
    "title": _any(
        r"\bconcise, \S{1,9} ?word\S* title\b",
        r"\bconcise, \S{1,3}-word-or-less title for th(?:e|is) conversation\b",
        r"\bwrite a concise title for this conversation in the detected language\b",
        r"\bfour to five word title summari[sz]ing our conversation\b",
        r"\btitle for the chat that is 3-4 words in length\b",
        r"\bgenerate an? [^.]{0,40}\btitle\b[^.]{0,60} (?:summari[sz]ing|the essence of) the conversation\b",
        r"\byou are a title generator\b",
        r"\bsummari[sz]e (?:the|this) (?:user's )?conversation into a title\b",
    ),
    "tags": _any(r"\bgenerate 1-3 broad tags categori[sz]ing\b"),
    "follow_ups": _any(
        r"\bsuggest 3-5 relevant follow-up questions or prompts\b",
        r"\bsuggest \S{1,5} follow-up questions\b[^.]{0,80}\bbased on the (?:chat|conversation) history\b",
    ),
    "queries": _any(
        r"\banaly[sz]e the chat history to determine the necessity of generating search queries\b",
        r"\bgenerate search queries\b[^.]{0,60}\bbased on the (?:chat|conversation) history\b",
    ),
    "image_prompt": _any(r"\bgenerate a detailed prompt for a[mn]? image generation task\b"),
    "autocomplete": _any(r"^### task: you are an autocompletion system\b"),
    "emoji": _any(r"\breflect the speaker's likely facial expression through a fitting emoji\b"),
    "summary": _any(
        r"\bsummari[sz]e the discussion briefly in 200 words or less to use as a prompt for future context\b"
    ),
}


def task(request: ChatRequest) -> str | None:
    """The errand's name, or None for a question. It may stand in the question or in the system text."""
    for text in (request.question, request.instructions):
        head = _SPACE.sub(" ", text[:_HEAD_CHARS])
        for name, pattern in TASKS.items():
            if pattern.search(head):
                return name
    return None
