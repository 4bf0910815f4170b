"""Every field of a request is decided: read, left aside, or refused by name."""

import json
import typing
from dataclasses import fields

import pytest
from hypothesis import given, settings
from openai.types.chat import completion_create_params

from proxy.domain.errors import RequestError
from proxy.domain.types import ChatRequest, Sampling, Turn
from proxy.wire.chat_fields import FIELDS, AcceptedField, IgnoredField, UnsupportedField
from proxy.wire.chat_request import RequestPolicy, parse_chat_request
from tests.proxy.wire.test_strict_json import JSON

USER = {"role": "user", "content": "Who?"}
BODY: dict[str, object] = {"model": "ada", "messages": [USER]}
POLICY = RequestPolicy()


def parse_fields(policy: RequestPolicy = POLICY, /, **fields: object) -> ChatRequest:
    return parse_chat_request(json.dumps(BODY | fields).encode(), policy)


def catch_request_error(policy: RequestPolicy = POLICY, /, **fields: object) -> RequestError:
    with pytest.raises(RequestError) as caught:
        parse_fields(policy, **fields)
    assert caught.value.status == 400
    return caught.value


def parse_or_refuse(body: object) -> ChatRequest | RequestError:
    """What becomes of a body; any other exception is a bug."""
    try:
        return parse_chat_request(json.dumps(body).encode(), POLICY)
    except RequestError as fault:
        return fault


SDK_FIELDS = {
    *typing.get_type_hints(completion_create_params.CompletionCreateParamsNonStreaming),
    *typing.get_type_hints(completion_create_params.CompletionCreateParamsStreaming),
}


def test_every_field_of_the_openai_package_is_decided_and_no_other() -> None:
    """Fails when a new version of the package brings a field that nobody has thought about."""
    assert set(FIELDS) == SDK_FIELDS


@pytest.mark.parametrize("name", sorted(SDK_FIELDS - {"model", "messages"}))
@settings(max_examples=30)
@given(value=JSON)
def test_whatever_a_field_holds_it_is_read_ignored_or_refused_by_its_name(name: str, value: object) -> None:
    """Nothing but the fields that are read changes the request; nothing else than a 400 comes out."""
    became = parse_or_refuse(BODY | {name: value})
    rule = FIELDS[name]
    if isinstance(became, RequestError):
        assert not isinstance(rule, IgnoredField)
        assert (became.status, (became.param or "").partition(".")[0]) == (400, name)
    elif not isinstance(rule, AcceptedField):
        assert became == parse_fields()
        assert isinstance(rule, IgnoredField) or rule.is_harmless(value)


@given(JSON)
def test_any_json_is_a_request_or_a_400(value: object) -> None:
    assert getattr(parse_or_refuse(value), "status", 400) == 400


@given(JSON)
def test_any_messages_are_a_question_or_a_400(value: object) -> None:
    became = parse_or_refuse(BODY | {"messages": [value, USER]})
    if isinstance(became, RequestError):
        assert (became.status, (became.param or "")[:8]) == (400, "messages")
    else:
        assert became.question.endswith("Who?")


@pytest.mark.parametrize("name", ["chat_template", "guided_json", "api_base", "_debug_render_only", "x"])
def test_unknown_fields_are_refused_by_name_or_left_aside_by_setting(name: str) -> None:
    fault = catch_request_error(**{name: "x"})
    assert (fault.param, fault.code) == (name, "unsupported_parameter")
    assert parse_fields(RequestPolicy(unknown_fields="drop"), **{name: "x"}) == parse_fields()


