"""Markers: one grammar for all scripts; a link is none; what is taken out is exactly marker and space."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.gate import markers


@pytest.mark.parametrize(
    ("text", "numbers", "stripped"),
    [
        ("A claim [4].", [4], "A claim."),
        ("A claim. [4] More", [4], "A claim. More"),
        ("A [1][2] b [3, 4]; [5,6]", [1, 2, 3, 4, 5, 6], "A b;"),
        ("A [2-4] [7–8]", [2, 3, 4, 7, 8], "A"),
        ("A [1, 3-5]", [1, 3, 4, 5], "A"),
        ("A [5-3]", [5, 3], "A"),
        ("ادعا [۱۲] ادعا [٣].", [12, 3], "ادعا ادعا."),
        ("दावा [४]।", [4], "दावा।"),
        ("断言【1】［２］。", [1, 2], "断言。"),
        ("断言【7】。", [7], "断言。"),
        ("断言［8］。", [8], "断言。"),
        ("A [^3] [ 4 ] [[5]] [^6, ^7]", [3, 4, 5, 6, 7], "A"),
        ("**A [1]** _b_[2]", [1, 2], "**A** _b_"),
        ("[7] A", [7], " A"),
        ("A [0].", [0], "A."),
        ("A\u00a0[1]\u202f[2]\t[3]", [1, 2, 3], "A"),
        ("A\n[1]", [1], "A\n"),
        ("A [1](https://x.example) b [2] (c)", [2], "A [1](https://x.example) b (c)"),
        ("A [[1]](u)", [], "A [[1]](u)"),
        ("A [x] [1a] [1234] [1.2] [] [-1]", [], "A [x] [1a] [1234] [1.2] [] [-1]"),
        ("`a[1]` b [2] ``c ` [3]``", [2], "`a[1]` b ``c ` [3]``"),
        ("`a [1]", [1], "`a"),
        ("[1\n2]", [], "[1\n2]"),
    ],
)
def test_markers_of_all_forms(text: str, numbers: list[int], stripped: str) -> None:
    found = markers.find_markers(text)
    assert [n for m in found for n in m.numbers] == numbers
    assert markers.strip_markers(text, found) == stripped


@pytest.mark.parametrize(
    ("text", "spans"),
    [("`a` b `c`", [(0, 3), (6, 9)]), ("``a`b``", [(0, 7)]), ("`a``b`", [(0, 6)]), ("``a`", []), ("a", [])],
)
def test_code_spans_pair_backtick_runs_of_equal_length(text: str, spans: list[tuple[int, int]]) -> None:
    assert markers.find_code_spans(text) == spans


@given(st.text(alphabet="a`[1] ,-2]", max_size=60))
def test_stripping_takes_nothing_but_markers_and_space(text: str) -> None:
    found = markers.find_markers(text)
    starts, ends = [*(m.start for m in found), len(text)], [0, *(m.end for m in found)]
    outside = "".join(text[a:b] for a, b in zip(ends, starts, strict=True))
    assert markers.strip_markers(text, found).replace(" ", "") == outside.replace(" ", "")
    assert all(n <= 999 for m in found for n in m.numbers)


@given(st.lists(st.integers(1, 999), min_size=1, max_size=8))
def test_every_written_number_is_found(numbers: list[int]) -> None:
    [found] = markers.find_markers(f"x [{', '.join(map(str, numbers))}].")
    assert list(found.numbers) == numbers
