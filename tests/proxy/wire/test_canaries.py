"""Of all that a chunk or a body of the OpenAI protocol may hold, nothing but its content becomes text."""

import json

from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from tests.fakes import DONE, chunk
from tests.proxy.wire.canaries import CANARY, filled, gated, paths
from tests.proxy.wire.reading import CUTS, pieces
from tests.proxy.wire.replies import STOP, event, heard


def test_the_strategy_reaches_the_fields_that_leak() -> None:
    reached = {*paths(ChatCompletionChunk), *paths(ChatCompletion)}
    assert {"refusal", "arguments", "transcript", "bytes", "token", "url", "obfuscation"} <= reached


@given(st.lists(filled(ChatCompletionChunk), min_size=1, max_size=4), CUTS)
def test_no_field_of_a_chunk_but_the_content_becomes_text(values: list[object], cuts: list[int]) -> None:
    stream = b"".join(event(gated(value, "ok ")) for value in values) + STOP + DONE
    assert CANARY not in heard(*pieces(stream, cuts)).text


@given(filled(ChatCompletion))
def test_no_field_of_a_body_but_the_content_becomes_text(value: object) -> None:
    body = json.dumps(gated(value, "ok ")).encode()
    assert CANARY not in heard(body, content_type="application/json").text


def test_the_canary_would_sing() -> None:
    """The property can fail: a canary in the gated field is text."""
    assert heard(chunk({"content": CANARY}), STOP, DONE).text == CANARY
