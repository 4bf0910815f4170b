"""Recorded upstream streams: what each network read held, and what must be made of it (form: `dialects`)."""

import base64
import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class RecordedStream:
    """One response of an upstream, and what must come of it."""

    dialect: str
    name: str
    content_type: str
    headers: Mapping[str, str]
    status: int
    reads: tuple[bytes, ...]
    """The body, a network read each, still packed if `headers` say so."""
    expected: Mapping[str, Any]
    forbidden: tuple[str, ...]
    """What must not stand in an answer."""

    @property
    def plain_reads(self) -> tuple[bytes, ...]:
        """The reads as a decoder gets them: an HTTP library has unpacked them. Packed ones are gzip here."""
        packed = any(name.lower() == "content-encoding" for name in self.headers)
        return (gzip.decompress(b"".join(self.reads)),) if packed else self.reads


def read_streams(folder: Path) -> Iterator[RecordedStream]:
    """All streams below `folder`."""
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            row = json.loads(line)
            yield RecordedStream(
                row["dialect"],
                row["name"],
                row.get("content_type", "text/event-stream"),
                row.get("headers") or {},
                row.get("http_status", 200),
                tuple(base64.b64decode(read) for read in row["reads"]),
                row["expect"],
                ("LEAK-", *(row.get("also_forbidden") or ())),
            )