@pytest.mark.parametrize(
    ("field", "harmless", "refused_values"),
    [
        ("n", [1, None], [0, 2, True, "1"]),
        ("logprobs", [False, None], [True]),
        ("top_logprobs", [0, None], [5, False]),
        ("logit_bias", [{}, None], [{"1": -100}]),
        ("response_format", [{"type": "text"}], [{"type": "json_object"}, {"type": "json_schema"}, "text"]),
        ("modalities", [["text"]], [["text", "audio"], ["audio"]]),
        ("store", [False], [True]),
        ("audio", [None], [{"voice": "alloy"}]),
        ("prediction", [None], [{"type": "content", "content": "x"}]),
        ("web_search_options", [None], [{}]),
        ("tools", [[], None], [[{"type": "function"}]]),
        ("tool_choice", ["none", "auto"], ["required", {"type": "function"}]),
        ("functions", [[]], [[{"name": "f"}]]),
        ("function_call", ["none", "auto"], [{"name": "f"}]),
        ("parallel_tool_calls", [None], [True, False]),
    ],
)
def test_refused_fields_have_values_that_do_no_harm(
    field: str, harmless: list[object], refused_values: list[object]
) -> None:
    for value in harmless:
        assert parse_fields(**{field: value}) == parse_fields()
    for value in refused_values:
        fault = catch_request_error(**{field: value})
        assert (fault.param, fault.code) == (field, "unsupported_value")


@pytest.mark.parametrize(
    "field",
    [name for name, rule in FIELDS.items() if isinstance(rule, UnsupportedField) and rule.is_tool_field],
)
def test_tools_can_be_left_aside_by_setting(field: str) -> None:
    assert parse_fields(RequestPolicy(tools="drop"), **{field: [{"x": 1}]}) == parse_fields()


@pytest.mark.parametrize(
    ("field", "good", "bad"),
    [
        ("temperature", [0, 2, 0.5], [-0.1, 2.1, "1", True]),
        ("top_p", [0, 1], [1.01, -1]),
        ("seed", [-(2**63), 2**63 - 1], [2**63, 1.5, True]),
        ("presence_penalty", [-2, 2], [-2.1]),
        ("frequency_penalty", [-2, 2], [2.1]),
        ("reasoning_effort", ["none", "max"], ["huge", 1]),
        ("verbosity", ["low"], ["none"]),
    ],
)
def test_what_tunes_the_model_is_read_within_its_range(
    field: str, good: list[object], bad: list[object]
) -> None:
    for value in good:
        assert getattr(parse_fields(**{field: value}).sampling, field) == value
    for value in bad:
        assert catch_request_error(**{field: value}).param == field
    assert field in {f.name for f in fields(Sampling)}


@pytest.mark.parametrize("value", ["true", 1, 0, "", []])
def test_stream_is_a_boolean(value: object) -> None:
    assert catch_request_error(stream=value).param == "stream"


def test_the_smaller_cap_counts() -> None:
    assert parse_fields(max_tokens=5, max_completion_tokens=3).output_cap == 3
    assert parse_fields(max_tokens=1).output_cap == 1
    assert parse_fields().output_cap is None
    for value in (0, -1, True, "5", 1.5):
        assert catch_request_error(max_tokens=value).param == "max_tokens"


def test_usage_is_included_only_if_asked_for() -> None:
    assert parse_fields(stream_options={"include_usage": True}).include_usage
    assert not parse_fields(
        stream_options={"include_usage": False, "include_obfuscation": True}
    ).include_usage
    assert (
        catch_request_error(stream_options={"include_usage": "yes"}).param == "stream_options.include_usage"
    )
    assert catch_request_error(stream_options={"x": 1}).param == "stream_options.x"


@pytest.mark.parametrize(
    ("stop", "sequences"), [("END", ("END",)), (["a", "b"], ("a", "b")), ([], ()), (None, ())]
)
def test_stop_sequences_are_read(stop: object, sequences: tuple[str, ...]) -> None:
    assert parse_fields(stop=stop).stop == sequences


@pytest.mark.parametrize("stop", ["", ["a", ""], ["a"] * 5, [1], {"a": 1}, "x" * 257])
def test_senseless_stop_sequences_are_refused(stop: object) -> None:
    assert catch_request_error(stop=stop).param == "stop"


