"""Whatever an OpenAI-compatible server sends, only the content of choice 0 becomes text."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.domain.types import Usage
from proxy.wire.upstream_events import ResponseEnd
from tests.fake_upstream import DONE, make_chunk
from tests.proxy.wire.openai_replies import STOP, TEXT, make_sse_event, read_openai_reply
from tests.proxy.wire.reply_reading import CUTS, WholeReply, split_bytes

END = ResponseEnd("stop", "done")


@pytest.mark.parametrize(
    ("delta", "thought"),
    [
        ({"reasoning_content": "x"}, "x"),
        ({"reasoning": "x", "reasoning_content": "x"}, "x"),
        ({"reasoning": "x", "reasoning_details": [{"type": "reasoning.text", "text": "x"}]}, "x"),
        ({"reasoning_details": [{"type": "reasoning.text", "text": "x"}]}, "x"),
        ({"thinking_blocks": [{"type": "thinking", "thinking": "x", "signature": "s"}]}, "x"),
        ({"refusal": "x"}, "x"),
        ({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "x"}]}]}, "x"),
        ({"content": [{"type": "reference", "reference_ids": [1]}]}, ""),
        ({"content": 42}, ""),
        ({"content": {"text": "x"}}, ""),
        ({"content": [42, None, {"type": "text"}, {"type": "text", "text": 1}]}, ""),
        ({"annotations": [{"type": "url_citation", "url_citation": {"title": "x"}}]}, ""),
        ({"role": "assistant", "extra": "x"}, ""),
    ],
)
def test_what_is_no_text_is_billed_or_dropped(delta: dict[str, object], thought: str) -> None:
    assert read_openai_reply(make_chunk(delta), TEXT, STOP, DONE) == WholeReply("Ada.", thought, None, END)


def test_text_in_parts_is_text() -> None:
    parts = [{"type": "text", "text": "Ada"}, {"type": "text", "text": "."}]
    assert read_openai_reply(make_chunk({"content": parts}), STOP, DONE).text == "Ada."


@pytest.mark.parametrize(
    ("reason", "means"),
    [
        ("stop", "stop"),
        ("STOP", "stop"),
        ("eos_token", "stop"),
        ("length", "length"),
        ("MAX_TOKENS", "length"),
        ("content_filter", "content_filter"),
        ("tool_calls", "tool_calls"),
        ("abort", "error"),
        ("insufficient_system_resource", "error"),
        ("whatever comes next", "error"),
    ],
)
def test_finish_reasons(reason: str, means: str) -> None:
    assert read_openai_reply(TEXT, make_chunk({}, reason), DONE).end.reason == means


@pytest.mark.parametrize("reason", ["None", "null", "", None, 0, ["stop"]])
def test_what_is_no_reason_does_not_finish(reason: object) -> None:
    reads = make_chunk({"content": "Ada"}, reason), make_chunk({"content": "."}), STOP, DONE  # type: ignore[arg-type]
    assert read_openai_reply(*reads) == WholeReply("Ada.", "", None, END)


def test_text_and_reason_may_come_together() -> None:
    assert read_openai_reply(make_chunk({"content": "Ada."}, "stop"), DONE) == WholeReply(
        "Ada.", "", None, END
    )


def test_nothing_behind_the_first_reason_is_text() -> None:
    assert (
        read_openai_reply(TEXT, STOP, make_chunk({"content": "x", "reasoning": "y"}, "stop"), DONE, TEXT).text
        == "Ada."
    )


@pytest.mark.parametrize(
    "fault",
    [
        make_sse_event({"error": "x"}),
        make_sse_event({"error": {"message": "x", "code": 500}}),
        make_sse_event([{"error": {"message": "x"}}]),
        make_sse_event({"object": "error", "message": "x"}),
        make_sse_event({"type": "error", "message": "x"}),
        make_sse_event({"message": "x"}, name="error"),
        make_sse_event({"x_groq": {"error": "x"}, "choices": []}),
        make_sse_event(
            {"choices": [{"index": 0, "delta": {}, "error": {"message": "x"}, "finish_reason": "error"}]}
        ),
        make_sse_event({"error": {"message": "x"}, "choices": [{"index": 0, "delta": {"content": "x"}}]}),
        b'error: {"message":"x"}\n\n',
    ],
)
def test_an_error_wherever_it_stands_ends_the_answer_badly(fault: bytes) -> None:
    for reads in ((TEXT, fault, STOP, DONE), (TEXT, STOP, fault, DONE)):
        got = read_openai_reply(*reads)
        assert (got.text, got.end.kind) == ("Ada.", "error")
        assert got.end.detail


def test_an_error_field_that_is_null_is_none() -> None:
    assert read_openai_reply(make_sse_event({"error": None, "choices": []}), TEXT, STOP, DONE).end == END


@pytest.mark.parametrize("junk", [b"data: x\n\n", b"data: 5\n\n", b'data: {}{"a":1}\n\n', b"data: \xff\n\n"])
def test_what_is_no_event_ends_the_answer_badly(junk: bytes) -> None:
    got = read_openai_reply(TEXT, junk, STOP, DONE)
    assert (got.text, got.end.kind) == ("Ada.", "malformed")


@pytest.mark.parametrize(
    ("reads", "how"),
    [
        ((TEXT,), "cut"),
        ((TEXT, DONE), "cut"),
        ((), "cut"),
        ((DONE,), "cut"),
        ((TEXT, STOP), "eof"),
        ((TEXT, STOP[:-1]), "cut"),
        ((TEXT, STOP, DONE.strip()), "done"),
    ],
)
def test_only_a_reason_makes_an_answer_whole(reads: tuple[bytes, ...], how: str) -> None:
    assert read_openai_reply(*reads).end.kind == how


def test_the_last_usage_counts_and_is_not_added_up() -> None:
    usages: list[dict[str, object]] = [
        {"usage": {"prompt_tokens": 7, "completion_tokens": 1, "total_tokens": 8}},
        {"usage": None},
        {"x_groq": {"usage": {"prompt_tokens": 7, "completion_tokens": 2}}},
        {"usage": {"prompt_tokens": 7, "completion_tokens": 5, "queue_time": 0.1}},
    ]
    reads = [make_chunk({"content": "a"}, None, **usage) for usage in usages]
    assert read_openai_reply(*reads, STOP, DONE).usage == Usage(7, 5)
    assert read_openai_reply(
        TEXT, STOP, make_chunk({}, choices=[], usage=usages[0]["usage"]), DONE
    ).usage == Usage(7, 1)


@pytest.mark.parametrize(
    ("counts", "usage"),
    [
        ((32, 9, 135), Usage(32, 103)),
        ((21, None, 81), Usage(21, 60)),
        ((12, None, 12), Usage(12, None)),
        ((12, 3, 15), Usage(12, 3)),
        ((12, 3, 4), Usage(12, 3)),
        ((None, 3, 15), Usage(None, 3)),
    ],
)
def test_thoughts_that_only_the_total_counts_are_output(counts: tuple[int | None, ...], usage: Usage) -> None:
    report = dict(zip(("prompt_tokens", "completion_tokens", "total_tokens"), counts, strict=True))
    assert read_openai_reply(TEXT, make_chunk({}, "stop", usage=report), DONE).usage == usage


def test_usage_may_stand_in_the_choice() -> None:
    choice = {"index": 0, "delta": {}, "finish_reason": "stop"}
    report = {"prompt_tokens": 19, "completion_tokens": 13, "total_tokens": 32}
    assert read_openai_reply(TEXT, make_chunk({}, choices=[choice | {"usage": report}]), DONE).usage == Usage(
        19, 13
    )


def test_a_comment_passed_on_as_data_says_nothing() -> None:
    assert read_openai_reply(b"data: : processing\n\n", TEXT, STOP, DONE) == WholeReply("Ada.", "", None, END)


@pytest.mark.parametrize("count", [-1, True, "5", 1.5, 2**60, None])
def test_counts_that_are_none_are_not_counts(count: object) -> None:
    assert read_openai_reply(
        make_chunk({}, usage={"prompt_tokens": 3, "completion_tokens": count}), DONE
    ).usage == Usage(3, None)


def test_halves_of_a_character_are_joined_and_lone_ones_replaced() -> None:
    reads = [
        b'data: {"choices":[{"delta":{"content":"%s"}}]}\n\n' % half
        for half in (b"a\\ud83e", b"\\udea8b", b"\\ud83e", b"c")
    ]
    assert read_openai_reply(*reads, STOP, DONE).text == "a🪨b\ufffdc"
    assert read_openai_reply(reads[0], STOP, DONE).text == "a\ufffd"


def test_a_whole_body_is_read_alike() -> None:
    message = {"role": "assistant", "content": "Ada.", "reasoning_content": "x"}
    body = {
        "choices": [{"index": 0, "message": message, "finish_reason": "length"}],
        "usage": {"prompt_tokens": 4, "completion_tokens": 2},
    }
    for before in (b"\n\n", b"\xef\xbb\xbf"):
        got = read_openai_reply(
            before + json.dumps(body).encode(), content_type="application/json; charset=utf-8"
        )
        assert got == WholeReply("Ada.", "x", Usage(4, 2), ResponseEnd("length", "eof"))


@pytest.mark.parametrize("kind", ["text/html", "text/plain", "application/octet-stream"])
def test_other_content_is_not_read(kind: str) -> None:
    got = read_openai_reply(TEXT, STOP, DONE, content_type=kind)
    assert (got.text, got.end.kind) == ("", "malformed")


EVENTS = st.lists(
    st.sampled_from(
        [
            TEXT,
            make_chunk({"content": "<think>é"}),
            make_chunk({"content": "</think>🪨 <th"}),
            make_chunk({"reasoning": "x"}),
            make_chunk({}, usage={"prompt_tokens": 1, "completion_tokens": 2}),
            b": note\n\n",
            b'data: {"choices":[{"delta":{"content":"\\ud83e"}}]}\r\n\r\n',
            STOP,
            DONE,
            make_sse_event({"error": "x"}),
            b"data: x\n\n",
            b"data: \xff\n\n",
        ]
    )
)


@given(EVENTS, CUTS)
def test_cuts_change_nothing(events: list[bytes], cuts: list[int]) -> None:
    """Text, thoughts, usage and end are the same for the same bytes."""
    stream = b"".join(events)
    whole = read_openai_reply(stream)
    assert read_openai_reply(*split_bytes(stream, cuts)) == whole
    assert read_openai_reply(*(stream[i : i + 1] for i in range(len(stream)))) == whole
