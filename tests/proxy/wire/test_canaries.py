"""Of all that a chunk or a body of the OpenAI protocol may hold, nothing but its content becomes text."""

import json

from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from tests.fake_upstream import DONE, make_chunk
from tests.proxy.wire.canaries import CANARY, fill_model, iterate_field_names, set_answer_text
from tests.proxy.wire.openai_replies import STOP, make_sse_event, read_openai_reply
from tests.proxy.wire.reply_reading import CUTS, split_bytes


def test_the_strategy_reaches_the_fields_that_leak() -> None:
    reached = {*iterate_field_names(ChatCompletionChunk), *iterate_field_names(ChatCompletion)}
    assert {"refusal", "arguments", "transcript", "bytes", "token", "url", "obfuscation"} <= reached


@given(st.lists(fill_model(ChatCompletionChunk), min_size=1, max_size=4), CUTS)
def test_no_field_of_a_chunk_but_the_content_becomes_text(values: list[object], cuts: list[int]) -> None:
    stream = b"".join(make_sse_event(set_answer_text(value, "ok ")) for value in values) + STOP + DONE
    assert CANARY not in read_openai_reply(*split_bytes(stream, cuts)).text


@given(fill_model(ChatCompletion))
def test_no_field_of_a_body_but_the_content_becomes_text(value: object) -> None:
    body = json.dumps(set_answer_text(value, "ok ")).encode()
    assert CANARY not in read_openai_reply(body, content_type="application/json").text


def test_the_canary_would_sing() -> None:
    """The property can fail: a canary in the gated field is text."""
    assert read_openai_reply(make_chunk({"content": CANARY}), STOP, DONE).text == CANARY
