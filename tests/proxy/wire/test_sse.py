"""Events come out the same however the bytes are cut, and only where a line really ends."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.wire.sse import EVENT_BYTES_MAX, SseDecoder, SseEvent
from tests.proxy.wire.reply_reading import CUTS, split_bytes


def decode_reads(reads: list[bytes]) -> list[SseEvent]:
    decoder = SseDecoder()
    events = [event for data in reads for event in decoder.feed(data)]
    return [*events, *decoder.finish()]


@pytest.mark.parametrize(
    ("stream", "events"),
    [
        (b"data: a\n\ndata: b\n\n", [SseEvent("a"), SseEvent("b")]),
        (b"data: a\r\n\r\ndata: b\r\n\r\n", [SseEvent("a"), SseEvent("b")]),
        (b"data: a\r\rdata: b\r\r", [SseEvent("a"), SseEvent("b")]),
        (b"data:a\n\n", [SseEvent("a")]),
        (b"data:  a\n\n", [SseEvent(" a")]),
        (b"data: a\ndata: b\n\n", [SseEvent("a\nb")]),
        (b"data\n\n", [SseEvent("")]),
        (b"\xef\xbb\xbfdata: a\n\n", [SseEvent("a")]),
        (b"event: error\ndata: a\n\ndata: b\n\n", [SseEvent("a", "error"), SseEvent("b")]),
        (b": note\n\nid: 1\nretry: 5\nfoo: x\ndata: a\n\n", [SseEvent("a")]),
        (b"error: a\n\n", [SseEvent("a", "error")]),
        (b"event: ping\n\n", []),
        (b"data: a\n\ndata: b", [SseEvent("a")]),
        (b"data: a\n\ndata: b\n", [SseEvent("a")]),
        (b"data: [DONE]", [SseEvent("[DONE]")]),
        (b"data: [DONE]\n", [SseEvent("[DONE]")]),
        (b"data: a\ndata: [DONE]", []),
        ("data: a\u2028b\u0085c\n\n".encode(), [SseEvent("a\u2028b\u0085c")]),
        (b"", []),
    ],
)
def test_examples(stream: bytes, events: list[SseEvent]) -> None:
    assert decode_reads([stream]) == events


LINES = st.lists(
    st.sampled_from(
        ["data: a", "data:é", "data", "event: x", ": c", "id: 1", "", "", "data: \u2028", "data: [DONE]"]
    )
)


@given(LINES, st.sampled_from(["\n", "\r\n", "\r"]), CUTS)
def test_cuts_and_line_ends_change_nothing(lines: list[str], end: str, cuts: list[int]) -> None:
    stream = end.join([*lines, "", ""]).encode()
    unix = "\n".join([*lines, "", ""]).encode()
    assert decode_reads(split_bytes(stream, cuts)) == decode_reads([unix])


@given(LINES)
def test_single_bytes_change_nothing(lines: list[str]) -> None:
    stream = "\r\n".join([*lines, "", ""]).encode()
    assert decode_reads([stream[i : i + 1] for i in range(len(stream))]) == decode_reads([stream])


def test_what_came_before_a_fault_still_counts() -> None:
    decoder = SseDecoder()
    assert decoder.feed(b"data: a\n\ndata: \xff\n\ndata: b\n\n") == [SseEvent("a")]
    assert decoder.fault == "invalid UTF-8"


@pytest.mark.parametrize("piece", [b"x" * 65_536, b"data: x\n" * 8_192, b"data:\n" * 10_000])
def test_an_event_without_end_is_given_up(piece: bytes) -> None:
    """Memory stays bounded whether it is one line or many."""
    decoder = SseDecoder()
    for _ in range(3 * EVENT_BYTES_MAX // len(piece)):
        decoder.feed(piece)
    assert decoder.fault
