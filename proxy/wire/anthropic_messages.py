"""The Messages protocol of Anthropic: the body we send and the events that come back."""

from collections.abc import Iterable, Iterator

import orjson

from proxy.domain.types import Message, UpstreamCall, Usage, merge_turns
from proxy.wire import structured
from proxy.wire.openai_dialects import count
from proxy.wire.upstream_events import Done, Failed, Finished, Reason, Said, Text, Thought, shown

REASONS: dict[str, Reason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "refusal": "content_filter",
}
"""Any other reason, `pause_turn` among them, is an error: the answer is not whole."""

_INPUT = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


def body(call: UpstreamCall, cap_tokens: int) -> bytes:
    """The exact bytes of the request. Seed and penalties do not exist there and are left out."""
    sampling = call.sampling
    fields: dict[str, object] = {
        "model": call.model,
        "max_tokens": cap_tokens,
        "stream": True,
        "messages": _messages(call.messages),
    }
    if system := "\n\n".join(message.text for message in call.messages if message.role == "system"):
        fields["system"] = system
    if sampling.temperature is not None:
        fields["temperature"] = min(sampling.temperature, 1.0)  # OpenAI's scale ends at 2
    elif sampling.top_p is not None:  # newer models refuse both together
        fields["top_p"] = sampling.top_p
    if call.is_structured:
        fields["output_config"] = {"format": {"type": "json_schema", "schema": structured.SCHEMA}}
    return orjson.dumps(fields)


def _messages(messages: tuple[Message, ...]) -> list[dict[str, str]]:
    """Turns in strict alternation, the first one the user's: the protocol asks for both."""
    turns = merge_turns([message for message in messages if message.role != "system"])
    return [{"role": turn.role, "content": turn.text} for turn in turns]


class AnthropicDialect:
    """Text of text blocks is text; thinking and tool input are paid for; the rest is dropped."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def event(self, name: str, value: object) -> Iterable[Said]:
        """One event; unknown kinds and pings say nothing."""
        if not isinstance(value, dict):
            return [Failed("an event that is no object", malformed=True)]
        match value.get("type") or name:  # some gateways say it in the event's name alone
            case "message_start":
                return self._usage(_table(value.get("message")))
            case "content_block_start":
                return _block(_table(value.get("content_block")))
            case "content_block_delta":
                return _delta(_table(value.get("delta")))
            case "message_delta":
                return self._message_delta(value)
            case "message_stop":
                return [Done()]
            case "error":
                return [Failed(shown(value.get("error") or value)[:300])]
        return [Failed(f"event {name}")] if name == "error" else []

    def whole(self, value: object) -> Iterable[Said]:
        """One body of a reply that does not stream."""
        if not isinstance(value, dict):
            return [Failed("a body that is no object", malformed=True)]
        if value.get("type") == "error":
            return self.event("error", value)
        return self._whole(value)

    def _whole(self, value: dict[str, object]) -> Iterator[Said]:
        blocks = value.get("content")
        for block in blocks if isinstance(blocks, list) else []:
            yield from _block(_table(block))
        yield from self._usage(value)
        yield from _finished(value.get("stop_reason"))

    def _message_delta(self, value: dict[str, object]) -> Iterator[Said]:
        yield from self._usage(value)
        yield from _finished(_table(value.get("delta")).get("stop_reason"))

    def _usage(self, place: dict[str, object]) -> Iterator[Usage]:
        """Counts are cumulative: each overwrites the one before, none is added up over events."""
        for name, value in _table(place.get("usage")).items():
            number = count(value)
            if number is not None:
                self._counts[name] = number
        read = [self._counts[name] for name in _INPUT if name in self._counts]
        if self._counts:
            yield Usage(sum(read) if read else None, self._counts.get("output_tokens"))


def _table(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def _finished(reason: object) -> Iterator[Said]:
    if isinstance(reason, str):
        yield Finished(REASONS.get(reason, "error"))


def _block(block: dict[str, object]) -> Iterator[Said]:
    """A block may begin with text."""
    match block:
        case {"type": "text", "text": str(text)} if text:
            yield Text(text)
        case {"type": "thinking", "thinking": str(text)} if text:
            yield Thought(text)
        case {"type": "tool_use"}:
            yield Thought(shown(block.get("input")))


def _delta(delta: dict[str, object]) -> Iterator[Said]:
    match delta:
        case {"type": "text_delta", "text": str(text)} if text:
            yield Text(text)
        case {"type": "thinking_delta", "thinking": str(text)} if text:
            yield Thought(text)
        case {"type": "input_json_delta", "partial_json": str(text)} if text:
            yield Thought(text)
