"""Writes the transformer as an ONNX graph: 4-bit embeddings, 8-bit products, one a layer left in full."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from indexes.embedding.e5.weights import ModelWeights

OPSET = 21
IR_VERSION = 10
RUNTIME = "com.microsoft"
"""onnxruntime's own operators, which its CPU kernels have on every platform."""
WEIGHT_MAX = 64
"""7 bits: the 16-bit sums of AVX2's byte products cannot overflow."""


class _GraphBuilder:
    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def add_constant(self, name: str, values: NDArray[Any]) -> str:
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def add_node(self, kind: str, inputs: Sequence[str], *outputs: str, **attributes: Any) -> str:
        domain = RUNTIME if kind in _RUNTIME_KINDS else ""
        node = helper.make_node(
            kind, inputs, outputs, name=f"{kind}:{outputs[0]}", domain=domain, **attributes
        )
        self.nodes.append(node)
        return outputs[0]


_RUNTIME_KINDS = frozenset(
    ("GatherBlockQuantized", "MatMulIntegerToFloat", "MultiHeadAttention", "SkipLayerNormalization", "Gelu")
)


def build_encoder(weights: ModelWeights) -> onnx.ModelProto:
    """From `input_ids`, `attention_mask` [batch, length] to `last_hidden_state` [batch, length, hidden]."""
    graph = _GraphBuilder()
    state = _add_embeddings(graph, weights)
    graph.add_node("Cast", ["attention_mask"], "mask", to=TensorProto.INT32)
    for layer in range(weights.sizes.layers):
        last = layer == weights.sizes.layers - 1
        state = _add_layer(
            graph, weights, f"l{layer}.", (state, "last_hidden_state" if last else f"l{layer}.out")
        )
    return _build_onnx_model(graph, weights.sizes.hidden)


def _add_embeddings(graph: _GraphBuilder, weights: ModelWeights) -> str:
    sizes = weights.sizes
    words = weights.read_quantized("emb.word", sizes.vocabulary, sizes.hidden)
    graph.constants.append(_pack_four_bits("words", words.nibbles))
    graph.add_constant("words.scales", words.scales)
    inputs = ["words", "input_ids", "words.scales"]
    graph.add_node("GatherBlockQuantized", inputs, "word.half", block_size=32, gather_axis=0, quantize_axis=1)
    graph.add_node("Cast", ["word.half"], "word", to=TensorProto.FLOAT)
    positions = weights.read_tensor("emb.pos").reshape(-1, sizes.hidden)[: sizes.positions]
    graph.add_constant("places", positions + weights.read_tensor("emb.type").reshape(-1, sizes.hidden)[0])
    graph.add_node("Shape", ["input_ids"], "length", start=1, end=2)
    graph.add_constant("first", np.zeros(1, np.int64))
    graph.add_node("Slice", ["places", "first", "length", "first"], "place")
    graph.add_node("Add", ["word", "place"], "embedded")
    norm = ["embedded", *_add_norm_constants(graph, weights, "emb.ln")]
    return graph.add_node("LayerNormalization", norm, "embedding", axis=-1, epsilon=weights.epsilon)


def _add_layer(graph: _GraphBuilder, weights: ModelWeights, name: str, ends: tuple[str, str]) -> str:
    """One transformer layer from the state `ends[0]` to `ends[1]`, post-norm as in BERT."""
    state, out = ends
    hidden, inner = weights.sizes.hidden, weights.sizes.inner
    parts = [_add_product(graph, weights, f"{name}{part}", (state, hidden, hidden)) for part in "qkv"]
    inputs = [*parts, "", "mask"]
    graph.add_node("MultiHeadAttention", inputs, f"{name}heads", num_heads=weights.sizes.heads)
    attention = _add_product(graph, weights, f"{name}ao", (f"{name}heads", hidden, hidden))
    middle = _add_normalized_sum(graph, weights, f"{name}aln", (state, attention, f"{name}middle"))
    wide = _add_product(graph, weights, f"{name}fi", (middle, hidden, inner))
    graph.add_node("Gelu", [wide], f"{name}gelu")
    narrow = _add_full_product(graph, weights, f"{name}fo", (f"{name}gelu", inner, hidden))
    return _add_normalized_sum(graph, weights, f"{name}oln", (middle, narrow, out))


