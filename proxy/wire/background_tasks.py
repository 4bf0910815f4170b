"""Recognises the errands that chat windows run on the side: titles, tags, follow-up questions, summaries.

They come to the same endpoint as questions. The shapes are those of the windows' own prompts, several
words each, so that a person's question about titles or tags is not taken for one.
"""

import re
from collections.abc import Mapping

from proxy.domain.types import ChatRequest

_SPACE = re.compile(r"\s+")
_HEAD_CHARS = 1_500  # the instruction stands first; the conversation that it quotes may hold anything
_CHAT = r"(?:conversation|chat|thread|dialogue|discussion|session|message)s?\b"
_INSTRUCTION = (
    r"(?:^|[.:!#*>-] ?)(?:please )?(?:you will |you need to |your task is to )?"
    r"(?:generate|create|write|provide|give|suggest|produce)"
)
"""The beginning of an instruction; what a person asks about generating a title stands inside a question."""


def _compile_any_pattern(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)


TASKS: Mapping[str, re.Pattern[str]] = {
    "title": _compile_any_pattern(
        rf"{_INSTRUCTION} an? (?:[^\s.?!]+ ){{0,9}}?(?:title|name)\b[^?!]{{0,90}}"
        rf"\b(?:this|the|our|an?|user's) (?:\S+ ){{0,2}}?{_CHAT}",
        rf"\bbased on (?:the|this) (?:\S+ ){{0,2}}?{_CHAT}[^.?!]{{0,20}}, (?:please )?"
        r"(?:generate|create|write|give|provide|suggest)\b[^.?!]{0,60}\b(?:title|name)\b",
        rf"\bsummari[sz]e (?:\S+ ){{0,4}}?{_CHAT}[^.?!]{{0,40}}? (?:into|as) (?:\S+ ){{0,4}}?titles?\b",
        r"\bsummari[sz]e (?:\S+ )?in an? \S{1,8}[- ]word title\b",
        r"\bconcise, \S{1,9} ?word\S* title\b",
        r"\bconcise title for this conversation\b",
        r"\btitle for the chat that is 3-4 words in length\b",
        r"\banaly[sz]e this conversation and provide:",
        r"\byou are a title generator\b",
        r"\byou are an? [^.?!]{0,30}\b(?:chat|conversation|thread) (?:title|titling|titles) "
        r"(?:assistant|generator)\b",
        r"\byou are an? [^.?!]{0,30}\bconversation (?:summari[sz]er|namer)\b",
        r"\byou are a summari[sz]ation ai\b",
        r"(?:总结|概括|归纳)[^。？]{0,12}(?:对话|会话|聊天)[^。？]{0,20}标题",
        r"(?:对话|会话|聊天)[^。？]{0,12}(?:总结|概括|归纳)[^。？]{0,20}标题",
        r"根据(?:对话|会话|聊天)[^。？]{0,8}生成[^。？]{0,24}标题",
        r"四到五个字直接返回这句话的简要主题",
    ),
    "tags": _compile_any_pattern(r"\bgenerate 1-3 broad tags categori[sz]ing\b"),
    "follow_ups": _compile_any_pattern(
        r"\bsuggest 3-5 relevant follow-up questions or prompts\b",
        r"\bsuggest \S{1,5} follow-up questions\b[^.]{0,80}\bbased on the (?:chat|conversation) history\b",
    ),
    "queries": _compile_any_pattern(
        r"\banaly[sz]e the chat history to determine the necessity of generating search queries\b",
        r"\bgenerate search queries\b[^.]{0,60}\bbased on the (?:chat|conversation) history\b",
        r"\brephrase the follow[- ]?up (?:question|input|query) to be a standalone\b",
    ),
    "image_prompt": _compile_any_pattern(r"\bgenerate a detailed prompt for a[mn]? image generation task\b"),
    "autocomplete": _compile_any_pattern(r"^### task: you are an autocompletion system\b"),
    "emoji": _compile_any_pattern(
        r"\breflect the speaker's likely facial expression through a fitting emoji\b"
    ),
    "summary": _compile_any_pattern(
        r"\bsummari[sz]e the discussion briefly in 200 words or less to use as a prompt for future context\b",
        r"\bsummari[sz]e the conversation history that will be compacted\b",
        r"\bprogressively summari[sz]e the (?:lines of )?conversation\b",
        r"\bextracting key takeaways from conversations and summari[sz]ing them\b",
        r"总结一下对话内容，用作后续的上下文提示",
    ),
    "tools": _compile_any_pattern(
        r"\bchoose and return the correct tool\(s\) from the list of available tools\b"
    ),
    "merge": _compile_any_pattern(r"\bset of responses from various models to the latest user query\b"),
}


def match_background_task(request: ChatRequest) -> str | None:
    """The errand's name, or None for a question. It may stand in the question or in the system text."""
    for text in (request.question, request.instructions):
        head = _SPACE.sub(" ", text[:_HEAD_CHARS])
        for name, pattern in TASKS.items():
            if pattern.search(head):
                return name
    return None
