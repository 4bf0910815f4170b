"""Helpers of the wire tests: cuts bytes in every way, and reads an upstream's reply whole."""

from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import strategies as st

from proxy.domain.types import Usage
from proxy.wire.response_reader import Dialect, ResponseReader, UpstreamEvent
from proxy.wire.upstream_events import AnswerText, ResponseEnd, ThoughtText


@dataclass(frozen=True, slots=True)
class WholeReply:
    """All of a reply: its text, its billed text, the last usage, its end."""

    text: str
    thought: str
    usage: Usage | None
    end: ResponseEnd


def read_reply(
    dialect: Dialect, reads: Sequence[bytes], content_type: str = "text/event-stream"
) -> WholeReply:
    reader = ResponseReader(dialect, content_type)
    events: list[UpstreamEvent] = []
    for data in reads:
        events += reader.feed(data)
    events += reader.finish()
    assert reader.end
    usages = [item for item in events if isinstance(item, Usage)]
    return WholeReply(
        "".join(item.text for item in events if isinstance(item, AnswerText)),
        "".join(item.text for item in events if isinstance(item, ThoughtText)),
        usages[-1] if usages else None,
        reader.end,
    )


def split_bytes(data: bytes, cuts: Sequence[int]) -> list[bytes]:
    """`data` cut at these places."""
    ends = sorted(cut % (len(data) + 1) for cut in cuts)
    return [data[start:end] for start, end in zip([0, *ends], [*ends, len(data)], strict=True)]


CUTS = st.lists(st.integers(0, 10**6), max_size=12)
