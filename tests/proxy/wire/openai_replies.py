"""Replies of an OpenAI-compatible server, and what is heard of them."""

import json

from proxy.wire.openai_dialects import OpenAIDialect
from tests.fake_upstream import make_chunk
from tests.proxy.wire.reply_reading import WholeReply, read_reply

STOP = make_chunk({}, "stop")


def make_sse_event(value: object, name: str = "") -> bytes:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(value)}\n\n".encode()


def read_openai_reply(*reads: bytes, content_type: str = "text/event-stream") -> WholeReply:
    return read_reply(OpenAIDialect(), reads, content_type)


TEXT = make_chunk({"content": "Ada."})
