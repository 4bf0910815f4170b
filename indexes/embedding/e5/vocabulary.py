"""Writes the vocabulary as a `tokenizer.json`: unigram pieces after SentencePiece's nmt_nfkc folding."""

import base64
import io
import json
from pathlib import Path
from typing import Any

import sentencepiece
from sentencepiece import sentencepiece_model_pb2

from indexes.embedding.e5.weights import UnigramPieces

META = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}


def write_tokenizer(pieces: UnigramPieces, path: Path) -> None:
    """Writes `path` in the format of the `tokenizers` package."""
    path.write_text(
        json.dumps(_build_tokenizer(pieces), ensure_ascii=False, separators=(",", ":")), encoding="utf-8"
    )


def _build_tokenizer(pieces: UnigramPieces) -> dict[str, Any]:
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": _list_special_tokens(pieces),
        "normalizer": _build_normalizer(),
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, META]},
        "post_processor": _build_post_processor(pieces),
        "decoder": META,
        "model": {
            "type": "Unigram",
            "unk_id": pieces.unknown,
            "vocab": [[text, float(score)] for text, score in zip(pieces.texts, pieces.scores, strict=True)],
            "byte_fallback": False,
        },
    }


def _list_special_tokens(pieces: UnigramPieces) -> list[dict[str, Any]]:
    ids = sorted((pieces.start, pieces.pad, pieces.end, pieces.unknown))
    common = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    return [{"id": i, "content": pieces.texts[i], **common} for i in ids]


def _build_normalizer() -> dict[str, Any]:
    charsmap = base64.b64encode(_compile_charsmap()).decode()
    return {
        "type": "Sequence",
        "normalizers": [
            # The table the model was trained with takes U+200D for a space; newer SentencePiece keeps it.
            {"type": "Replace", "pattern": {"String": "\u200d"}, "content": " "},
            {"type": "Precompiled", "precompiled_charsmap": charsmap},
        ],
    }


def _compile_charsmap() -> bytes:
    """SentencePiece's compiled nmt_nfkc table, out of a throw-away model: there is no other way to it."""
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["a b c d e f g"] * 10),
        model_writer=written,
        vocab_size=15,
        hard_vocab_limit=False,
        normalization_rule_name="nmt_nfkc",
        model_type="unigram",
        minloglevel=2,
    )
    model = sentencepiece_model_pb2.ModelProto()  # type: ignore[attr-defined]
    model.ParseFromString(written.getvalue())
    return bytes(model.normalizer_spec.precompiled_charsmap)


def _build_post_processor(pieces: UnigramPieces) -> dict[str, Any]:
    """`<s> text </s>`; the format wants a rule for pairs too."""
    start, end = pieces.texts[pieces.start], pieces.texts[pieces.end]
    single = [_make_special_token(start), {"Sequence": {"id": "A", "type_id": 0}}, _make_special_token(end)]
    marks = {
        text: {"id": text, "ids": [i], "tokens": [text]}
        for text, i in ((start, pieces.start), (end, pieces.end))
    }
    pair = [
        *single,
        _make_special_token(end),
        {"Sequence": {"id": "B", "type_id": 0}},
        _make_special_token(end),
    ]
    return {"type": "TemplateProcessing", "single": single, "pair": pair, "special_tokens": marks}


def _make_special_token(text: str) -> dict[str, Any]:
    return {"SpecialToken": {"id": text, "type_id": 0}}
