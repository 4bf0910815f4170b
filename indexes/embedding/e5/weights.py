"""Reads the 4-bit weights file: sizes, vocabulary, and tensors by name."""

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAGIC = b"E5S1"
BLOCK = 32
"""Numbers that share one scale. A block is a half-float scale and 16 bytes of two 4-bit numbers each."""
BLOCK_BYTES = 2 + BLOCK // 2


@dataclass(frozen=True, slots=True)
class TransformerSizes:
    """The sizes of the transformer, in the order of the file's header."""

    hidden: int
    layers: int
    heads: int
    inner: int
    vocabulary: int
    positions: int
    types: int


@dataclass(frozen=True, slots=True)
class UnigramPieces:
    """The unigram vocabulary: `texts[i]` has log probability `scores[i]`; then the ids of special pieces."""

    texts: tuple[str, ...]
    scores: NDArray[np.float32]
    start: int
    end: int
    pad: int
    unknown: int


@dataclass(frozen=True, slots=True)
class QuantizedMatrix:
    """A matrix of 4-bit numbers: its value is `(nibbles - 8) * scale`, one scale a block of a row."""

    nibbles: NDArray[np.uint8]
    """Rows by columns, 0..15."""
    scales: NDArray[np.float16]
    """Rows by columns / 32."""

    def dequantize(self) -> NDArray[np.float32]:
        """The matrix itself."""
        scales = np.repeat(self.scales.astype(np.float32), BLOCK, axis=1)
        return (self.nibbles.astype(np.float32) - 8) * scales


@dataclass(frozen=True, slots=True)
class ModelWeights:
    """The file's content. Tensors are read when asked for; a missing name is a KeyError."""

    sizes: TransformerSizes
    epsilon: float
    pieces: UnigramPieces
    raw: NDArray[np.uint8]
    spans: dict[str, slice]

    def read_tensor(self, name: str) -> NDArray[np.float32]:
        """A tensor kept in full, flat."""
        return np.asarray(self.raw[self.spans[name]]).view("<f4")

    def read_quantized(self, name: str, rows: int, columns: int) -> QuantizedMatrix:
        """A tensor kept in 4 bits: low halves hold the first 16 numbers of a block, high halves the rest."""
        packed = np.asarray(self.raw[self.spans[name]]).reshape(rows, columns // BLOCK, BLOCK_BYTES)
        scales = packed[:, :, :2].copy().view("<f2").reshape(rows, -1)
        halves = packed[:, :, 2:]
        nibbles = np.concatenate([halves & 15, halves >> 4], axis=2)
        return QuantizedMatrix(nibbles.reshape(rows, columns), scales)


class _WeightsCursor:
    """Reads the file from `offset` on. ValueError where it ends too early."""

    def __init__(self, raw: NDArray[np.uint8], offset: int):
        self.raw = raw
        self.offset = offset

    def read_struct(self, layout: str) -> tuple[Any, ...]:
        size = struct.calcsize(layout)
        return struct.unpack(layout, self.read_bytes(size))

    def read_array(self, kind: str, count: int) -> NDArray[Any]:
        return np.frombuffer(self.read_bytes(np.dtype(kind).itemsize * count), kind)

    def read_bytes(self, size: int) -> bytes:
        data = self.raw[self.offset : self.offset + size].tobytes()
        if len(data) != size:
            raise ValueError("the weights file ends too early")
        self.offset += size
        return data


def read_weights(path: Path) -> ModelWeights:
    """Reads `path`; ValueError if it is not such a file."""
    raw = np.memmap(path, dtype=np.uint8, mode="r")
    if raw[:4].tobytes() != MAGIC:
        raise ValueError(f"{path}: not a weights file of the kind {MAGIC.decode()}")
    cursor = _WeightsCursor(raw, 8)
    sizes = TransformerSizes(*cursor.read_struct("<7i"))
    epsilon, block = cursor.read_struct("<fi")
    if block != BLOCK:
        raise ValueError(f"{path}: blocks of {block} numbers; want {BLOCK}")
    pieces = _read_pieces(cursor)
    _skip_letters(cursor)
    return ModelWeights(sizes, epsilon, pieces, raw, _read_spans(cursor))


def _read_pieces(cursor: _WeightsCursor) -> UnigramPieces:
    count, start, end, pad, unknown = cursor.read_struct("<5i")
    (size,) = cursor.read_struct("<Q")
    offsets = cursor.read_array("<u4", count + 1).tolist()
    scores = cursor.read_array("<f4", count)
    joined = cursor.read_bytes(size)
    texts = tuple(joined[offsets[i] : offsets[i + 1]].decode() for i in range(count))
    return UnigramPieces(texts, scores, start, end, pad, unknown)


def _skip_letters(cursor: _WeightsCursor) -> None:
    """Passes the table of folded letters: the tokenizer brings its own."""
    _, size = cursor.read_struct("<iI")
    cursor.read_bytes(size)


def _read_spans(cursor: _WeightsCursor) -> dict[str, slice]:
    (count,) = cursor.read_struct("<i")
    spans = {}
    for _ in range(count):
        (length,) = cursor.read_struct("<H")
        name = cursor.read_bytes(length).decode()
        _kind, _numbers, offset, size = cursor.read_struct("<BIQQ")
        spans[name] = slice(offset, offset + size)
    return spans
