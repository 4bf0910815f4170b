"""The Messages protocol of Anthropic: the body we send and the events that come back."""

from collections.abc import Iterable, Iterator

import orjson

from proxy.domain.types import Message, UpstreamCall, Usage, merge_turns
from proxy.wire import structured
from proxy.wire.upstream_events import (
    AnswerFinish,
    AnswerText,
    DialectEvent,
    DoneSignal,
    FinishReason,
    ThoughtText,
    UpstreamFailure,
)
from proxy.wire.upstream_json import ensure_dict, parse_token_count, render_json

FINISH_REASONS: dict[str, FinishReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "refusal": "content_filter",
}
"""Any other reason, `pause_turn` among them, is an error: the answer is not whole."""

_INPUT_COUNTS = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
"""The counts of tokens sent: `input_tokens` is without those of the caches."""


def encode_messages_request(call: UpstreamCall, cap_tokens: int) -> bytes:
    """The exact bytes of the request. Seed and penalties do not exist there and are left out.

    `cap_tokens`: the most that the upstream may write, thoughts included.
    """
    sampling = call.sampling
    fields: dict[str, object] = {
        "model": call.model,
        "max_tokens": cap_tokens,
        "stream": True,
        "messages": _build_messages(call.messages),
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


def _build_messages(messages: tuple[Message, ...]) -> list[dict[str, str]]:
    """Turns in strict alternation, the first one the user's: the protocol asks for both."""
    turns = merge_turns([message for message in messages if message.role != "system"])
    return [{"role": turn.role, "content": turn.text} for turn in turns]


class AnthropicDialect:
    """Text of text blocks is text; thinking and tool input are paid for; the rest is dropped."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def read_event(self, name: str, value: object) -> Iterable[DialectEvent]:
        """One event; unknown kinds and pings say nothing."""
        if not isinstance(value, dict):
            return [UpstreamFailure("an event that is no object", is_malformed=True)]
        match value.get("type") or name:  # some gateways say it in the event's name alone
            case "message_start":
                return self._read_usage(ensure_dict(value.get("message")))
            case "content_block_start":
                return _read_block(ensure_dict(value.get("content_block")))
            case "content_block_delta":
                return _read_delta(ensure_dict(value.get("delta")))
            case "message_delta":
                return self._read_message_delta(value)
            case "message_stop":
                return [DoneSignal()]
            case "error":
                return [UpstreamFailure(render_json(value.get("error") or value)[:300])]
        return [UpstreamFailure(f"event {name}")] if name == "error" else []

    def read_body(self, value: object) -> Iterable[DialectEvent]:
        """One body of a reply that does not stream."""
        if not isinstance(value, dict):
            return [UpstreamFailure("a body that is no object", is_malformed=True)]
        if value.get("type") == "error":
            return self.read_event("error", value)
        return self._read_content_blocks(value)

    def _read_content_blocks(self, value: dict[str, object]) -> Iterator[DialectEvent]:
        blocks = value.get("content")
        for block in blocks if isinstance(blocks, list) else []:
            yield from _read_block(ensure_dict(block))
        yield from self._read_usage(value)
        yield from _read_stop_reason(value.get("stop_reason"))

    def _read_message_delta(self, value: dict[str, object]) -> Iterator[DialectEvent]:
        yield from self._read_usage(value)
        yield from _read_stop_reason(ensure_dict(value.get("delta")).get("stop_reason"))

    def _read_usage(self, holder: dict[str, object]) -> Iterator[Usage]:
        """Counts are cumulative: each overwrites the one before, none is added up over events."""
        for name, value in ensure_dict(holder.get("usage")).items():
            number = parse_token_count(value)
            if number is not None:
                self._counts[name] = number
        input_counts = [self._counts[name] for name in _INPUT_COUNTS if name in self._counts]
        if self._counts:
            yield Usage(sum(input_counts) if input_counts else None, self._counts.get("output_tokens"))


def _read_stop_reason(reason: object) -> Iterator[DialectEvent]:
    """Says nothing while the message goes on: `reason` is null until it ends."""
    if isinstance(reason, str):
        yield AnswerFinish(FINISH_REASONS.get(reason, "error"))


def _read_block(block: dict[str, object]) -> Iterator[DialectEvent]:
    """A block may begin with text."""
    match block:
        case {"type": "text", "text": str(text)} if text:
            yield AnswerText(text)
        case {"type": "thinking", "thinking": str(text)} if text:
            yield ThoughtText(text)
        case {"type": "tool_use"}:
            yield ThoughtText(render_json(block.get("input")))


def _read_delta(delta: dict[str, object]) -> Iterator[DialectEvent]:
    match delta:
        case {"type": "text_delta", "text": str(text)} if text:
            yield AnswerText(text)
        case {"type": "thinking_delta", "thinking": str(text)} if text:
            yield ThoughtText(text)
        case {"type": "input_json_delta", "partial_json": str(text)} if text:
            yield ThoughtText(text)
