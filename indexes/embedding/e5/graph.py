"""Writes the transformer as an ONNX graph: 4-bit embeddings, 8-bit products, one a layer left in full."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from indexes.embedding.e5.weights import Weights

OPSET = 21
IR_VERSION = 10
RUNTIME = "com.microsoft"
"""onnxruntime's own operators, which its CPU kernels have on every platform."""
WEIGHT_MAX = 64
"""7 bits: the 16-bit sums of AVX2's byte products cannot overflow."""


class _Graph:
    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, name: str, values: NDArray[Any]) -> str:
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def node(self, kind: str, inputs: Sequence[str], *outputs: str, **attributes: Any) -> str:
        domain = RUNTIME if kind in _RUNTIME_KINDS else ""
        made = helper.make_node(
            kind, inputs, outputs, name=f"{kind}:{outputs[0]}", domain=domain, **attributes
        )
        self.nodes.append(made)
        return outputs[0]


_RUNTIME_KINDS = frozenset(
    ("GatherBlockQuantized", "MatMulIntegerToFloat", "MultiHeadAttention", "SkipLayerNormalization", "Gelu")
)


def encoder(weights: Weights) -> onnx.ModelProto:
    """From `input_ids`, `attention_mask` [batch, length] to `last_hidden_state` [batch, length, hidden]."""
    graph = _Graph()
    state = _embeddings(graph, weights)
    graph.node("Cast", ["attention_mask"], "mask", to=TensorProto.INT32)
    for layer in range(weights.sizes.layers):
        last = layer == weights.sizes.layers - 1
        state = _layer(
            graph, weights, f"l{layer}.", (state, "last_hidden_state" if last else f"l{layer}.out")
        )
    return _model(graph, weights.sizes.hidden)


def _embeddings(graph: _Graph, weights: Weights) -> str:
    sizes = weights.sizes
    words = weights.blocks("emb.word", sizes.vocabulary, sizes.hidden)
    graph.constants.append(_four_bit("words", words.nibbles))
    graph.constant("words.scales", words.scales)
    found = ["words", "input_ids", "words.scales"]
    graph.node("GatherBlockQuantized", found, "word.half", block_size=32, gather_axis=0, quantize_axis=1)
    graph.node("Cast", ["word.half"], "word", to=TensorProto.FLOAT)
    places = weights.plain("emb.pos").reshape(-1, sizes.hidden)[: sizes.positions]
    graph.constant("places", places + weights.plain("emb.type").reshape(-1, sizes.hidden)[0])
    graph.node("Shape", ["input_ids"], "length", start=1, end=2)
    graph.constant("first", np.zeros(1, np.int64))
    graph.node("Slice", ["places", "first", "length", "first"], "place")
    graph.node("Add", ["word", "place"], "embedded")
    norm = ["embedded", *_norm(graph, weights, "emb.ln")]
    return graph.node("LayerNormalization", norm, "embedding", axis=-1, epsilon=weights.epsilon)


def _layer(graph: _Graph, weights: Weights, name: str, ends: tuple[str, str]) -> str:
    """One transformer layer from the state `ends[0]` to `ends[1]`, post-norm as in BERT."""
    state, out = ends
    hidden, inner = weights.sizes.hidden, weights.sizes.inner
    parts = [_product(graph, weights, f"{name}{part}", (state, hidden, hidden)) for part in "qkv"]
    looked = [*parts, "", "mask"]
    graph.node("MultiHeadAttention", looked, f"{name}heads", num_heads=weights.sizes.heads)
    attention = _product(graph, weights, f"{name}ao", (f"{name}heads", hidden, hidden))
    middle = _added(graph, weights, f"{name}aln", (state, attention, f"{name}middle"))
    wide = _product(graph, weights, f"{name}fi", (middle, hidden, inner))
    graph.node("Gelu", [wide], f"{name}gelu")
    narrow = _full_product(graph, weights, f"{name}fo", (f"{name}gelu", inner, hidden))
    return _added(graph, weights, f"{name}oln", (middle, narrow, out))


def _product(graph: _Graph, weights: Weights, name: str, of: tuple[str, int, int]) -> str:
    """The linear map `name` of the state `of[0]`, from `of[1]` to `of[2]` numbers, in 8-bit whole numbers.

    States are quantised at run time, weights here: symmetric, one scale an output column.
    """
    state, width, columns = of
    if not any(node.output[0] == f"{state}.bytes" for node in graph.nodes):
        graph.node("DynamicQuantizeLinear", [state], f"{state}.bytes", f"{state}.scale", f"{state}.zero")
    matrix = weights.blocks(f"{name}.w", columns, width).values()
    scales = np.abs(matrix).max(axis=1) / WEIGHT_MAX
    graph.constant(f"{name}.w", np.rint(matrix / scales[:, np.newaxis]).astype(np.int8).T)
    graph.constant(f"{name}.s", scales)
    graph.constant(f"{name}.b", weights.plain(f"{name}.b"))
    inputs = [f"{state}.bytes", f"{name}.w", f"{state}.scale", f"{name}.s", f"{state}.zero", "", f"{name}.b"]
    return graph.node("MatMulIntegerToFloat", inputs, f"{name}.out")


def _full_product(graph: _Graph, weights: Weights, name: str, of: tuple[str, int, int]) -> str:
    """As `_product` in full floats.

    The states before it spread too far for one 8-bit scale. This costs 20 MB and lifts the vectors' cosine
    to those of the graph in full floats from .9965 to .9987.
    """
    state, width, columns = of
    graph.constant(f"{name}.w", weights.blocks(f"{name}.w", columns, width).values().T)
    graph.constant(f"{name}.b", weights.plain(f"{name}.b"))
    graph.node("MatMul", [state, f"{name}.w"], f"{name}.product")
    return graph.node("Add", [f"{name}.product", f"{name}.b"], f"{name}.out")


def _added(graph: _Graph, weights: Weights, name: str, states: tuple[str, str, str]) -> str:
    """The norm of the sum of two states, called `states[2]`."""
    first, second, out = states
    inputs = [first, second, *_norm(graph, weights, name)]
    return graph.node("SkipLayerNormalization", inputs, out, epsilon=weights.epsilon)


def _norm(graph: _Graph, weights: Weights, name: str) -> list[str]:
    return [graph.constant(f"{name}.{part}", weights.plain(f"{name}.{part}")) for part in "wb"]


def _four_bit(name: str, nibbles: NDArray[np.uint8]) -> onnx.TensorProto:
    signed = (nibbles ^ 8).astype(np.uint8)  # n - 8 in four bits of two's complement
    packed = signed[:, 0::2] | (signed[:, 1::2] << 4)
    return helper.make_tensor(name, TensorProto.INT4, nibbles.shape, packed.tobytes(), raw=True)


def _model(graph: _Graph, hidden: int) -> onnx.ModelProto:
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"])
        for name in ("input_ids", "attention_mask")
    ]
    shape: list[str | int | None] = ["batch", "length", hidden]
    output = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, shape)
    made = helper.make_graph(graph.nodes, "multilingual-e5-small", inputs, [output], graph.constants)
    imports = [helper.make_opsetid("", OPSET), helper.make_opsetid(RUNTIME, 1)]
    return helper.make_model(made, opset_imports=imports, ir_version=IR_VERSION, producer_name="fiador")
