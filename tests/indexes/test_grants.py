"""Groups and validity: exact instants, and the same answer as the truth's SQL."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexes.grants import EPOCH, FOREVER, decode_instant, encode_instant, intersect_access, is_visible
from tests.indexes.sample_evidence import NOW, make_access, make_viewer


@given(st.datetimes(min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30), timezones=st.just(UTC)))
def test_an_instant_is_exact_to_the_microsecond(time: datetime) -> None:
    assert decode_instant(encode_instant(time)) == time


def test_the_zone_of_a_time_does_not_matter() -> None:
    elsewhere = timezone(timedelta(hours=9))
    assert encode_instant(NOW) == encode_instant(NOW.astimezone(elsewhere))


def test_a_naive_time_is_a_fault() -> None:
    with pytest.raises(ValueError, match="no time zone"):
        encode_instant(datetime(2026, 1, 1))


def test_no_end_is_forever() -> None:
    assert encode_instant(None) == FOREVER
    assert decode_instant(FOREVER) is None


def test_visible_from_its_first_instant_until_just_before_its_end() -> None:
    who = make_access("a", begins=NOW, ends=NOW + timedelta(days=1))
    times = (NOW - timedelta(microseconds=1), NOW, NOW + timedelta(hours=23), NOW + timedelta(days=1))
    assert [is_visible(who, make_viewer("a", now=at)) for at in times] == [False, True, True, False]


def test_no_group_in_common_sees_nothing() -> None:
    assert not is_visible(make_access("a", "b"), make_viewer("c"))
    assert not is_visible(make_access(), make_viewer("a"))
    assert not is_visible(make_access("a"), make_viewer())


def test_narrowing_never_shows_more() -> None:
    outer = make_access("a", "b", begins=NOW, ends=NOW + timedelta(days=9))
    inner = make_access("b", "c", begins=EPOCH)
    assert intersect_access(outer, inner) == make_access("b", begins=NOW, ends=NOW + timedelta(days=9))
