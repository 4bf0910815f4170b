"""What becomes of each field of a chat request: one table, nothing falls through a default.

A field is read, left aside, or refused. Nothing is ever passed on as it came: the upstream body is built
from `ChatRequest` alone. `request.py` does the reading; this page only decides.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

Check = Callable[[object], bool]


@dataclass(frozen=True, slots=True)
class Read:
    """Becomes part of `ChatRequest`, if `fits`; `want` says in words what fits."""

    fits: Check
    want: str


@dataclass(frozen=True, slots=True)
class Ignore:
    """Changes nothing in the answer, so it is left aside, whatever it holds. `why` for the docs."""

    why: str


@dataclass(frozen=True, slots=True)
class Refuse:
    """A client that sends it expects something that we do not give; `harmless` values are left aside."""

    why: str
    harmless: Check = lambda value: value is None
    tool: bool = False
    """Belongs to tool calling, so `tools = "drop"` leaves it aside."""


Rule = Read | Ignore | Refuse


def whole(value: object) -> bool:
    """A JSON integer; `true` is none, though Python thinks so."""
    return isinstance(value, int) and not isinstance(value, bool)


def _between(low: float, high: float) -> Check:
    return lambda value: (whole(value) or isinstance(value, float)) and low <= value <= high  # type: ignore[operator]


def _stop(value: object) -> bool:
    sequences = [value] if isinstance(value, str) else value
    return (
        isinstance(sequences, list)
        and len(sequences) <= 4
        and all(isinstance(one, str) and 0 < len(one) <= 256 for one in sequences)
    )


def _name(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= 256


EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
VERBOSITIES = ("low", "medium", "high")

_COPIES = "would leave a copy of ungated text with the upstream"
_TOOLS = "the text of a tool call passes no gate"
_EVIDENCE = "evidence comes from the operator's own documents alone"

FIELDS: Mapping[str, Rule] = {
    "model": Read(_name, "the name of a model, see /v1/models"),
    "messages": Read(
        lambda value: isinstance(value, list) and bool(value), "a list with at least one message"
    ),
    "stream": Read(lambda value: isinstance(value, bool), "true or false"),
    "stream_options": Read(lambda value: isinstance(value, dict), "an object"),
    "max_tokens": Read(lambda value: whole(value) and value > 0, "a positive integer"),  # type: ignore[operator]
    "max_completion_tokens": Read(lambda value: whole(value) and value > 0, "a positive integer"),  # type: ignore[operator]
    "temperature": Read(_between(0, 2), "a number from 0 to 2"),
    "top_p": Read(_between(0, 1), "a number from 0 to 1"),
    "seed": Read(lambda value: whole(value) and -(2**63) <= value < 2**63, "a 64-bit integer"),  # type: ignore[operator]
    "presence_penalty": Read(_between(-2, 2), "a number from -2 to 2"),
    "frequency_penalty": Read(_between(-2, 2), "a number from -2 to 2"),
    "reasoning_effort": Read(lambda value: value in EFFORTS, f"one of {', '.join(EFFORTS)}"),
    "verbosity": Read(lambda value: value in VERBOSITIES, f"one of {', '.join(VERBOSITIES)}"),
    "stop": Read(_stop, "a string or up to four strings, none empty or longer than 256 characters"),
    "metadata": Ignore("a label for the provider's own logs"),
    "user": Ignore("who asks is told by the key"),
    "safety_identifier": Ignore("who asks is told by the key"),
    "prompt_cache_key": Ignore("the prompt is ours"),
    "prompt_cache_retention": Ignore("the prompt is ours"),
    "prompt_cache_options": Ignore("the prompt is ours"),
    "service_tier": Ignore("the operator chooses what is paid for"),
    "moderation": Ignore("its result would be upstream text"),
    "n": Refuse(
        "one answer is checked and sent", lambda value: value is None or (whole(value) and value == 1)
    ),
    "logprobs": Refuse("probabilities hold ungated tokens", lambda value: value is None or value is False),
    "top_logprobs": Refuse(
        "probabilities hold ungated tokens", lambda value: value is None or (whole(value) and value == 0)
    ),
    "logit_bias": Refuse("it could ban the markers that the check needs", lambda value: value in (None, {})),
    "response_format": Refuse(
        "an answer in JSON has no room for citations", lambda value: value in (None, {"type": "text"})
    ),
    "modalities": Refuse("only text is checked", lambda value: value in (None, ["text"])),
    "audio": Refuse("only text is checked"),
    "prediction": Refuse("the client's own text would come out as the answer"),
    "web_search_options": Refuse(_EVIDENCE),
    "store": Refuse(_COPIES, lambda value: value is None or value is False),
    "tools": Refuse(_TOOLS, lambda value: value in (None, []), tool=True),
    "tool_choice": Refuse(_TOOLS, lambda value: value in (None, "none", "auto"), tool=True),
    "parallel_tool_calls": Refuse(_TOOLS, tool=True),
    "functions": Refuse(_TOOLS, lambda value: value in (None, []), tool=True),
    "function_call": Refuse(_TOOLS, lambda value: value in (None, "none", "auto"), tool=True),
}
"""Every field of the current OpenAI chat request; a test compares it with the `openai` package's types."""
