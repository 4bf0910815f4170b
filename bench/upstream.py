"""A stand-in upstream in a process of its own: streams the same cited sentences to everyone, in small pieces.

`python -m bench.upstream` prints its port. It speaks just enough HTTP/1.1 to be measured against.
"""

import asyncio
import sys

import orjson

SENTENCE = "The reading room opens at 9:30 and closes at 18:00 [1]. "
SENTENCE_COUNT = 12
PIECE_CHARS = 4
RESPONSE_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


def split_answer() -> list[str]:
    """The answer, cut as a model's tokens would cut it."""
    text = SENTENCE * SENTENCE_COUNT
    return [text[start : start + PIECE_CHARS] for start in range(0, len(text), PIECE_CHARS)]


def encode_events() -> list[bytes]:
    """The answer as chunks of HTTP, one server-sent event each; usage and `[DONE]` at the end."""
    deltas: list[tuple[dict[str, object], str | None]] = [
        ({"content": piece}, None) for piece in split_answer()
    ]
    events = [_encode_delta(delta, finish) for delta, finish in [*deltas, ({}, "stop")]]
    events.append(
        _encode_chunk({"choices": [], "usage": {"prompt_tokens": 400, "completion_tokens": len(deltas)}})
    )
    events.append(b"data: [DONE]\n\n")
    return [b"%x\r\n%s\r\n" % (len(event), event) for event in events]


def _encode_delta(delta: dict[str, object], finish_reason: str | None) -> bytes:
    return _encode_chunk({"choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}]})


def _encode_chunk(fields: dict[str, object]) -> bytes:
    head: dict[str, object] = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return b"data: " + orjson.dumps(head | fields) + b"\n\n"


async def serve_answer(pause_s: float) -> None:
    """Serves until it is ended; `pause_s` between events."""
    events = encode_events()

    async def answer_connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One answer a request, as long as the client keeps the connection."""
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = next(
                    int(line.split(b":")[1])
                    for line in head.lower().split(b"\r\n")
                    if line.startswith(b"content-length")
                )
                await reader.readexactly(length)
                writer.write(RESPONSE_HEAD)
                for event in events:
                    writer.write(event)
                    await writer.drain()
                    await asyncio.sleep(pause_s)
                writer.write(b"0\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(answer_connection, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve_answer(float(sys.argv[1]) if len(sys.argv) > 1 else 0.0))
