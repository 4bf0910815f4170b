"""The `messages` of a request: the question, the turns before it, and the client's own system text."""

from collections.abc import Mapping
from dataclasses import dataclass

from proxy.domain.errors import RequestError
from proxy.domain.types import Turn

ROLES = ("system", "developer", "user", "assistant", "tool", "function")


@dataclass(frozen=True, slots=True)
class Conversation:
    """`question` joins all user messages after the last assistant message; `turns` are the ones before.

    `instructions`: the client's system and developer messages, joined by line breaks.
    """

    question: str
    turns: tuple[Turn, ...]
    instructions: str

    def select_latest_turns(self, turns_max: int, bytes_max: int) -> tuple[Turn, ...]:
        """The latest turns that keep to both bounds."""
        kept: list[Turn] = []
        for turn in reversed(self.turns[-turns_max:]):
            bytes_max -= len(turn.text.encode())
            if bytes_max < 0:
                break
            kept.append(turn)
        return tuple(reversed(kept))


def parse_messages(messages: list[object], *, drop_tools: bool) -> Conversation:
    """Reads the messages; their unknown keys are left aside. Raises `RequestError`, `param` the place."""
    turns: list[Turn] = []
    instructions: list[str] = []
    for index, message in enumerate(messages):
        where = f"messages[{index}]"
        if not isinstance(message, dict):
            raise _build_message_error(where, "must be an object with `role` and `content`")
        role = _parse_role(message, where)
        if role in ("tool", "function"):
            _check_tool_use(f"{where}.role", drop_tools)
        elif role in ("system", "developer"):
            instructions.append(_read_message_text(message, where))
        elif role == "user":
            turns.append(Turn("user", _read_user_text(message, where)))
        elif assistant_text := _read_assistant_text(message, where, drop_tools):
            turns.append(Turn("assistant", assistant_text))
    return _build_conversation(turns, "\n".join(instructions), len(messages))


def _build_conversation(turns: list[Turn], instructions: str, count: int) -> Conversation:
    if not turns or turns[-1].role != "user":
        raise RequestError(
            "The last message must come from the user: the client neither begins nor continues an answer.",
            code="invalid_value",
            param=f"messages[{count - 1}].role",
        )
    first = max((i + 1 for i, turn in enumerate(turns) if turn.role == "assistant"), default=0)
    question = "\n".join(turn.text for turn in turns[first:])
    return Conversation(question, tuple(turns[:first]), instructions)


def _parse_role(message: Mapping[str, object], where: str) -> str:
    role = message.get("role")
    if not isinstance(role, str) or role not in ROLES:
        raise _build_message_error(f"{where}.role", f"must be one of {', '.join(ROLES)}")
    if message.get("prefix"):
        raise _build_message_error(
            f"{where}.prefix", "is not supported: an answer is never begun by the client"
        )
    return role


def _read_user_text(message: Mapping[str, object], where: str) -> str:
    text = _read_message_text(message, where)
    if not text.strip():
        raise _build_message_error(f"{where}.content", "is empty")
    return text


def _read_assistant_text(message: Mapping[str, object], where: str, drop_tools: bool) -> str:
    """An assistant's turn. It may be empty: chat windows keep the bubble of an answer that failed."""
    for name in ("tool_calls", "function_call"):
        if message.get(name):
            _check_tool_use(f"{where}.{name}", drop_tools)
    if message.get("content") in (None, []):
        return ""
    return _read_message_text(message, where)


def _read_message_text(message: Mapping[str, object], where: str) -> str:
    """The text of a message; NUL is dropped, parts are joined by a line break."""
    content = message.get("content")
    if isinstance(content, str):
        return content.replace("\0", "")
    if not isinstance(content, list) or not content:
        raise _build_message_error(f"{where}.content", "must be a string or a list of text parts")
    return "\n".join(
        _read_text_part(part, f"{where}.content[{index}]") for index, part in enumerate(content)
    ).replace("\0", "")


def _read_text_part(part: object, where: str) -> str:
    kind = part.get("type") if isinstance(part, dict) else None
    if kind == "refusal":
        return ""
    if kind != "text":
        raise _build_message_error(f"{where}.type", "must be `text`: no image, audio or file is read")
    text = part.get("text") if isinstance(part, dict) else None
    if not isinstance(text, str):
        raise _build_message_error(f"{where}.text", "must be a string")
    return text


def _check_tool_use(where: str, drop_tools: bool) -> None:
    """Raises `RequestError` for what belongs to tool calling, unless the operator has it dropped."""
    if not drop_tools:
        raise RequestError(
            f"`{where}`: tool calls are not supported here. Leave them out, or the operator can set"
            ' server.tools = "drop".',
            code="unsupported_value",
            param=where,
        )


def _build_message_error(where: str, what: str) -> RequestError:
    return RequestError(f"`{where}` {what}.", code="invalid_value", param=where)
