"""What becomes of each field of a chat request: one table, nothing falls through a default.

A field is read, left aside, or refused. Nothing is ever passed on as it came: the upstream body is built
from `ChatRequest` alone. `request.py` does the reading; this module only decides.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

ValueCheck = Callable[[object], bool]


@dataclass(frozen=True, slots=True)
class AcceptedField:
    """Becomes part of `ChatRequest`, if `is_valid`; `expectation` says in words what is."""

    is_valid: ValueCheck
    expectation: str


@dataclass(frozen=True, slots=True)
class IgnoredField:
    """Changes nothing in the answer, so it is left aside, whatever it holds."""

    reason: str
    """For readers of the table: no client is told."""


@dataclass(frozen=True, slots=True)
class UnsupportedField:
    """A client that sends it expects something that we do not give; `is_harmless` values are left aside."""

    reason: str
    is_harmless: ValueCheck = lambda value: value is None
    is_tool_field: bool = False
    """Belongs to tool calling, so `tools = "drop"` leaves it aside."""


FieldRule = AcceptedField | IgnoredField | UnsupportedField


def is_integer(value: object) -> bool:
    """A JSON integer; `true` is none, though Python thinks so."""
    return isinstance(value, int) and not isinstance(value, bool)


def _make_range_check(low: float, high: float) -> ValueCheck:
    return lambda value: (is_integer(value) or isinstance(value, float)) and low <= value <= high  # type: ignore[operator]


def _is_positive_integer(value: object) -> bool:
    return isinstance(value, int) and is_integer(value) and value > 0


def _is_stop_value(value: object) -> bool:
    sequences = [value] if isinstance(value, str) else value
    return (
        isinstance(sequences, list)
        and len(sequences) <= 4
        and all(isinstance(sequence, str) and 0 < len(sequence) <= 256 for sequence in sequences)
    )


def _is_name(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= 256


EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
VERBOSITIES = ("low", "medium", "high")

_COPIES = "would leave a copy of ungated text with the upstream"
_TOOLS = "the text of a tool call passes no gate"
_EVIDENCE = "evidence comes from the operator's own documents alone"

FIELDS: Mapping[str, FieldRule] = {
    "model": AcceptedField(_is_name, "the name of a model, see /v1/models"),
    "messages": AcceptedField(
        lambda value: isinstance(value, list) and bool(value), "a list with at least one message"
    ),
    "stream": AcceptedField(lambda value: isinstance(value, bool), "true or false"),
    "stream_options": AcceptedField(lambda value: isinstance(value, dict), "an object"),
    "max_tokens": AcceptedField(_is_positive_integer, "a positive integer"),
    "max_completion_tokens": AcceptedField(_is_positive_integer, "a positive integer"),
    "temperature": AcceptedField(_make_range_check(0, 2), "a number from 0 to 2"),
    "top_p": AcceptedField(_make_range_check(0, 1), "a number from 0 to 1"),
    "seed": AcceptedField(lambda value: is_integer(value) and -(2**63) <= value < 2**63, "a 64-bit integer"),  # type: ignore[operator]
    "presence_penalty": AcceptedField(_make_range_check(-2, 2), "a number from -2 to 2"),
    "frequency_penalty": AcceptedField(_make_range_check(-2, 2), "a number from -2 to 2"),
    "reasoning_effort": AcceptedField(lambda value: value in EFFORTS, f"one of {', '.join(EFFORTS)}"),
    "verbosity": AcceptedField(lambda value: value in VERBOSITIES, f"one of {', '.join(VERBOSITIES)}"),
    "stop": AcceptedField(
        _is_stop_value, "a string or up to four strings, none empty or longer than 256 characters"
    ),
    "metadata": IgnoredField("a label for the provider's own logs"),
    "user": IgnoredField("who asks is told by the key"),
    "safety_identifier": IgnoredField("who asks is told by the key"),
    "prompt_cache_key": IgnoredField("the prompt is ours"),
    "prompt_cache_retention": IgnoredField("the prompt is ours"),
    "prompt_cache_options": IgnoredField("the prompt is ours"),
    "service_tier": IgnoredField("the operator chooses what is paid for"),
    "moderation": IgnoredField("its result would be upstream text"),
    "n": UnsupportedField(
        "one answer is checked and sent", lambda value: value is None or (is_integer(value) and value == 1)
    ),
    "logprobs": UnsupportedField(
        "probabilities hold ungated tokens", lambda value: value is None or value is False
    ),
    "top_logprobs": UnsupportedField(
        "probabilities hold ungated tokens", lambda value: value is None or (is_integer(value) and value == 0)
    ),
    "logit_bias": UnsupportedField(
        "it could ban the markers that the check needs", lambda value: value in (None, {})
    ),
    "response_format": UnsupportedField(
        "an answer in JSON has no room for citations", lambda value: value in (None, {"type": "text"})
    ),
    "modalities": UnsupportedField("only text is checked", lambda value: value in (None, ["text"])),
    "audio": UnsupportedField("only text is checked"),
    "prediction": UnsupportedField("the client's own text would come out as the answer"),
    "web_search_options": UnsupportedField(_EVIDENCE),
    "store": UnsupportedField(_COPIES, lambda value: value is None or value is False),
    "tools": UnsupportedField(_TOOLS, lambda value: value in (None, []), is_tool_field=True),
    "tool_choice": UnsupportedField(
        _TOOLS, lambda value: value in (None, "none", "auto"), is_tool_field=True
    ),
    "parallel_tool_calls": UnsupportedField(_TOOLS, is_tool_field=True),
    "functions": UnsupportedField(_TOOLS, lambda value: value in (None, []), is_tool_field=True),
    "function_call": UnsupportedField(
        _TOOLS, lambda value: value in (None, "none", "auto"), is_tool_field=True
    ),
}
"""Every field of the current OpenAI chat request; a test compares it with the `openai` package's types."""
