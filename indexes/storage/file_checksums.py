"""Checksums of files. Tantivy seals each file of a keyword index with one, and seldom looks at it.

A file of a segment is its payload, a footer in JSON with the payload's CRC-32, the footer's length and a
magic number, both as little-endian u32 (tantivy, src/directory/footer.rs).
"""

import hashlib
import json
import struct
import zlib
from pathlib import Path

TAIL = struct.Struct("<II")
MAGIC = 1337
SEGMENT_PARTS = ("fast", "fieldnorm", "idx", "pos", "store", "term")
"""Files that each segment has, by their ending."""


def is_index_intact(folder: Path) -> bool:
    """Whether every file that the index names is there as it was written. Reads all of it: 1 GB a second."""
    try:
        segments = json.loads((folder / "meta.json").read_bytes())["segments"]
        files = [name for segment in segments for name in _list_segment_files(segment)]
        return all(_has_valid_checksum((folder / name).read_bytes()) for name in files)
    except (OSError, ValueError, LookupError, TypeError, struct.error):
        return False


def _list_segment_files(segment: dict[str, object]) -> list[str]:
    name = str(segment["segment_id"]).replace("-", "")
    deletes = segment["deletes"]
    delete_files = [f"{name}.{deletes['opstamp']}.del"] if isinstance(deletes, dict) else []
    return [*(f"{name}.{part}" for part in SEGMENT_PARTS), *delete_files]


def _has_valid_checksum(data: bytes) -> bool:
    length, magic = TAIL.unpack_from(data, len(data) - TAIL.size)
    end = len(data) - TAIL.size
    crc = json.loads(data[end - length : end])["crc"]
    return bool(magic == MAGIC and zlib.crc32(memoryview(data)[: end - length]) == crc)


def hash_file(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
