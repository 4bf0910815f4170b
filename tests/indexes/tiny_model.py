"""A model folder of a few kilobytes, made on the spot: a table of word vectors behind the real format."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

DIM = 64
MEANINGS = (
    ("leave", "holiday", "days"),
    ("bicycle", "bikes", "park", "shed"),
    ("library", "reading", "open", "opens"),
    ("bridge", "painted", "green"),
    ("interest", "paid", "quarter"),
    ("copper", "heat", "conducts"),
)
"""Words of one line have one vector; all others share a faint one."""
CARD = {
    "name": "tiny",
    "licence": "Apache-2.0",
    "dim": DIM,
    "max_length": 16,
    "pooling": "mean",
    "query_prefix": "",
    "floor": 0.2,
    "ceiling": 0.9,
}


def write_model(folder: Path, **card: Any) -> Path:
    """A whole model folder at `folder`; `card` replaces entries of its card."""
    folder.mkdir(parents=True, exist_ok=True)
    words = ["<pad>", "<unk>", *(word for line in MEANINGS for word in line)]
    _build_word_tokenizer(words).save(str(folder / "tokenizer.json"))
    onnx.save(build_graph(_build_table(words)), folder / "model.onnx")
    (folder / "model_card.json").write_text(json.dumps(CARD | card))
    return folder


def build_graph(
    table: np.ndarray[Any, Any], kinds: tuple[str, ...] = ("input_ids", "attention_mask")
) -> onnx.ModelProto:
    """Looks every token up in `table`; other inputs are taken and not used."""
    inputs = [helper.make_tensor_value_info(kind, TensorProto.INT64, ["batch", "length"]) for kind in kinds]
    output = helper.make_tensor_value_info("states", TensorProto.FLOAT, ["batch", "length", table.shape[1]])
    node = helper.make_node("Gather", ["table", kinds[0]], ["states"])
    graph = helper.make_graph([node], "tiny", inputs, [output], [numpy_helper.from_array(table, "table")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def _build_table(words: list[str]) -> np.ndarray[Any, Any]:
    table = np.zeros((len(words), DIM), np.float32)
    table[:, DIM - 1] = 0.1
    for place, line in enumerate(MEANINGS):
        for word in line:
            table[words.index(word), place] = 1
    return table


def _build_word_tokenizer(words: list[str]) -> Tokenizer:
    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return tokenizer
