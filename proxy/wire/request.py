"""A chat request: bytes in, an allow-listed `ChatRequest` out, or an error that says what to change."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast

from proxy.domain.errors import RequestError
from proxy.domain.types import ChatRequest, Sampling
from proxy.wire import strict_json
from proxy.wire.background_tasks import task
from proxy.wire.messages import Conversation, conversation
from proxy.wire.request_fields import FIELDS, Ignore, Read, Refuse

__all__ = ["Policy", "parse", "task"]


@dataclass(frozen=True, slots=True)
class Policy:
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


def parse(body: bytes, policy: Policy) -> ChatRequest:
    """Reads a body. Raises `RequestError` with `param` naming the field; values are not echoed."""
    fields = strict_json.loads(body)
    if not isinstance(fields, dict):
        raise RequestError("The request body must be a JSON object.", code="invalid_json")
    read = _decided(fields, policy)
    for name in ("model", "messages"):
        if name not in read:
            raise _wanted(name, "missing_required_parameter")
    talk = conversation(cast(list[object], read["messages"]), drop_tools=policy.tools == "drop")
    _check_sizes(talk, policy)
    return ChatRequest(
        model=cast(str, read["model"]),
        question=talk.question,
        turns=talk.newest(policy.turns_max, policy.history_bytes_max),
        instructions=talk.instructions,
        stream=bool(read.get("stream", False)),
        include_usage=_include_usage(read, policy),
        output_cap=_cap(read),
        stop=_stops(read),
        sampling=_sampling(read),
    )


def _decided(fields: Mapping[str, object], policy: Policy) -> dict[str, object]:
    """The fields to be read; null means "not said" everywhere, as OpenAI has it."""
    read: dict[str, object] = {}
    for name, value in fields.items():
        match FIELDS.get(name):
            case Read(fits=fits) if value is None:
                continue
            case Read(fits=fits):
                if not fits(value):
                    raise _wanted(name, "invalid_value")
                read[name] = value
            case Refuse() as rule:
                if not rule.harmless(value) and not (rule.tool and policy.tools == "drop"):
                    raise _refused(name, rule)
            case Ignore():
                continue
            case None:
                _unknown(name, policy)
    return read


def _wanted(name: str, code: str) -> RequestError:
    rule = cast(Read, FIELDS[name])
    return RequestError(f"`{name}` must be {rule.want}.", code=code, param=name)


def _refused(name: str, rule: Refuse) -> RequestError:
    way_out = ' The operator can set server.tools = "drop".' if rule.tool else ""
    return RequestError(
        f"`{name}` with this value is not supported here: {rule.why}. Leave it out.{way_out}",
        code="unsupported_value",
        param=name,
    )


def _unknown(name: str, policy: Policy) -> None:
    if policy.unknown_fields == "reject":
        raise RequestError(
            f"`{name[:60]}` is no field of a chat request. Leave it out, or the operator can set"
            ' server.unknown_fields = "drop".',
            code="unsupported_parameter",
            param=name[:60],
        )


def _check_sizes(talk: Conversation, policy: Policy) -> None:
    for text, what, most in (
        (talk.question, "question", policy.question_bytes_max),
        (talk.instructions, "system text", policy.instructions_bytes_max),
    ):
        size = len(text.encode())
        if size > most:
            raise RequestError(
                f"The {what} has {size} bytes; at most {most} are read, and nothing is cut. Shorten it.",
                code="string_above_max_length",
                param="messages",
            )


def _include_usage(read: Mapping[str, object], policy: Policy) -> bool:
    options = cast(dict[str, object], read.get("stream_options", {}))
    for name, value in options.items():
        if name not in ("include_usage", "include_obfuscation", "continuous_usage_stats"):
            _unknown(f"stream_options.{name}", policy)
        elif not isinstance(value, bool | None):
            raise RequestError(
                f"`stream_options.{name}` must be true or false.",
                code="invalid_value",
                param=f"stream_options.{name}",
            )
    return options.get("include_usage") is True


def _cap(read: Mapping[str, object]) -> int | None:
    caps = [cast(int, read[name]) for name in ("max_tokens", "max_completion_tokens") if name in read]
    return min(caps, default=None)


def _stops(read: Mapping[str, object]) -> tuple[str, ...]:
    stop = read.get("stop", [])
    return (stop,) if isinstance(stop, str) else tuple(cast(list[str], stop))


def _sampling(read: Mapping[str, object]) -> Sampling:
    def number(name: str) -> float | None:
        value = read.get(name)
        return None if value is None else float(cast(float, value))

    return Sampling(
        temperature=number("temperature"),
        top_p=number("top_p"),
        seed=cast(int | None, read.get("seed")),
        presence_penalty=number("presence_penalty"),
        frequency_penalty=number("frequency_penalty"),
        reasoning_effort=cast(str | None, read.get("reasoning_effort")),
        verbosity=cast(str | None, read.get("verbosity")),
    )
