"""An upstream is asked again only where that can help, and never sooner than it asked for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.domain.types import UpstreamEnd
from proxy.upstream.retry import PAUSE_S_MAX, compute_pause_s, parse_retry_after_s


@pytest.mark.parametrize(
    ("ending", "again"),
    [
        (UpstreamEnd("failed", status=429), True),
        (UpstreamEnd("failed", status=500), True),
        (UpstreamEnd("failed", status=503), True),
        (UpstreamEnd("failed", status=529), True),
        (UpstreamEnd("failed", was_sent=False), True),
        (UpstreamEnd("failed"), True),
        (UpstreamEnd("failed", was_silent=True), False),
        (UpstreamEnd("failed", status=200), False),
        (UpstreamEnd("failed", status=307), False),
        (UpstreamEnd("failed", status=400), False),
        (UpstreamEnd("failed", status=401), False),
        (UpstreamEnd("failed", status=404), False),
        (UpstreamEnd("cut"), False),
        (UpstreamEnd("cut", status=503), False),
        (UpstreamEnd("stop"), False),
        (UpstreamEnd("length"), False),
        (UpstreamEnd("sink_stopped"), False),
        (UpstreamEnd("failed", status=429, retry_after_s=5), True),
        (UpstreamEnd("failed", status=429, retry_after_s=60), False),
    ],
)
def test_who_is_asked_again(ending: UpstreamEnd, again: bool) -> None:
    assert (compute_pause_s(ending, 1) is not None) == again


def test_waits_double_and_are_shortened_at_random() -> None:
    busy = UpstreamEnd("failed", status=503)
    assert [compute_pause_s(busy, n, lambda: 0.0) for n in (1, 2, 3)] == [0.5, 1.0, 2.0]
    assert [compute_pause_s(busy, n, lambda: 1.0) for n in (1, 2, 3)] == [0.25, 0.5, 1.0]


@given(st.integers(1, 50), st.floats(0, 1), st.none() | st.floats(0, 100))
def test_no_wait_is_longer_than_a_reader_waits_or_shorter_than_asked(
    attempt: int, chance: float, asked_s: float | None
) -> None:
    wait_s = compute_pause_s(
        UpstreamEnd("failed", status=429, retry_after_s=asked_s), attempt, lambda: chance
    )
    if wait_s is None:
        assert asked_s is not None
        assert asked_s > PAUSE_S_MAX
    else:
        assert (asked_s or 0) <= wait_s <= PAUSE_S_MAX + 0.5


@pytest.mark.parametrize(
    ("headers", "wait_s"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:30 GMT"}, 20),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:01 GMT"}, 0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after-ms": "x"}, None),
        ({"retry-after-ms": "nan"}, None),
        ({"retry-after": "1e999"}, None),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:30 +99999999999999999999"}, None),
    ],
)
def test_what_an_upstream_asks_for(headers: dict[str, str], wait_s: float | None) -> None:
    assert parse_retry_after_s(headers, now=10) == wait_s
