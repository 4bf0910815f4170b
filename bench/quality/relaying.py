"""A whole proxy between a server that replays recorded streams and a client that looks at every byte."""

import asyncio
import json
import socket
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import uvicorn
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from pydantic import ValidationError

from bench.quality.recorded_streams import RecordedStream
from proxy.app.asgi import LifespanApp
from proxy.commands import sync
from proxy.settings.tree import Settings

DOCUMENT = """---
title: Stones
url: https://stones.example/notes
language: en
allowed_groups: [public]
---
# Stones

Basalt forms where lava cools quickly at the surface.
"""
QUESTION = "How does basalt form where lava cools at the surface?"


class ReplayServer:
    """An HTTP server that answers every request with `recording`, each read in one write."""

    def __init__(self) -> None:
        self.recording: RecordedStream | None = None
        self.call_count = 0

    async def answer_request(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Plays `recording` and closes: every answer has a connection of its own."""
        assert self.recording
        self.call_count += 1
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(
            int(line.split(b":")[1])
            for line in head.split(b"\r\n")
            if line.lower().startswith(b"content-length")
        )
        await reader.readexactly(length)
        writer.write(_encode_head(self.recording))
        for read in self.recording.reads:
            writer.write(read)
            await writer.drain()
            await asyncio.sleep(0)  # a turn for the proxy, which runs in this loop, to read it apart
        writer.close()


def _encode_head(recording: RecordedStream) -> bytes:
    headers = {"content-type": recording.content_type, "connection": "close"} | dict(recording.headers)
    fields = [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([f"HTTP/1.1 {recording.status} Replay", *fields, "", ""]).encode()


async def relay_streams(recordings: list[RecordedStream]) -> list[tuple[RecordedStream, str]]:
    """Each stream to a streaming client and to one that is not; what was wrong with what they got."""
    replay = ReplayServer()
    server = await asyncio.start_server(replay.answer_request, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    faults: list[tuple[RecordedStream, str]] = []
    with tempfile.TemporaryDirectory() as home:
        async with open_proxy_client(f"http://127.0.0.1:{port}", Path(home)) as client:
            for recording in recordings:
                replay.recording = recording
                for stream in (True, False):
                    calls = replay.call_count
                    faults += [
                        (recording, fault) for fault in await find_response_faults(client, recording, stream)
                    ]
                    if replay.call_count != calls + 1:
                        faults.append((recording, f"called {replay.call_count - calls} times"))
    server.close()
    return faults


async def find_response_faults(
    client: httpx.AsyncClient, recording: RecordedStream, is_streaming: bool
) -> list[str]:
    """Everything that is wrong with one response."""
    model = "stones-anthropic" if recording.dialect == "anthropic" else "stones"
    body = {"model": model, "messages": [{"role": "user", "content": QUESTION}], "stream": is_streaming}
    response = await client.post("/v1/chat/completions", json=body)
    raw = response.text + json.dumps(dict(response.headers))
    leaks = [f"leaks {secret}" for secret in recording.forbidden if secret in raw]
    if response.status_code != 200:  # before any byte of an answer: an error of ours
        return [*leaks, *_find_envelope_faults(response)]
    return leaks + list(
        _find_stream_faults(response.text) if is_streaming else _find_body_faults(response.text)
    )


def _find_envelope_faults(response: httpx.Response) -> list[str]:
    fields = {"message", "type", "param", "code"}
    is_ours = response.status_code == 503 and response.json()["error"].keys() == fields
    return [] if is_ours else [f"HTTP {response.status_code}"]


def _find_stream_faults(text: str) -> Iterator[str]:
    events = [event for event in text.split("\n\n") if event and not event.startswith(":")]
    if events[-1:] != ["data: [DONE]"] or not text.endswith("\n\n"):
        yield "no [DONE] at the end"
    choices = []
    for event in events[:-1]:
        try:
            chunk = ChatCompletionChunk.model_validate_json(event.removeprefix("data: "), strict=True)
        except ValidationError as fault:
            yield f"no chunk: {event[:60]} ({fault.error_count()} faults)"
            continue
        choices += chunk.choices
    if [choice.delta.role for choice in choices] != ["assistant"] + [None] * (len(choices) - 1):
        yield "not one role, first"
    if [bool(choice.finish_reason) for choice in choices] != [False] * (len(choices) - 1) + [True]:
        yield "not one finish, last"
    if not any(choice.delta.content for choice in choices):
        yield "no text"


def _find_body_faults(text: str) -> Iterator[str]:
    try:
        body = ChatCompletion.model_validate_json(text, strict=True)
    except ValidationError as fault:
        yield f"no completion ({fault.error_count()} faults)"
        return
    if not body.choices[0].message.content:
        yield "no text"


@asynccontextmanager
async def open_proxy_client(upstream_url: str, home: Path) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a proxy over one document and this upstream."""
    (home / "stones").mkdir()
    (home / "stones" / "basalt.md").write_text(DOCUMENT, "utf-8")
    settings = build_settings(upstream_url, home)
    await sync.sync_once(settings, sync.build_text_printer())
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(LifespanApp(settings), log_level="error", lifespan="on", ws="none")
    server = uvicorn.Server(config)
    running = asyncio.create_task(server.serve(sockets=[listener]))
    while not server.started and not running.done():  # noqa: ASYNC110 - uvicorn has no event for it
        await asyncio.sleep(0.01)
    address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    async with httpx.AsyncClient(base_url=address, trust_env=False, timeout=30) as client:
        yield client
    server.should_exit = True
    await running


def build_settings(upstream_url: str, home: Path) -> Settings:
    """Keywords alone, no limits, no retries: the wire is what is looked at."""
    prices = {"input_usd_per_million": 0.1, "output_usd_per_million": 0.1}
    shared = {"base_url": upstream_url, "retries": 0, "idle_s": 5}
    return Settings.model_validate(
        {
            "server": {"data_dir": home / "data"},
            "auth": {"mode": "open"},
            "limits": {"address_minute": 0, "address_hour": 0, "address_day": 0, "key_minute": 0},
            "embedding": {"model": "off"},
            "log": {"level": "error"},
            "assistants": {"stones": {"sources": ["stones"]}},
            "sources": {"stones": {"path": home / "stones"}},
            "upstreams": {
                "openai": {"protocol": "openai"} | shared,
                "anthropic": {"protocol": "anthropic"} | shared,
            },
            "models": {
                "stones": {"assistant": "stones", "upstream": "openai", "model": "m", "prices": prices},
                "stones-anthropic": {
                    "assistant": "stones",
                    "upstream": "anthropic",
                    "model": "m",
                    "prices": prices,
                },
            },
        }
    )
