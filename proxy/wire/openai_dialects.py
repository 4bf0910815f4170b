"""Reads what OpenAI-compatible upstreams stream: the shapes of some fifteen servers, one reader."""

from collections.abc import Iterable, Iterator

import orjson

from proxy.types import Usage
from proxy.wire.said import Failed, Finished, Reason, Said, Text, Thought

REASONS: dict[str, Reason] = {
    "stop": "stop",
    "eos": "stop",
    "eos_token": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "content_filter": "content_filter",
    "safety": "content_filter",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "tool_use": "tool_calls",
}
"""Lower case; any other reason is an error, "none" and "null" are none."""

_THOUGHTS = ("reasoning_content", "reasoning", "thinking", "refusal")
_THOUGHT_LISTS = ("reasoning_details", "thinking_blocks")
_CALLS = ("tool_calls", "function_call", "audio")


class OpenAIDialect:
    """Only `content` of the first choice is text; all other strings are dropped where they stand."""

    def __init__(self) -> None:
        self._called = False

    def event(self, name: str, value: object) -> Iterable[Said]:
        """One chunk."""
        return self._said(name, value, "delta")

    def whole(self, value: object) -> Iterable[Said]:
        """One body."""
        return self._said("", value, "message")

    def _said(self, name: str, value: object, key: str) -> Iterator[Said]:
        fault = _fault(name, value)
        choice = _choice(value)
        if isinstance(value, dict) and not fault:
            yield from self._content(_table(choice.get(key)))
        if isinstance(value, dict):
            yield from _usages(value)
        if fault:
            yield fault
        elif reason := _reason(choice.get("finish_reason")):
            # Some servers end a tool call with "stop": it is no answer all the same.
            yield Finished("tool_calls" if self._called and reason == "stop" else reason)

    def _content(self, delta: dict[str, object]) -> Iterator[Said]:
        yield from _thoughts(delta)
        for name in _CALLS:
            if called := delta.get(name):
                self._called = self._called or name != "audio"
                yield Thought(orjson.dumps(called, default=str).decode("utf-8", "replace"))
        content = delta.get("content")
        for part in content if isinstance(content, list) else [content]:
            yield from _part(part)


def _part(part: object) -> Iterator[Said]:
    if isinstance(part, dict):
        if part.get("type") == "text":
            part = part.get("text")
        elif thinking := part.get("thinking"):
            yield Thought(_joined(thinking))
    if isinstance(part, str) and part:
        yield Text(part)


def _thoughts(delta: dict[str, object]) -> Iterator[Said]:
    said = False
    for name in _THOUGHTS:
        thought = delta.get(name)
        if isinstance(thought, str) and thought:
            said = True
            yield Thought(thought)
    for name in () if said else _THOUGHT_LISTS:  # they repeat what stood in the string
        if thought := _joined(delta.get(name)):
            yield Thought(thought)


def _joined(value: object) -> str:
    """The strings of a list of parts."""
    if isinstance(value, str):
        return value
    parts = value if isinstance(value, list) else []
    return "".join(
        text
        for part in parts
        if isinstance(part, dict)
        for text in (part.get("text"), part.get("thinking"))
        if isinstance(text, str)
    )


def _choice(value: object) -> dict[str, object]:
    """Choice 0, at whatever place of the list; a server that leaves the index out means 0."""
    choices = value.get("choices") if isinstance(value, dict) else None
    for choice in map(_table, choices if isinstance(choices, list) else ()):
        if choice.get("index") in (None, 0):
            return choice
    return {}


def _table(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def _reason(value: object) -> Reason | None:
    if not isinstance(value, str) or value.lower() in ("", "none", "null"):
        return None
    return REASONS.get(value.lower(), "error")


def _fault(name: str, value: object) -> Failed | None:
    """An error wherever the servers put one."""
    if isinstance(value, list):
        return Failed(_shown(value))
    if not isinstance(value, dict):
        return Failed("an event that is no object", malformed=True)
    places = (value, _table(value.get("x_groq")), _choice(value))
    found = next((place["error"] for place in places if place.get("error")), None)
    if found is None and (name == "error" or "error" in (value.get("object"), value.get("type"))):
        found = value.get("message", value)
    return None if found is None else Failed(_shown(found))


def _shown(value: object) -> str:
    return orjson.dumps(value, default=str).decode("utf-8", "replace")[:300]


def _usages(value: dict[str, object]) -> Iterator[Usage]:
    for place in (_table(value.get("x_groq")), value):
        reported = _table(place.get("usage"))
        usage = Usage(count(reported.get("prompt_tokens")), count(reported.get("completion_tokens")))
        if usage != Usage():
            yield usage


def count(value: object) -> int | None:
    """A plausible number of tokens, or None."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53:
        return value
    return None
