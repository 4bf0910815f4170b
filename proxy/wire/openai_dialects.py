"""Reads what OpenAI-compatible upstreams stream: the shapes of some fifteen servers, one reader."""

from collections.abc import Iterator

from proxy.domain.types import Usage
from proxy.wire.upstream_events import (
    AnswerFinish,
    AnswerText,
    DialectEvent,
    FinishReason,
    ThoughtText,
    UpstreamFailure,
)
from proxy.wire.upstream_json import ensure_dict, parse_token_count, render_json

FINISH_REASONS: dict[str, FinishReason] = {
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

_PLAIN_FIELDS = frozenset({"role", "content"})
"""Most deltas hold nothing else, and are not looked through any further."""
_THOUGHT_FIELDS = ("reasoning_content", "reasoning", "thinking", "refusal")
_THOUGHT_LIST_FIELDS = ("reasoning_details", "thinking_blocks")
_CALL_FIELDS = ("tool_calls", "function_call", "audio")


class OpenAIDialect:
    """Only `content` of choice 0 is text; all other strings are dropped where they stand."""

    def __init__(self) -> None:
        self._has_tool_call = False

    def read_event(self, name: str, value: object) -> list[DialectEvent]:
        """One chunk; its text is in `delta`."""
        return self._read_completion(name, value, "delta")

    def read_body(self, value: object) -> list[DialectEvent]:
        """One body of a reply that does not stream; its text is in `message`."""
        return self._read_completion("", value, "message")

    def _read_completion(self, name: str, value: object, key: str) -> list[DialectEvent]:
        if not isinstance(value, dict):
            return [_build_non_object_failure(value)]
        choice = _find_choice(value)
        if failure := _find_failure(name, value, choice):
            return [*_read_usages(value, choice), failure]
        events = self._read_delta(ensure_dict(choice.get(key)))
        events += _read_usages(value, choice)
        if reason := _parse_finish_reason(choice.get("finish_reason")):
            # Some servers end a tool call with "stop": it is no answer all the same.
            events.append(AnswerFinish("tool_calls" if self._has_tool_call and reason == "stop" else reason))
        return events

    def _read_delta(self, delta: dict[str, object]) -> list[DialectEvent]:
        events: list[DialectEvent] = []
        if not delta.keys() <= _PLAIN_FIELDS:
            events += _read_thoughts(delta)
            events += self._read_tool_calls(delta)
        content = delta.get("content")
        if isinstance(content, str):
            if content:
                events.append(AnswerText(content))
        elif isinstance(content, list):
            events += (item for part in content for item in _read_part(part))
        return events

    def _read_tool_calls(self, delta: dict[str, object]) -> Iterator[ThoughtText]:
        for name in _CALL_FIELDS:
            if call := delta.get(name):
                self._has_tool_call = self._has_tool_call or name != "audio"
                yield ThoughtText(render_json(call))


def _read_part(part: object) -> Iterator[AnswerText | ThoughtText]:
    match part:
        case {"type": "text", "text": str(text)} if text:
            yield AnswerText(text)
        case {"thinking": thinking}:
            yield ThoughtText(_join_part_texts(thinking))


def _read_thoughts(delta: dict[str, object]) -> Iterator[ThoughtText]:
    """Each text once: some servers say it under two names, and in a list of parts besides."""
    texts = [text for name in _THOUGHT_FIELDS if isinstance(text := delta.get(name), str) and text]
    yield from map(ThoughtText, dict.fromkeys(texts))
    for name in () if texts else _THOUGHT_LIST_FIELDS:
        if joined := _join_part_texts(delta.get(name)):
            yield ThoughtText(joined)


def _join_part_texts(value: object) -> str:
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


def _find_choice(value: dict[str, object]) -> dict[str, object]:
    """Choice 0, at whatever place of the list; a server that leaves the index out means 0."""
    choices = value.get("choices")
    for choice in choices if isinstance(choices, list) else ():
        if isinstance(choice, dict) and choice.get("index") in (None, 0):
            return choice
    return {}


def _parse_finish_reason(value: object) -> FinishReason | None:
    if not isinstance(value, str) or value.lower() in ("", "none", "null"):
        return None
    return FINISH_REASONS.get(value.lower(), "error")


def _build_non_object_failure(value: object) -> UpstreamFailure:
    """Some servers send a list of errors; anything else is no event at all."""
    if isinstance(value, list):
        return UpstreamFailure(render_json(value)[:300])
    return UpstreamFailure("an event that is no object", is_malformed=True)


def _find_failure(name: str, value: dict[str, object], choice: dict[str, object]) -> UpstreamFailure | None:
    """An error wherever the servers put one."""
    error = value.get("error") or choice.get("error") or ensure_dict(value.get("x_groq")).get("error")
    if not error and (name == "error" or value.get("object") == "error" or value.get("type") == "error"):
        error = value
    return UpstreamFailure(render_json(error)[:300]) if error else None


def _read_usages(value: dict[str, object], choice: dict[str, object]) -> list[Usage]:
    reports = (ensure_dict(value.get("x_groq")).get("usage"), choice.get("usage"), value.get("usage"))
    return [usage for report in reports if report and (usage := _parse_usage(ensure_dict(report))) != Usage()]


def _parse_usage(report: dict[str, object]) -> Usage:
    """Some servers count thoughts in the total alone, and charge for them as output."""
    names = ("prompt_tokens", "completion_tokens", "total_tokens")
    prompt, completion, total = (parse_token_count(report.get(name)) for name in names)
    if prompt is not None and total is not None and total - prompt > (completion or 0):
        return Usage(prompt, total - prompt)
    return Usage(prompt, completion)
