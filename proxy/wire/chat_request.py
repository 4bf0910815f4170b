"""A chat request: bytes in, an allow-listed `ChatRequest` out, or an error that says what to change."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast

from proxy.domain.errors import RequestError
from proxy.domain.types import ChatRequest, Sampling
from proxy.wire import strict_json
from proxy.wire.chat_fields import FIELDS, AcceptedField, IgnoredField, UnsupportedField
from proxy.wire.chat_messages import Conversation, parse_messages


@dataclass(frozen=True, slots=True)
class RequestPolicy:
    """Where operators differ (`[server]` of the settings), and the bounds of one conversation."""

    tools: Literal["reject", "drop"] = "reject"
    """"drop": answers without tools what asked for them; a client that insists on a call may loop."""
    unknown_fields: Literal["reject", "drop"] = "reject"
    """"drop": a misspelt or foreign field is silently without effect. It is passed on in no case."""
    question_bytes_max: int = 8_000
    turns_max: int = 100
    """Older turns are left out, oldest first."""
    history_bytes_max: int = 200_000
    """The same, by size of the turns' text."""
    instructions_bytes_max: int = 32_000
    """The client's own system text."""


def parse_chat_request(body: bytes, policy: RequestPolicy) -> ChatRequest:
    """Reads a body. Raises `RequestError` with `param` naming the field; values are not echoed."""
    fields = strict_json.parse_json(body)
    if not isinstance(fields, dict):
        raise RequestError("The request body must be a JSON object.", code="invalid_json")
    values = _select_fields(fields, policy)
    for name in ("model", "messages"):
        if name not in values:
            raise _build_field_error(name, "missing_required_parameter")
    conversation = parse_messages(cast(list[object], values["messages"]), drop_tools=policy.tools == "drop")
    _check_sizes(conversation, policy)
    return ChatRequest(
        model=cast(str, values["model"]),
        question=conversation.question,
        turns=conversation.select_latest_turns(policy.turns_max, policy.history_bytes_max),
        instructions=conversation.instructions,
        stream=bool(values.get("stream", False)),
        include_usage=_read_include_usage(values, policy),
        output_cap=_read_output_cap(values),
        stop=_read_stop_sequences(values),
        sampling=_read_sampling(values),
    )


def _select_fields(fields: Mapping[str, object], policy: RequestPolicy) -> dict[str, object]:
    """The fields to be read; null means "not said" everywhere, as OpenAI has it."""
    values: dict[str, object] = {}
    for name, value in fields.items():
        match FIELDS.get(name):
            case AcceptedField() if value is None:
                continue
            case AcceptedField(is_valid=is_valid):
                if not is_valid(value):
                    raise _build_field_error(name, "invalid_value")
                values[name] = value
            case UnsupportedField() as rule:
                if not rule.is_harmless(value) and not (rule.is_tool_field and policy.tools == "drop"):
                    raise _build_unsupported_error(name, rule)
            case IgnoredField():
                continue
            case None:
                _check_unknown_field(name, policy)
    return values


def _build_field_error(name: str, code: str) -> RequestError:
    rule = cast(AcceptedField, FIELDS[name])
    return RequestError(f"`{name}` must be {rule.expectation}.", code=code, param=name)


def _build_unsupported_error(name: str, rule: UnsupportedField) -> RequestError:
    way_out = ' The operator can set server.tools = "drop".' if rule.is_tool_field else ""
    return RequestError(
        f"`{name}` with this value is not supported here: {rule.reason}. Leave it out.{way_out}",
        code="unsupported_value",
        param=name,
    )


def _check_unknown_field(name: str, policy: RequestPolicy) -> None:
    if policy.unknown_fields == "reject":
        raise RequestError(
            f"`{name[:60]}` is no field of a chat request. Leave it out, or the operator can set"
            ' server.unknown_fields = "drop".',
            code="unsupported_parameter",
            param=name[:60],
        )


def _check_sizes(conversation: Conversation, policy: RequestPolicy) -> None:
    for text, what, bytes_max in (
        (conversation.question, "question", policy.question_bytes_max),
        (conversation.instructions, "system text", policy.instructions_bytes_max),
    ):
        size = len(text.encode())
        if size > bytes_max:
            raise RequestError(
                f"The {what} has {size} bytes; at most {bytes_max} are read, and nothing is cut. Shorten it.",
                code="string_above_max_length",
                param="messages",
            )


def _read_include_usage(values: Mapping[str, object], policy: RequestPolicy) -> bool:
    options = cast(dict[str, object], values.get("stream_options", {}))
    for name, value in options.items():
        if name not in ("include_usage", "include_obfuscation", "continuous_usage_stats"):
            _check_unknown_field(f"stream_options.{name}", policy)
        elif not isinstance(value, bool | None):
            raise RequestError(
                f"`stream_options.{name}` must be true or false.",
                code="invalid_value",
                param=f"stream_options.{name}",
            )
    return options.get("include_usage") is True


def _read_output_cap(values: Mapping[str, object]) -> int | None:
    """The lower one, if the client says both the old and the new name of the cap."""
    caps = [cast(int, values[name]) for name in ("max_tokens", "max_completion_tokens") if name in values]
    return min(caps, default=None)


def _read_stop_sequences(values: Mapping[str, object]) -> tuple[str, ...]:
    stop = values.get("stop", [])
    return (stop,) if isinstance(stop, str) else tuple(cast(list[str], stop))


def _read_sampling(values: Mapping[str, object]) -> Sampling:
    def read_number(name: str) -> float | None:
        value = values.get(name)
        return None if value is None else float(cast(float, value))

    return Sampling(
        temperature=read_number("temperature"),
        top_p=read_number("top_p"),
        seed=cast(int | None, values.get("seed")),
        presence_penalty=read_number("presence_penalty"),
        frequency_penalty=read_number("frequency_penalty"),
        reasoning_effort=cast(str | None, values.get("reasoning_effort")),
        verbosity=cast(str | None, values.get("verbosity")),
    )
