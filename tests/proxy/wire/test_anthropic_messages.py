"""The Messages protocol: what we send, and what of its events is text."""

import json
import re

import pytest
from hypothesis import given

from proxy.domain.types import Message, Sampling, UpstreamCall, Usage
from proxy.wire.anthropic_messages import AnthropicDialect, encode_messages_request
from proxy.wire.upstream_events import ResponseEnd
from tests.fake_upstream import make_anthropic_stream, make_named_event
from tests.proxy.wire.reply_reading import CUTS, WholeReply, read_reply, split_bytes


def read_anthropic_reply(*reads: bytes) -> WholeReply:
    return read_reply(AnthropicDialect(), reads)


def make_message_start(**usage: int) -> bytes:
    return make_named_event("message_start", {"message": {"usage": usage}})


def make_block_delta(kind: str, **fields: str) -> bytes:
    return make_named_event("content_block_delta", {"index": 0, "delta": {"type": kind} | fields})


def make_block_start(**fields: object) -> bytes:
    return make_named_event("content_block_start", {"index": 0, "content_block": fields})


def make_message_delta(reason: str | None, **usage: int) -> bytes:
    return make_named_event("message_delta", {"delta": {"stop_reason": reason}, "usage": usage})


STOP = make_named_event("message_stop", {})
TEXT = make_block_delta("text_delta", text="Ada.")


def test_an_ordinary_answer() -> None:
    assert read_anthropic_reply(*make_anthropic_stream(["Ada", "."])) == WholeReply(
        "Ada.", "", Usage(10, 5), ResponseEnd("stop", "done")
    )


def test_the_kind_of_an_event_may_stand_in_its_name_alone() -> None:
    pattern = re.compile(rb'"type": ?"(message|content_block)_[a-z]+",? ?')
    stream = [pattern.sub(b"", one) for one in make_anthropic_stream(["Ada", "."])]
    assert read_anthropic_reply(*stream) == read_anthropic_reply(*make_anthropic_stream(["Ada", "."]))


@given(CUTS)
def test_cuts_change_nothing(cuts: list[int]) -> None:
    stream = b"".join(make_anthropic_stream(["Ada ", "🪨", "."]))
    assert read_anthropic_reply(*split_bytes(stream, cuts)) == read_anthropic_reply(stream)


def test_usage_is_overwritten_and_caches_count_as_input() -> None:
    """Counts are cumulative; adding start and delta up would bill twice."""
    first = make_message_start(input_tokens=25, cache_read_input_tokens=5, output_tokens=1)
    assert read_anthropic_reply(
        first, TEXT, make_message_delta("end_turn", output_tokens=15), STOP
    ).usage == Usage(30, 15)
    again = make_message_delta("end_turn", input_tokens=20, cache_creation_input_tokens=2, output_tokens=47)
    assert read_anthropic_reply(first, TEXT, again, STOP).usage == Usage(27, 47)


@pytest.mark.parametrize(
    ("read_", "thought"),
    [
        (make_named_event("ping", {}), ""),
        (make_named_event("something_new", {"text": "LEAK-x", "delta": {"text": "LEAK-x"}}), ""),
        (make_block_delta("thinking_delta", thinking="hm"), "hm"),
        (make_block_delta("signature_delta", signature="LEAK-x"), ""),
        (make_block_delta("citations_delta", citation="LEAK-x"), ""),
        (make_block_delta("input_json_delta", partial_json="{}"), "{}"),
        (make_block_delta("new_delta", text="LEAK-x"), ""),
        (make_block_start(type="redacted_thinking", data="LEAK-x"), ""),
        (make_block_start(type="thinking", thinking="hm"), "hm"),
        (make_block_start(type="tool_use", name="LEAK-x", input={}), "{}"),
    ],
)
def test_what_is_no_text(read_: bytes, thought: str) -> None:
    got = read_anthropic_reply(
        make_message_start(input_tokens=1, output_tokens=1), read_, TEXT, make_message_delta("end_turn"), STOP
    )
    assert (got.text, got.thought, got.end) == ("Ada.", thought, ResponseEnd("stop", "done"))


def test_a_block_may_begin_with_text() -> None:
    assert (
        read_anthropic_reply(
            make_block_start(type="text", text="Ada "), TEXT, make_message_delta("end_turn"), STOP
        ).text
        == "Ada Ada."
    )


@pytest.mark.parametrize(
    ("reason", "means"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("tool_use", "tool_calls"),
        ("refusal", "content_filter"),
        ("pause_turn", "error"),
        ("new", "error"),
        (None, None),
    ],
)
def test_stop_reasons(reason: str | None, means: str | None) -> None:
    assert read_anthropic_reply(TEXT, make_message_delta(reason), STOP).end.reason == means


@pytest.mark.parametrize(
    "fault",
    [
        make_named_event("error", {"error": {"type": "overloaded_error", "message": "x"}}),
        b'event: error\ndata: {"message":"x"}\n\n',
        b'data: {"type":"error","error":"x"}\n\n',
    ],
)
def test_an_error_event_ends_the_answer_badly(fault: bytes) -> None:
    got = read_anthropic_reply(
        make_message_start(input_tokens=1), TEXT, fault, make_message_delta("end_turn"), STOP
    )
    assert (got.text, got.end.kind) == ("Ada.", "error")


def test_the_end_without_a_stop_reason_is_a_cut() -> None:
    assert read_anthropic_reply(TEXT).end.kind == "cut"
    assert read_anthropic_reply(TEXT, STOP).end.kind == "cut"


def test_a_whole_body_is_read_alike() -> None:
    value = {
        "type": "message",
        "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Ada."}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 3, "output_tokens": 2},
    }
    got = read_reply(AnthropicDialect(), [json.dumps(value).encode()], "application/json")
    assert got == WholeReply("Ada.", "hm", Usage(3, 2), ResponseEnd("stop", "eof"))
    fault = {"type": "error", "error": {"type": "overloaded_error"}}
    assert (
        read_reply(AnthropicDialect(), [json.dumps(fault).encode()], "application/json").end.kind == "error"
    )


def encode_call(*messages: Message, **fields: object) -> dict[str, object]:
    upstream_call = UpstreamCall("m", messages, 100, **fields)  # type: ignore[arg-type]
    value: dict[str, object] = json.loads(encode_messages_request(upstream_call, 150))
    return value


def test_the_body_holds_system_text_apart_and_turns_in_alternation() -> None:
    sent = encode_call(
        Message("system", "Rules."),
        Message("assistant", "Hello."),
        Message("user", "Who"),
        Message("user", "else?"),
        Message("system", "Reminder."),
    )
    assert sent["system"] == "Rules.\n\nReminder."
    assert [turn["role"] for turn in sent["messages"]] == ["user", "assistant", "user"]  # type: ignore[attr-defined]
    assert sent["messages"][-1]["content"] == "Who\n\nelse?"  # type: ignore[index]
    assert (sent["max_tokens"], sent["stream"]) == (150, True)


def test_what_the_protocol_does_not_know_is_not_sent() -> None:
    sampling = Sampling(
        temperature=1.5, top_p=0.5, seed=1, presence_penalty=1, frequency_penalty=1, verbosity="low"
    )
    sent = encode_call(Message("user", "Who?"), sampling=sampling)
    assert sent.keys() == {"model", "max_tokens", "stream", "messages", "temperature"}
    assert sent["temperature"] == 1


def test_a_structured_answer_is_asked_for_by_schema() -> None:
    sent = encode_call(Message("user", "Who?"), is_structured=True)
    assert sent["output_config"]["format"]["type"] == "json_schema"  # type: ignore[index]