def test_the_question_is_all_that_the_user_said_since_the_last_answer() -> None:
    request = parse_fields(
        messages=[
            {"role": "system", "content": "Be brief."},
            USER,
            {"role": "assistant", "content": "Ada.", "reasoning_content": "LEAK-x", "annotations": []},
            {"role": "user", "content": "And", "name": "me"},
            {"role": "developer", "content": [{"type": "text", "text": "In French."}]},
            {"role": "user", "content": [{"type": "text", "text": "when"}, {"type": "text", "text": "?"}]},
        ]
    )
    assert request.question == "And\nwhen\n?"
    assert request.turns == (Turn("user", "Who?"), Turn("assistant", "Ada."))
    assert request.instructions == "Be brief.\nIn French."


@pytest.mark.parametrize(
    ("messages", "param"),
    [
        ([], "messages"),
        ({}, "messages"),
        ("Who?", "messages"),
        ([1], "messages[0]"),
        ([{"content": "x"}], "messages[0].role"),
        ([{"role": "robot", "content": "x"}], "messages[0].role"),
        ([{"role": "user"}], "messages[0].content"),
        ([{"role": "user", "content": None}], "messages[0].content"),
        ([{"role": "user", "content": 5}], "messages[0].content"),
        ([{"role": "user", "content": " \n"}], "messages[0].content"),
        ([{"role": "user", "content": []}], "messages[0].content"),
        ([{"role": "user", "content": [{"type": "image_url"}]}], "messages[0].content[0].type"),
        ([{"role": "user", "content": [{"type": "text"}]}], "messages[0].content[0].text"),
        ([{"role": "user", "content": ["x"]}], "messages[0].content[0].type"),
        ([{"role": "system", "content": "x"}], "messages[0].role"),
        ([USER, {"role": "assistant", "content": "Ada is"}], "messages[1].role"),
        ([USER, {"role": "assistant", "content": "Ada is", "prefix": True}], "messages[1].prefix"),
        ([USER, {"role": "tool", "content": "x", "tool_call_id": "1"}], "messages[1].role"),
        ([{"role": "function", "content": "x", "name": "f"}, USER], "messages[0].role"),
        ([{"role": "assistant", "tool_calls": [{"id": "1"}]}, USER], "messages[0].tool_calls"),
    ],
)  # fmt: skip
def test_messages_that_are_refused(messages: object, param: str) -> None:
    assert catch_request_error(messages=messages).param == param


def test_tool_turns_are_left_out_by_setting() -> None:
    messages = [
        USER,
        {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]},
        {"role": "tool", "content": "x", "tool_call_id": "1"},
    ]
    assert parse_fields(RequestPolicy(tools="drop"), messages=messages).question == "Who?"


@pytest.mark.parametrize("content", ["", None, [], [{"type": "text", "text": ""}]])
def test_an_empty_bubble_of_an_earlier_answer_does_no_harm(content: object) -> None:
    empty = {"role": "assistant", "content": content, "tool_calls": None, "refusal": None}
    assert parse_fields(messages=[USER, empty, USER]).question == "Who?\nWho?"


def test_nul_is_dropped() -> None:
    assert parse_fields(messages=[{"role": "user", "content": "W\0ho?"}]).question == "Who?"


def test_a_question_too_long_is_refused_and_never_cut() -> None:
    """The bound counts bytes over all messages that make up the question."""
    half = {"role": "user", "content": "é" * 2000}
    assert parse_fields(messages=[half]).question
    fault = catch_request_error(messages=[half, half])
    assert (fault.param, fault.code) == ("messages", "string_above_max_length")
    assert "8000" in fault.text


def test_old_turns_are_left_out_oldest_first() -> None:
    talk = [turn for n in range(60) for turn in (USER, {"role": "assistant", "content": f"a{n}"})]
    turns = parse_fields(messages=[*talk, USER]).turns
    assert (len(turns), turns[-1]) == (100, Turn("assistant", "a59"))
    few = parse_fields(RequestPolicy(history_bytes_max=10), messages=[*talk, USER]).turns
    assert [turn.text for turn in few] == ["a58", "Who?", "a59"][-len(few) :]


def test_what_is_missing_is_named() -> None:
    for name in ("model", "messages"):
        assert catch_request_error(**{name: None}).param == name
    assert catch_request_error(model="").param == "model"
