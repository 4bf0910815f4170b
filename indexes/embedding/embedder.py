"""Text to unit vectors: a model folder run by onnxruntime, and a stand-in without learned meaning."""

import hashlib
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import onnxruntime
import regex
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from indexes.embedding.model import GRAPH, TOKENIZER, ModelCard, ModelError, verify_model
from indexes.types import Band, EmbedError

Ids = NDArray[np.int64]
Floats = NDArray[np.float32]

BATCH_TOKENS_MAX = 2_048
"""Padded tokens a run of the model: more saves little time and costs memory by the square of the length."""
INPUTS = frozenset(("input_ids", "attention_mask", "token_type_ids", "position_ids"))
PAD_TOKENS = ("<pad>", "[PAD]")


class OnnxEmbedder:
    """A model folder in memory. Blocking; threads may share it. Every failure is an `EmbedError`.

    Loading takes 1–3 s and about 400 MB for the default model. `threads` share one text's arithmetic.
    """

    def __init__(self, folder: Path, threads: int = 1):
        try:
            verified = verify_model(folder)
            self._card = verified.card
            self._tokenizer = _load_tokenizer(folder / TOKENIZER, verified.card)
            self._session = _open_session(folder / GRAPH, threads)
            self._inputs = _read_input_names(self._session)
            self._output = _choose_output(self._session, verified.card)
            self._pad_id = _find_pad_id(self._tokenizer, verified.card)
        except Exception as fault:  # the tokenizer and the runtime raise what they like
            raise EmbedError(_format_fault(folder, fault)) from fault
        self.name = verified.identity
        self.dim = verified.card.dim
        self.choose_band = verified.card.choose_band
        self._run_self_test()

    def embed_query(self, text: str) -> list[float]:
        """Unit vector of a question."""
        return self._embed_texts([self._card.query_prefix + text])[0].tolist()  # type: ignore[no-any-return]

    def embed_passages(self, texts: list[str]) -> list[list[float]]:
        """Unit vectors of passages, in their order."""
        return self._embed_texts([self._card.passage_prefix + text for text in texts]).tolist()  # type: ignore[no-any-return]

    def _embed_texts(self, texts: list[str]) -> Floats:
        try:
            return self._embed_encodings(self._tokenizer.encode_batch(texts))
        except EmbedError:
            raise
        except Exception as fault:
            raise EmbedError(f"the model {self._card.name} failed: {_read_first_line(fault)}") from fault

    def _embed_encodings(self, encodings: Sequence[Encoding]) -> Floats:
        vectors = np.empty((len(encodings), self._card.dim), np.float32)
        for batch in _split_batches(encodings):
            vectors[batch] = self._run_model([encodings[i] for i in batch])
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.isfinite(vectors).all() or not lengths.all():
            raise EmbedError(f"the model {self._card.name} made a vector that is no direction")
        return np.asarray(vectors / lengths)

    def _run_model(self, encodings: list[Encoding]) -> Floats:
        ids, mask = self._pad_encodings(encodings)
        tensors = {
            "input_ids": ids,
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(ids),
            "position_ids": np.maximum(mask.cumsum(axis=1) - 1, 0),
        }
        states = self._session.run([self._output], {name: tensors[name] for name in self._inputs})[0]
        pooled = _pool_states(np.asarray(states, np.float32), mask, self._card.pooling)
        if pooled.shape != (len(encodings), self._card.dim):
            raise EmbedError(
                f"the model {self._card.name} puts out {states.shape}, which is not what its card says"
            )
        return pooled

    def _pad_encodings(self, encodings: list[Encoding]) -> tuple[Ids, Ids]:
        length = max(len(encoding.ids) for encoding in encodings)
        ids = np.full((len(encodings), length), self._pad_id, np.int64)
        mask = np.zeros((len(encodings), length), np.int64)
        for row, encoding in enumerate(encodings):
            ids[row, : len(encoding.ids)] = encoding.ids
            mask[row, : len(encoding.ids)] = 1
        return ids, mask

    def _run_self_test(self) -> None:
        """Related texts are nearer than others, and texts side by side leave each other's vectors alone."""
        for probe in self._card.probes:
            question = np.array(self.embed_query(probe.question))
            answer, other = np.array(self.embed_passages([probe.answer, probe.other * 2]))
            alone = np.array(self.embed_passages([probe.answer])[0])
            if answer @ question <= other @ question or answer @ alone < 0.99:
                raise EmbedError(f"the model {self._card.name} fails its self-test on {probe.question!r}")


