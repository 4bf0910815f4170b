"""JSON that two parsers could read differently is refused."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.domain.errors import RequestError
from proxy.wire import strict_json

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.text()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(JSON)
def test_ordinary_json_is_read_as_ever(value: object) -> None:
    assert strict_json.parse_json(json.dumps(value).encode()) == value


@pytest.mark.parametrize(
    ("body", "word"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"{} {}", "not JSON"),
        (b"{'a': 1}", "not JSON"),
        (b'{"a":1,"a":1}', "twice"),
        (b'{"b":[{"a":1,"\\u0061":2}]}', "twice"),
        (b'{"a":NaN}', "NaN"),
        (b'{"a":-Infinity}', "Infinity"),
        (b'{"a":1e999}', "too large"),
        (b'{"a":-1e999}', "too large"),
        (b'{"a":' + b"9" * 5000 + b"}", "5000"),
        (b"[" * 65 + b"]" * 65, "nested"),
        (b"[" * 200_000, "nested"),
        (b'{"a":"\\ud83d"}', "surrogate"),
        (b'{"\\ud83d":1}', "surrogate"),
        (b'"\xff"', "UTF-8"),
        (b'"\xed\xa0\x80"', "UTF-8"),
        ('{"a":1}'.encode("utf-16"), "UTF-8"),
        ('{"a":1}'.encode("utf-16-le"), "not JSON"),
        ('{"a":1}'.encode("utf-32-be"), "not JSON"),
        (b"\xef\xbb\xbf{}", "not JSON"),
        (b'{"a":"\n"}', "not JSON"),
    ],
)
def test_what_is_refused_and_why(body: bytes, word: str) -> None:
    with pytest.raises(RequestError) as caught:
        strict_json.parse_json(body)
    assert (caught.value.status, caught.value.code) == (400, "invalid_json")
    assert word in caught.value.text


def test_64_levels_are_enough_and_allowed() -> None:
    strict_json.parse_json(b"[" * 64 + b"]" * 64)


def test_a_whole_pair_of_surrogates_is_one_character() -> None:
    assert strict_json.parse_json(b'"\\ud83e\\udea8"') == "🪨"
