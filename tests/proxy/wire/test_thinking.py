"""Thinking inside an answer's text never becomes text, however it is cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.wire.thinking import TAGS, ThinkingSplitter
from proxy.wire.upstream_events import AnswerText, ThoughtText


def split_thoughts(pieces: list[str]) -> tuple[str, str]:
    think = ThinkingSplitter()
    events = [item for piece in pieces for item in think.feed(piece)] + think.finish()
    return (
        "".join(item.text for item in events if isinstance(item, AnswerText)),
        "".join(item.text for item in events if isinstance(item, ThoughtText)),
    )


@pytest.mark.parametrize(
    ("text", "text_left", "thought"),
    [
        ("plain", "plain", ""),
        ("<think>a</think>b", "b", "a"),
        ("a<THINK>b</Think>c", "ac", "b"),
        ("a<think>b", "a", "b"),
        ("a<think>b</thin", "a", "b</thin"),
        ("a<thin", "a<thin", ""),
        ("a < b, [1] and [th", "a < b, [1] and [th", ""),
        ("◁think▷a◁/think▷b", "b", "a"),
        ("[THINK]a[/THINK]b", "b", "a"),
        ("<think>a</reasoning>b</think>c", "c", "a</reasoning>b"),
        ("<|START_THINKING|>a<|END_THINKING|>b", "b", "a"),
        ("<|channel>thought\na<channel|>b", "b", "\na"),
        ("<think>a</think><think>b</think>c", "c", "ab"),
        ("<<think>a</think>b", "<b", "a"),
        ("", "", ""),
    ],
)
def test_examples(text: str, text_left: str, thought: str) -> None:
    assert split_thoughts([text]) == (text_left, thought)


def test_of_a_reply_in_channels_only_the_final_one_is_text() -> None:
    channels = (
        "<|channel|>analysis<|message|>a<|end|>"
        "<|start|>assistant<|channel|>commentary<|message|>b<|end|>"
        "<|start|>assistant<|channel|>final<|message|>"
    )
    assert split_thoughts([channels, "c"])[0] == "c"


BITS = st.lists(
    st.sampled_from([tag for pair in TAGS for tag in pair] + ["a", "<", "[", "[1]", "th", "◁", " "])
)


@given(BITS, st.lists(st.integers(0, 200)))
def test_cuts_change_nothing(bits: list[str], cuts: list[int]) -> None:
    text = "".join(bits)
    ends = sorted(cut % (len(text) + 1) for cut in cuts)
    pieces = [text[a:b] for a, b in zip([0, *ends], [*ends, len(text)], strict=True)]
    assert split_thoughts(pieces) == split_thoughts([text])
    assert split_thoughts(list(text)) == split_thoughts([text])


@given(BITS)
def test_text_without_a_whole_opening_tag_comes_through_whole(bits: list[str]) -> None:
    text = "".join(bits)
    if not any(opening in text.lower() for opening, _ in TAGS):
        assert split_thoughts([text]) == (text, "")
