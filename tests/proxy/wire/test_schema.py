"""Our chunks and bodies are exactly what the `openai` package's own types allow, and no more."""

import json
import typing

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types import Model
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from pydantic import BaseModel

from proxy.domain.errors import RequestError
from proxy.domain.ports import ReplyEnd
from proxy.domain.types import Citation, Decision
from proxy.wire import openai_chat
from proxy.wire.openai_chat import ChunkEncoder, ReplyLabel

LABEL = ReplyLabel("chatcmpl-1", "ada", 1_700_000_000)
OURS = {"annotations"}
"""In a delta the package has no name for them yet; it hands them on all the same."""

CITATIONS = st.builds(
    Citation, start=st.integers(0, 9), end=st.integers(9, 20), title=st.text(), url=st.just("https://x.org/")
)
OUTCOMES = st.builds(
    ReplyEnd,
    decision=st.sampled_from(Decision),
    finish=st.sampled_from(["stop", "length", "content_filter"]),
    citations=st.lists(CITATIONS, max_size=3).map(tuple),
    usage=st.tuples(st.integers(0, 10**9), st.integers(0, 10**9)),
)
TEXTS = st.lists(st.text(min_size=1), max_size=4)


def check_known_keys(value: object, kind: object) -> None:
    """Fails for a key that `kind` does not have, at any depth."""
    models = [kind, *typing.get_args(kind)]
    model = next((one for one in models if isinstance(one, type) and issubclass(one, BaseModel)), None)
    if isinstance(value, list):
        for item in value:
            check_known_keys(item, model or next(iter(typing.get_args(kind)), None))
    elif isinstance(value, dict) and model:
        assert value.keys() - OURS <= model.model_fields.keys()
        for name in value.keys() - OURS:
            check_known_keys(value[name], _find_inner_type(model.model_fields[name].annotation))


def _find_inner_type(kind: object) -> object:
    """What is inside of Optional and List."""
    for one in (kind, *typing.get_args(kind)):
        if typing.get_origin(one) is list:
            return typing.get_args(one)[0]
    return kind


def encode_stream(texts: list[str], done: ReplyEnd, include_usage: bool) -> list[dict[str, object]]:
    encoder = ChunkEncoder(LABEL, include_usage=include_usage)
    raw = b"".join(map(encoder.encode_text, texts)) + encoder.encode_end(done)
    *events, last, rest = raw.decode().split("\n\n")
    assert (last, rest) == ("data: [DONE]", "")
    return [json.loads(event.removeprefix("data: ")) for event in events]


@given(TEXTS, OUTCOMES, st.booleans())
def test_every_chunk_is_valid_and_holds_no_other_key(
    texts: list[str], done: ReplyEnd, include_usage: bool
) -> None:
    for value in encode_stream(texts, done, include_usage):
        ChatCompletionChunk.model_validate(value, strict=True)
        check_known_keys(value, ChatCompletionChunk)


def test_a_client_that_ends_lines_at_more_than_line_feeds_reads_the_same() -> None:
    text = "a\u2028b\u2029c\x85d\x0be\x0cf\x1cg\x1eh é 🪨"
    encoder = ChunkEncoder(LABEL, include_usage=False)
    cited = ReplyEnd(Decision.ANSWERED, "stop", (Citation(0, 1, text, "https://x.org/"),))
    raw = (encoder.encode_text(text) + encoder.encode_end(cited)).decode()
    assert raw.splitlines() == raw.split("\n")[:-1]
    first, second = [
        json.loads(line[6:]) for line in raw.splitlines() if '"content":"a' in line or "x.org" in line
    ]
    assert first["choices"][0]["delta"]["content"] == text
    assert second["choices"][0]["delta"]["annotations"][0]["url_citation"]["title"] == text


@given(TEXTS, OUTCOMES, st.booleans())
def test_a_stream_is_one_role_the_text_one_finish_and_usage_if_asked(
    texts: list[str], done: ReplyEnd, include_usage: bool
) -> None:
    chunks = encode_stream(texts, done, include_usage)
    usage = [chunk for chunk in chunks if "usage" in chunk]
    choices = [chunk["choices"][0] for chunk in chunks if "usage" not in chunk]  # type: ignore[index]
    assert [bool(chunk["choices"]) for chunk in usage] == [False] * include_usage
    assert [choice["delta"].get("role") for choice in choices] == ["assistant"] + [None] * (len(choices) - 1)
    assert "".join(choice["delta"].get("content", "") for choice in choices) == "".join(texts)
    assert [choice["finish_reason"] for choice in choices] == [None] * (len(choices) - 1) + [done.finish]
    assert sum("annotations" in choice["delta"] for choice in choices) == bool(done.citations)
    assert len({(chunk["id"], chunk["created"], chunk["model"]) for chunk in chunks}) == 1


@given(st.text(), OUTCOMES)
def test_every_body_is_valid_and_holds_no_other_key(text: str, done: ReplyEnd) -> None:
    value = json.loads(openai_chat.encode_completion(LABEL, text, done))
    ChatCompletion.model_validate(value, strict=True)
    check_known_keys(value, ChatCompletion)
    assert value["choices"][0]["message"]["content"] == text


def test_the_check_finds_a_foreign_key() -> None:
    value = encode_stream(["x"], ReplyEnd(Decision.ANSWERED, "stop"), False)[1]
    value["choices"][0]["delta"]["reasoning_content"] = "x"  # type: ignore[index]
    with pytest.raises(AssertionError):
        check_known_keys(value, ChatCompletionChunk)


def test_models_are_valid() -> None:
    listed = json.loads(openai_chat.encode_model_list(["ada"], 1))
    assert listed["object"] == "list"
    Model.model_validate(listed["data"][0], strict=True)
    Model.model_validate_json(openai_chat.encode_model("ada", 1), strict=True)


@given(st.text(), st.text(min_size=1), st.none() | st.text())
def test_every_error_has_the_whole_envelope(text: str, code: str, param: str | None) -> None:
    value = json.loads(openai_chat.encode_error(RequestError(text, code=code, param=param)))
    assert value == {
        "error": {"message": text, "type": "invalid_request_error", "param": param, "code": code}
    }
