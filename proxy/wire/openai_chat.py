"""What a client gets: every chunk, body and error in OpenAI's shape, built here from nothing upstream.

The shape is the smallest that every client measured accepts: one id, one role, one finish, annotations in
one delta without text, usage on a chunk of its own, one `[DONE]`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import orjson

from proxy.domain.errors import FiadorError
from proxy.domain.ports import ReplyEnd
from proxy.domain.types import Citation

KEEP_ALIVE = b": keep-alive\n\n"
"""A comment without `id:`: openai-python fails on a keep-alive after an id."""

_LINE_BREAKS = tuple((char.encode(), f"\\u{ord(char):04x}".encode()) for char in "\u2028\u2029\x85")


@dataclass(frozen=True, slots=True)
class ReplyLabel:
    """What all chunks of one reply say alike. `model` is the client's own name for it."""

    id: str
    model: str
    created: int
    """Unix seconds."""


class ChunkEncoder:
    """The chunks of one streamed reply, in order: `encode_text` any number of times, then `encode_end`."""

    def __init__(self, label: ReplyLabel, *, include_usage: bool):
        self._include_usage = include_usage
        head = orjson.dumps(
            {
                "id": label.id,
                "object": "chat.completion.chunk",
                "created": label.created,
                "model": label.model,
            }
        )
        self._head = b"data: " + head[:-1] + b',"choices":['
        self._has_begun = False

    def encode_text(self, released: str) -> bytes:
        """A chunk of text; before the first one the role, on a chunk of its own."""
        return self._encode_role() + self._encode_chunk({"content": released})

    def encode_end(self, end: ReplyEnd) -> bytes:
        """Annotations if there are any, finish, usage if it was asked for, `[DONE]`."""
        annotations = (
            self._encode_chunk({"annotations": build_annotations(end.citations)}) if end.citations else b""
        )
        last = self._encode_chunk({}, end.finish) + self._encode_usage(end)
        return self._encode_role() + annotations + last + b"data: [DONE]\n\n"

    def encode_error_event(self, fault: FiadorError) -> bytes:
        """An error event in the stream, for a fault after its head: clients raise, so it is no clean end."""
        return b"data: " + encode_error(fault) + b"\n\n"

    def _encode_role(self) -> bytes:
        if self._has_begun:
            return b""
        self._has_begun = True
        return self._encode_chunk({"role": "assistant", "content": ""})

    def _encode_chunk(self, delta: dict[str, object], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return self._head + _escape_line_breaks(orjson.dumps(choice)) + b"]}\n\n"

    def _encode_usage(self, end: ReplyEnd) -> bytes:
        if not self._include_usage:
            return b""
        return self._head + b'],"usage":' + orjson.dumps(build_usage(end)) + b"}\n\n"


def _escape_line_breaks(data: bytes) -> bytes:
    """JSON with escapes for all at which a client that reads text by lines would end one: httpx does."""
    for char, escape in _LINE_BREAKS:
        data = data.replace(char, escape)
    return data


def encode_completion(label: ReplyLabel, text: str, end: ReplyEnd) -> bytes:
    """The whole reply of a request that does not stream."""
    message: dict[str, object] = {"role": "assistant", "content": text, "refusal": None}
    if end.citations:
        message["annotations"] = build_annotations(end.citations)
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": end.finish}
    return orjson.dumps(
        {
            "id": label.id,
            "object": "chat.completion",
            "created": label.created,
            "model": label.model,
            "choices": [choice],
            "usage": build_usage(end),
        }
    )


def build_annotations(citations: Sequence[Citation]) -> list[dict[str, object]]:
    """`url_citation`s; spans are half-open, in code points of the text sent."""
    return [
        {
            "type": "url_citation",
            "url_citation": {
                "start_index": citation.start,
                "end_index": citation.end,
                "title": citation.title,
                "url": citation.url,
            },
        }
        for citation in citations
    ]


def build_usage(end: ReplyEnd) -> dict[str, int]:
    """Tokens as booked."""
    prompt, completion = end.usage
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
    }


def encode_error(fault: FiadorError) -> bytes:
    """The envelope that every client shows; all four keys, `code` always a string."""
    return orjson.dumps(
        {
            "error": {
                "message": fault.text,
                "type": fault.kind,
                "param": fault.param,
                "code": fault.code,
            }
        }
    )


def encode_model_list(aliases: Sequence[str], created: int) -> bytes:
    """The list of `GET /v1/models`."""
    return orjson.dumps({"object": "list", "data": [_build_model(alias, created) for alias in aliases]})


def encode_model(alias: str, created: int) -> bytes:
    """The one model of `GET /v1/models/{id}`."""
    return orjson.dumps(_build_model(alias, created))


def _build_model(alias: str, created: int) -> dict[str, object]:
    return {"id": alias, "object": "model", "created": created, "owned_by": "fiador"}
