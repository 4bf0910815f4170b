"""Reads what OpenAI-compatible upstreams stream: the shapes of some fifteen servers, one reader."""

from collections.abc import Iterator

from proxy.domain.types import Usage
from proxy.wire.upstream_events import Failed, Finished, Reason, Said, Text, Thought, shown

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

_PLAIN = frozenset({"role", "content"})
"""Most deltas hold nothing else, and are not looked through any further."""
_THOUGHTS = ("reasoning_content", "reasoning", "thinking", "refusal")
_THOUGHT_LISTS = ("reasoning_details", "thinking_blocks")
_CALLS = ("tool_calls", "function_call", "audio")


class OpenAIDialect:
    """Only `content` of choice 0 is text; all other strings are dropped where they stand."""

    def __init__(self) -> None:
        self._called = False

    def event(self, name: str, value: object) -> list[Said]:
        """One chunk."""
        return self._said(name, value, "delta")

    def whole(self, value: object) -> list[Said]:
        """One body."""
        return self._said("", value, "message")

    def _said(self, name: str, value: object, key: str) -> list[Said]:
        if not isinstance(value, dict):
            return [_no_object(value)]
        choice = _choice(value)
        if fault := _fault(name, value, choice):
            return [*_usages(value, choice), fault]
        said = self._content(_table(choice.get(key)))
        said += _usages(value, choice)
        if reason := _reason(choice.get("finish_reason")):
            # Some servers end a tool call with "stop": it is no answer all the same.
            said.append(Finished("tool_calls" if self._called and reason == "stop" else reason))
        return said

    def _content(self, delta: dict[str, object]) -> list[Said]:
        said: list[Said] = []
        if not delta.keys() <= _PLAIN:
            said += _thoughts(delta)
            said += self._calls(delta)
        content = delta.get("content")
        if isinstance(content, str):
            if content:
                said.append(Text(content))
        elif isinstance(content, list):
            said += (item for part in content for item in _part(part))
        return said

    def _calls(self, delta: dict[str, object]) -> Iterator[Thought]:
        for name in _CALLS:
            if called := delta.get(name):
                self._called = self._called or name != "audio"
                yield Thought(shown(called))


def _part(part: object) -> Iterator[Text | Thought]:
    match part:
        case {"type": "text", "text": str(text)} if text:
            yield Text(text)
        case {"thinking": thinking}:
            yield Thought(_joined(thinking))


def _thoughts(delta: dict[str, object]) -> Iterator[Thought]:
    """Each text once: some servers say it under two names, and in a list of parts besides."""
    said = [text for name in _THOUGHTS if isinstance(text := delta.get(name), str) and text]
    yield from map(Thought, dict.fromkeys(said))
    for name in () if said else _THOUGHT_LISTS:
        if joined := _joined(delta.get(name)):
            yield Thought(joined)


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


def _choice(value: dict[str, object]) -> dict[str, object]:
    """Choice 0, at whatever place of the list; a server that leaves the index out means 0."""
    choices = value.get("choices")
    for choice in choices if isinstance(choices, list) else ():
        if isinstance(choice, dict) and choice.get("index") in (None, 0):
            return choice
    return {}


def _table(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def _reason(value: object) -> Reason | None:
    if not isinstance(value, str) or value.lower() in ("", "none", "null"):
        return None
    return REASONS.get(value.lower(), "error")


def _no_object(value: object) -> Failed:
    """Some servers send a list of errors; anything else is no event at all."""
    if isinstance(value, list):
        return Failed(shown(value)[:300])
    return Failed("an event that is no object", malformed=True)


def _fault(name: str, value: dict[str, object], choice: dict[str, object]) -> Failed | None:
    """An error wherever the servers put one."""
    found = value.get("error") or choice.get("error") or _table(value.get("x_groq")).get("error")
    if not found and (name == "error" or value.get("object") == "error" or value.get("type") == "error"):
        found = value
    return Failed(shown(found)[:300]) if found else None


def _usages(value: dict[str, object], choice: dict[str, object]) -> list[Usage]:
    reports = (_table(value.get("x_groq")).get("usage"), choice.get("usage"), value.get("usage"))
    return [usage for report in reports if report and (usage := _usage(_table(report))) != Usage()]


def _usage(report: dict[str, object]) -> Usage:
    """Some servers count thoughts in the total alone, and charge for them as output."""
    names = ("prompt_tokens", "completion_tokens", "total_tokens")
    prompt, completion, total = (count(report.get(name)) for name in names)
    if prompt is not None and total is not None and total - prompt > (completion or 0):
        return Usage(prompt, total - prompt)
    return Usage(prompt, completion)


def count(value: object) -> int | None:
    """A plausible number of tokens, or None."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53:
        return value
    return None
