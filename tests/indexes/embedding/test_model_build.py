"""The build: reads the weights format exactly, and writes a graph that computes a BERT encoder."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from numpy.typing import NDArray
from tokenizers import Tokenizer

from indexes.embedding.e5 import graph, vocabulary, weights
from tests.indexes.embedding.small_weights import HEADS, HIDDEN, LAYERS, PIECES, SmallWeights

Floats = NDArray[np.float32]


@pytest.fixture(scope="module")
def small() -> SmallWeights:
    return SmallWeights().fill()


@pytest.fixture
def source(small: SmallWeights, tmp_path: Path) -> weights.ModelWeights:
    path = tmp_path / "small.bin"
    path.write_bytes(small.build_file())
    return weights.read_weights(path)


def test_every_tensor_reads_back_as_it_was_written(small: SmallWeights, source: weights.ModelWeights) -> None:
    for name, want in small.values.items():
        four_bit = name == "emb.word" or (name.endswith(".w") and "ln" not in name)
        got = (
            source.read_quantized(name, *want.shape).dequantize()
            if four_bit
            else source.read_tensor(name).reshape(want.shape)
        )
        assert np.array_equal(got, want), name


def test_sizes_and_pieces_are_read(source: weights.ModelWeights) -> None:
    assert (source.sizes.hidden, source.sizes.layers, source.sizes.heads) == (HIDDEN, LAYERS, HEADS)
    assert source.pieces.texts == PIECES
    assert (source.pieces.start, source.pieces.pad, source.pieces.end, source.pieces.unknown) == (0, 1, 2, 3)


@pytest.mark.parametrize("spoil", [lambda raw: b"GGUF" + raw[4:], lambda raw: raw[:200]], ids=["kind", "cut"])
def test_another_file_is_refused(small: SmallWeights, tmp_path: Path, spoil: Any) -> None:
    path = tmp_path / "spoilt.bin"
    path.write_bytes(spoil(small.build_file()))
    with pytest.raises(ValueError, match=r"weights file"):
        weights.read_weights(path)


def test_the_graph_computes_the_encoder(small: SmallWeights, source: weights.ModelWeights) -> None:
    """Against the same transformer in plain numpy: eight-bit products may turn a state a little, no more."""
    ids = np.array([[0, 5, 6, 7, 2], [0, 9, 2, 1, 1]])
    mask = np.array([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])
    session = onnxruntime.InferenceSession(graph.build_encoder(source).SerializeToString())
    got = session.run(None, {"input_ids": ids, "attention_mask": mask})[0]
    want = compute_reference(small.values, ids, mask)
    cosines = (got * want).sum(-1) / np.linalg.norm(got, axis=-1) / np.linalg.norm(want, axis=-1)
    assert cosines[mask == 1].min() > 0.995


def test_the_graph_passes_onnx_s_own_check(source: weights.ModelWeights) -> None:
    onnx.checker.check_model(graph.build_encoder(source))


def test_the_tokenizer_folds_and_frames(source: weights.ModelWeights, tmp_path: Path) -> None:
    vocabulary.write_tokenizer(source.pieces, tmp_path / "tokenizer.json")
    tokenizer = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    assert tokenizer.encode("a  bz ").tokens == ["<s>", "▁a", "▁b", "z", "</s>"]
    assert tokenizer.encode("ａ\u200dｂ").tokens == tokenizer.encode("a b").tokens
    assert tokenizer.encode("").tokens == ["<s>", "</s>"]


def compute_reference(values: dict[str, Floats], ids: NDArray[np.int64], mask: NDArray[np.int64]) -> Floats:
    state = values["emb.word"][ids] + values["emb.pos"][: ids.shape[1]] + values["emb.type"][0]
    state = apply_norm(values, "emb.ln", state)
    for layer in range(LAYERS):
        name = f"l{layer}."
        attended = apply_attention([apply_linear(values, name + part, state) for part in "qkv"], mask)
        middle = apply_norm(values, name + "aln", state + apply_linear(values, name + "ao", attended))
        wide = apply_linear(values, name + "fi", middle)
        state = apply_norm(values, name + "oln", middle + apply_linear(values, name + "fo", apply_gelu(wide)))
    return state


def apply_linear(values: dict[str, Floats], name: str, state: Floats) -> Floats:
    return state @ values[name + ".w"].T + values[name + ".b"]


def apply_norm(values: dict[str, Floats], name: str, state: Floats) -> Floats:
    centred = state - state.mean(-1, keepdims=True)
    spread = np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-12)
    return np.asarray(centred / spread * values[name + ".w"] + values[name + ".b"])


def apply_attention(states: list[Floats], mask: NDArray[np.int64]) -> Floats:
    rows, length, _ = states[0].shape
    parts = [state.reshape(rows, length, HEADS, -1).swapaxes(1, 2) for state in states]
    scores = parts[0] @ parts[1].swapaxes(2, 3) / np.sqrt(HIDDEN / HEADS)
    scores = np.where(mask[:, np.newaxis, np.newaxis] == 1, scores, -np.inf)
    shares = np.exp(scores - scores.max(-1, keepdims=True))
    mixed = shares / shares.sum(-1, keepdims=True) @ parts[2]
    return np.asarray(mixed.swapaxes(1, 2).reshape(rows, length, -1))


def apply_gelu(state: Floats) -> Floats:
    # Abramowitz and Stegun 7.1.26: the error function to 1.5e-7, so that scipy is not needed
    scaled = np.abs(state) / np.sqrt(2)
    t = 1 / (1 + 0.3275911 * scaled)
    tail = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    return np.asarray(state * (1 + np.sign(state) * (1 - tail * np.exp(-(scaled**2)))) / 2)
