"""An embedding model is a folder; this checks one, and says where the default one stands.

    model.onnx        inputs `input_ids`, `attention_mask` (and, if it has them, `token_type_ids`,
                      `position_ids`), all int64 [batch, length]; its output as the card says
    tokenizer.json    of the `tokenizers` package
    model_card.json   a `ModelCard`: what the two files do not say

Bringing one's own is the normal way wherever a model hub is in reach: export any sentence encoder to ONNX,
put the three files into a folder and name it in `embedding.model`. A smallest card:

    {"name": "my-model", "licence": "MIT", "dim": 384, "max_length": 512, "pooling": "mean",
     "floor": 0.75, "ceiling": 0.9}

`floor` and `ceiling` bound the cosine: what unrelated texts reach, and what a question and its answer reach.
Where a question in one language and a passage in another lie lower, `across` bounds those; `bands` bounds
single languages that lie apart ({"zh": {"floor": 0.83, "ceiling": 0.93}}).
`fiador calibrate` measures the threshold that goes with them. Without a folder of one's own,
`ensure_default_model` builds multilingual-e5-small into the user's cache (`FIADOR_MODEL_DIR` names another
place to keep it in).
"""

import hashlib
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from indexes import types
from indexes.storage.file_checksums import hash_file

DEFAULT_NAME = "multilingual-e5-small"
DEFAULT_BUILD = f"{DEFAULT_NAME}-3"
"""The folder's name; its number moves whenever the build writes something else."""
GRAPH, TOKENIZER, CARD = "model.onnx", "tokenizer.json", "model_card.json"
FILES = (GRAPH, TOKENIZER, CARD)


class ModelError(Exception):
    """No usable model: what, where, what to do."""


class Probe(BaseModel):
    """A question that `answer` must be nearer to than `other`, or the model is broken."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    question: str
    answer: str
    other: str


PROBES = [
    Probe(
        question="How many days of leave do I have?",
        answer="Staff get 25 days of holiday a year.",
        other="The bridge is painted green.",
    ),
    Probe(
        question="Where can I park a bicycle?",
        answer="Bikes stand in the shed behind the house.",
        other="Interest is paid every quarter.",
    ),
    Probe(
        question="When does the library open?",
        answer="The reading room opens at nine.",
        other="Copper conducts heat very well.",
    ),
]


class CardBand(BaseModel):
    """What bounds the cosine: see `types.Band`."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    floor: float = Field(ge=-1, le=1)
    ceiling: float = Field(ge=-1, le=1)

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        if self.floor >= self.ceiling:
            raise ValueError("floor must be below ceiling")
        return self


class ModelCard(CardBand):
    """What the graph and the tokenizer do not say about a model."""

    name: str = Field(min_length=1)
    licence: str = Field(min_length=1)
    origin: str = ""
    dim: int = Field(ge=1)
    max_length: int = Field(ge=8)
    """Tokens; longer texts are cut."""
    pooling: Literal["mean", "cls", "last", "none"]
    """How token vectors become one: their mean, the first, the last, or it is one already."""
    query_prefix: str = ""
    passage_prefix: str = ""
    output: str | None = None
    """Name of the graph's output; None: its first."""
    pad_token: str | None = None
    """None: `<pad>` or `[PAD]`, whichever the tokenizer knows."""
    languages: list[str] = []
    """For the reader only."""
    across: CardBand | None = None
    """For a question and a passage in different languages; None: as for the same."""
    bands: dict[str, CardBand] = {}
    """For a question and a passage in one language, where that lies apart from the others."""
    sha256: dict[Literal["model.onnx", "tokenizer.json"], str] = {}
    """Checked where given."""
    probes: list[Probe] = PROBES
    """For the self-test; a model without English brings its own."""

    def choose_band(self, question_language: str | None, passage_language: str | None) -> types.Band:
        """The cosines that count for a question and a passage in these languages; None: not known."""
        if question_language is None or passage_language is None:
            return types.Band(self.floor, self.ceiling)
        question, passage = (tag.partition("-")[0] for tag in (question_language, passage_language))
        band = self.bands.get(question, self) if question == passage else self.across or self
        return types.Band(band.floor, band.ceiling)

    def compute_identity(self, hashes: dict[str, str]) -> str:
        """Its name and a hash of all that shapes a vector; `hashes` of the files by name."""
        shaping = [self.pooling, self.max_length, self.query_prefix, self.passage_prefix, self.output]
        encoded = json.dumps([sorted(hashes.items()), shaping]).encode()
        return f"{self.name}@{hashlib.sha256(encoded).hexdigest()[:16]}"


@dataclass(frozen=True, slots=True)
class VerifiedModel:
    """A folder whose files are what its card says."""

    folder: Path
    card: ModelCard
    identity: str
    """Name and a hash of all that shapes a vector: vectors of different identities are never compared."""


def locate_model(setting: str | Path) -> Path | None:
    """The folder meant by `embedding.model`: for `off` none, for `auto` the default once it is built."""
    if setting == "off":
        return None
    if setting == "auto":
        return locate_default_model() if (locate_default_model() / CARD).is_file() else None
    return Path(setting)


def locate_default_model() -> Path:
    """Where the default model stands or will stand."""
    return _find_cache_folder() / DEFAULT_BUILD


def verify_model(folder: Path) -> VerifiedModel:
    """Checks files, card and hashes (reads every byte, .1 s for 100 MB); ModelError says what is wrong."""
    missing = [name for name in FILES if not (folder / name).is_file()]
    if missing:
        raise ModelError(
            f"{folder}: {', '.join(missing)} missing; a model is a folder with {', '.join(FILES)}"
        )
    card = _read_card(folder / CARD)
    hashes = {name: hash_file(folder / name) for name in (GRAPH, TOKENIZER)}
    for name, want in card.sha256.items():
        if hashes[name] != want:
            advice = (
                "`fiador model` builds it anew" if folder == locate_default_model() else "get the file again"
            )
            raise ModelError(f"{folder / name}: changed or broken (its card says another SHA-256); {advice}")
    return VerifiedModel(folder, card, card.compute_identity(hashes))


def _read_card(path: Path) -> ModelCard:
    try:
        return ModelCard.model_validate_json(path.read_bytes())
    except ValidationError as fault:
        faults = [f"{'.'.join(map(str, error['loc'])) or 'card'}: {error['msg']}" for error in fault.errors()]
        raise ModelError(f"{path}: {'; '.join(faults)}") from None


def _find_cache_folder() -> Path:
    if named := os.environ.get("FIADOR_MODEL_DIR"):
        return Path(named)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "fiador"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "fiador"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fiador"
