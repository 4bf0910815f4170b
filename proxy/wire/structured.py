"""Answers asked for under a JSON schema: the schema, and a strict reader of what came back."""

import json
from dataclasses import dataclass

from proxy.wire.surrogates import join_surrogates

SCHEMA: dict[str, object] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["refused", "answer", "citations", "reason"],
    "properties": {
        "refused": {"type": "boolean"},
        "answer": {"type": "string"},
        "citations": {"type": "array", "items": {"type": "integer"}},
        "reason": {"type": "string"},
    },
}
"""Strict mode of the providers wants one object with every key required, so the two kinds of reply share one:
`refused` tells which of `answer` and `citations`, or `reason`, is meant. `parse_structured_reply` takes the
short forms too."""

SCHEMA_NAME = "grounded_answer"


@dataclass(frozen=True, slots=True)
class StructuredAnswer:
    """`citations` are numbers of sources, in the order given, each once, at least one."""

    text: str
    citations: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class StructuredRefusal:
    """The model says that the sources do not cover the question. `reason` is for our log only."""

    reason: str


def parse_structured_reply(text: str) -> StructuredAnswer | StructuredRefusal | None:
    """What `text` says, or None if it is neither: prose around the JSON, other keys, other types.

    An answer that cites nothing, or is empty, is None too: the caller refuses.
    """
    try:
        value = json.loads(text, object_pairs_hook=_reject_duplicate_keys)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or not value.keys() <= {"refused", "answer", "citations", "reason"}:
        return None
    refused = value.get("refused", False)
    if not isinstance(refused, bool):
        return None
    return _parse_refusal(value) if refused else _parse_answer(value)


def _parse_refusal(value: dict[str, object]) -> StructuredRefusal | None:
    if value.get("answer") or value.get("citations"):
        return None  # an answer that is called a refusal is neither
    reason = value.get("reason", "")
    return StructuredRefusal(join_surrogates(reason)) if isinstance(reason, str) else None


def _parse_answer(value: dict[str, object]) -> StructuredAnswer | None:
    text, citations = value.get("answer"), value.get("citations")
    if not isinstance(text, str) or not text.strip() or not isinstance(citations, list) or not citations:
        return None
    if any(not isinstance(number, int) or isinstance(number, bool) or number < 1 for number in citations):
        return None
    return StructuredAnswer(join_surrogates(text), tuple(dict.fromkeys(citations)))


def _reject_duplicate_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a key twice")
    return result