class BagOfTokens:
    """Unit vectors of hashed words: no learned meaning, no files. A stand-in for tests and golden runs.

    A text without a word gives the zero vector, which is near nothing.
    """

    name = "bag-of-tokens-1"
    dim = 512

    def choose_band(self, question_language: str | None, passage_language: str | None) -> Band:
        """Question and passage share function words whatever they say, and seldom more than half of all."""
        return Band(0.3, 0.9)

    def embed_query(self, text: str) -> list[float]:
        """Words hashed to dimensions and signs, weighed by 1 + log(count)."""
        weights = [0.0] * self.dim
        for word, count in Counter(_WORD.findall(text.casefold())).items():
            hashed = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest())
            weights[hashed // 2 % self.dim] += (1 + math.log(count)) * (1 if hashed % 2 else -1)
        length = math.hypot(*weights)
        return [weight / length for weight in weights] if length else weights

    def embed_passages(self, texts: list[str]) -> list[list[float]]:
        """As `embed_query`, for each."""
        return [self.embed_query(text) for text in texts]


_WORD = regex.compile(r"\p{Han}|[\p{L}\p{M}\p{N}--\p{Han}]+", regex.VERSION1)


def _load_tokenizer(path: Path, card: ModelCard) -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.enable_truncation(card.max_length)
    return tokenizer


def _open_session(path: Path, threads: int) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # A proxy shares its cores with requests: threads that wait must not spin.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def _read_input_names(session: onnxruntime.InferenceSession) -> list[str]:
    names = [node.name for node in session.get_inputs()]
    if "input_ids" not in names or not INPUTS.issuperset(names):
        raise ModelError(f"its inputs are {', '.join(names)}; want input_ids and others of {sorted(INPUTS)}")
    return names


def _choose_output(session: onnxruntime.InferenceSession, card: ModelCard) -> str:
    names = [node.name for node in session.get_outputs()]
    if card.output is not None and card.output not in names:
        raise ModelError(f"its outputs are {', '.join(names)}; the card names {card.output}")
    return card.output or names[0]


def _find_pad_id(tokenizer: Tokenizer, card: ModelCard) -> int:
    names = PAD_TOKENS if card.pad_token is None else (card.pad_token,)
    ids = [id for name in names if (id := tokenizer.token_to_id(name)) is not None]
    if not ids:
        raise ModelError(f"its tokenizer has no {' or '.join(names)}; name another in the card's `pad_token`")
    return int(ids[0])


def _split_batches(encodings: Sequence[Encoding]) -> Iterator[list[int]]:
    """Indices of texts of like length, so that little is padding; at most BATCH_TOKENS_MAX tokens a batch."""
    batch: list[int] = []
    for index in sorted(range(len(encodings)), key=lambda i: len(encodings[i].ids)):
        if batch and (len(batch) + 1) * len(encodings[index].ids) > BATCH_TOKENS_MAX:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def _pool_states(states: Floats, mask: Ids, pooling: str) -> Floats:
    """One vector a text, from the vectors of its tokens [batch, length, dim]."""
    if pooling == "none":
        return states
    if pooling == "cls":
        return states[:, 0]
    if pooling == "last":
        return np.asarray(states[np.arange(len(states)), mask.sum(axis=1) - 1])
    weights = mask[:, :, np.newaxis].astype(np.float32)
    mean: Floats = (states * weights).sum(axis=1) / weights.sum(axis=1)
    return mean


def _format_fault(folder: Path, fault: Exception) -> str:
    line = _read_first_line(fault)
    return line if str(folder) in line else f"{folder}: {line}"


def _read_first_line(fault: Exception) -> str:
    return (str(fault).strip() or type(fault).__name__).splitlines()[0]
