"""Replies of an OpenAI-compatible server, and what is heard of them."""

import json

from proxy.wire.openai_dialects import OpenAIDialect
from tests.fakes import chunk
from tests.proxy.wire.reading import Read, read

STOP = chunk({}, "stop")


def event(value: object, name: str = "") -> bytes:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(value)}\n\n".encode()


def heard(*reads: bytes, content_type: str = "text/event-stream") -> Read:
    return read(OpenAIDialect(), reads, content_type)


TEXT = chunk({"content": "Ada."})