def _add_product(
    graph: _GraphBuilder, weights: ModelWeights, name: str, operand: tuple[str, int, int]
) -> str:
    """The linear map `name` in 8-bit whole numbers. `operand`: a state, its width, the width of the result.

    States are quantised at run time, weights here: symmetric, one scale an output column.
    """
    state, width, columns = operand
    if not any(node.output[0] == f"{state}.bytes" for node in graph.nodes):
        graph.add_node("DynamicQuantizeLinear", [state], f"{state}.bytes", f"{state}.scale", f"{state}.zero")
    matrix = weights.read_quantized(f"{name}.w", columns, width).dequantize()
    scales = np.abs(matrix).max(axis=1) / WEIGHT_MAX
    graph.add_constant(f"{name}.w", np.rint(matrix / scales[:, np.newaxis]).astype(np.int8).T)
    graph.add_constant(f"{name}.s", scales)
    graph.add_constant(f"{name}.b", weights.read_tensor(f"{name}.b"))
    inputs = [f"{state}.bytes", f"{name}.w", f"{state}.scale", f"{name}.s", f"{state}.zero", "", f"{name}.b"]
    return graph.add_node("MatMulIntegerToFloat", inputs, f"{name}.out")


def _add_full_product(
    graph: _GraphBuilder, weights: ModelWeights, name: str, operand: tuple[str, int, int]
) -> str:
    """As `_add_product`, in full floats.

    The states before it spread too far for one 8-bit scale. This costs 20 MB and lifts the vectors' cosine
    to those of the graph in full floats from .9965 to .9987.
    """
    state, width, columns = operand
    graph.add_constant(f"{name}.w", weights.read_quantized(f"{name}.w", columns, width).dequantize().T)
    graph.add_constant(f"{name}.b", weights.read_tensor(f"{name}.b"))
    graph.add_node("MatMul", [state, f"{name}.w"], f"{name}.product")
    return graph.add_node("Add", [f"{name}.product", f"{name}.b"], f"{name}.out")


def _add_normalized_sum(
    graph: _GraphBuilder, weights: ModelWeights, name: str, states: tuple[str, str, str]
) -> str:
    """The norm of the sum of two states, called `states[2]`."""
    first, second, out = states
    inputs = [first, second, *_add_norm_constants(graph, weights, name)]
    return graph.add_node("SkipLayerNormalization", inputs, out, epsilon=weights.epsilon)


def _add_norm_constants(graph: _GraphBuilder, weights: ModelWeights, name: str) -> list[str]:
    return [graph.add_constant(f"{name}.{part}", weights.read_tensor(f"{name}.{part}")) for part in "wb"]


def _pack_four_bits(name: str, nibbles: NDArray[np.uint8]) -> onnx.TensorProto:
    signed = (nibbles ^ 8).astype(np.uint8)  # n - 8 in four bits of two's complement
    packed = signed[:, 0::2] | (signed[:, 1::2] << 4)
    return helper.make_tensor(name, TensorProto.INT4, nibbles.shape, packed.tobytes(), raw=True)


def _build_onnx_model(graph: _GraphBuilder, hidden: int) -> onnx.ModelProto:
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"])
        for name in ("input_ids", "attention_mask")
    ]
    shape: list[str | int | None] = ["batch", "length", hidden]
    output = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, shape)
    encoder = helper.make_graph(graph.nodes, "multilingual-e5-small", inputs, [output], graph.constants)
    imports = [helper.make_opsetid("", OPSET), helper.make_opsetid(RUNTIME, 1)]
    return helper.make_model(encoder, opset_imports=imports, ir_version=IR_VERSION, producer_name="fiador")
