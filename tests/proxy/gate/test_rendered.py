"""Values are read as a reader of Markdown sees them: nothing that dresses a value may change it unseen."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.domain.types import Source
from proxy.gate.values import render_text
from tests.proxy.gate.gate_runs import find_stop_rule, run_gate

HALL = Source(
    1,
    "a",
    "Hall",
    "It costs 26 million euros or 48 a head, 1 2 3. It opened on 14 March 2017, at 9:30 am. "
    "See https://hall.example/visit.",
)


def find_hall_stop(text: str, language: str = "en") -> str:
    """The rule that stops `text` over the hall's page."""
    return find_stop_rule(run_gate(text, sources=(HALL,), language=language))


@pytest.mark.parametrize(
    "text",
    [
        "It seats 48 **thousand** people [1].",
        "It seats **48** thousand people [1].",
        "It seats 48 _million_ people [1].",
        "It seats 48**M** people [1].",
        "It seats 48 (thousand) people [1].",
        "It seats `48` million people [1].",
        "It seats 1**2**3 people [1].",
        "It seats 1`2`3 people [1].",
        "It seats -**48** people [1].",
        "It opened at 9:30 **pm** [1].",
        "It opened **9:30** pm [1].",
        "It seats 48&#48; people [1].",
        "It seats 48&period;1 people [1].",
        "It seats &minus;48 people [1].",
        "It seats 48 mil&shy;lion people [1].",
        "It seats 48 mil\u200blion people [1].",
        "It seats 48 \u200bmillion people [1].",
        "It seats 48\u200b million people [1].",
        "It seats 48 𝐦𝐢𝐥𝐥𝐢𝐨𝐧 people [1].",
        "It seats 4[8](https://hall.example/visit) people, 4 and 8 [1].",
        "It seats 4[8](https://hall.example/visit)0 people [1].",
        'See [the hall](https://hall.example/visit "only 9999 euros") [1].',
        "See evil\\.com [1].",
        "See ev**il**.com [1].",
        "See evil．com [1].",
        "See 𝐞𝐯𝐢𝐥.com [1].",
        "See evil｡com [1].",
        "It opened at 9:30 ㏘ [1].",
        "It seats 🔟 people [1].",
        "It opened on 🔟 March 2017 [1].",
        "See evil‧com [1].",
        "See evil·com [1].",
        "See evil。com [1].",
        "See evil۔com [1].",
        "See hall.example [1]. See evil。com [1].",
        "It seats $26{,}48$ people [1].",
        "It seats $48\\;26$ people [1].",
        "See https://hall.example/visit\\evil [1].",
        'See https://hall.example/visit"evil [1].',
        "It seats 4·8 people, 4 and 8 [1].",
        "It seats 4⁄8 people, 4 and 8 [1].",
        "It seats 48б people [1].",
        "It seats 48 [1]\nmillion people [1].",
        "It opened at 9:30 [1]\npm today [1].",
    ],
)
def test_a_dressed_value_is_the_value_that_a_reader_sees(text: str) -> None:
    assert find_hall_stop(text) in ("values", "present")


@pytest.mark.parametrize(
    ("language", "text"),
    [("zh", "㋅㏢开放[1]。"), ("zh", "有**48**万个座位[1]。"), ("fa", "۴۸ [1]\nهزار نفر [1]")],
)
def test_a_dressed_scale_counts_in_every_script(language: str, text: str) -> None:
    assert find_hall_stop(text, language) == "values"


@pytest.mark.parametrize(
    "text",
    [
        "It costs **26** million euros [1].",
        "It costs 26 **million** euros [1].",
        "It costs €**26**M [1].",
        "It opened on **March** 14, 2017 [1].",
        "It opened on **14** March 2017 [1].",
        "It opened on _14 March_ 2017 [1].",
        "| Fee | Open |\n|---|---|\n| **26** million [1] | **9:30** am |",
        "1. **48**: a head [1]\n2. **9:30 am**: opening [1]",
        "R&amp;D costs 48 a head [1].",
        "It costs 26\u00a0million [1].",
        "See **https://hall.example/visit** [1].",
    ],
)
def test_a_dressed_value_of_the_source_passes(text: str) -> None:
    assert find_hall_stop(text) == ""


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("&#91;49&#93; &lt;b&gt; \\[49\\]", "&#91;49&#93; &lt;b&gt; \\[49\\]"),
        ("2 * 3, 2 ~ 3, * item", "2 * 3, 2 ~ 3, * item"),
        ("a_b 1_2 __x__", "a_b 1_2 x"),
        ("https://x.example/*a*_b_", "https://x.example/*a*_b_"),
        ("4\u200b9 می\u200cخواهم hall.ex\u200bample", "4\u200b9 می\u200cخواهم hall.ex\u200bample"),
    ],
)
def test_nothing_else_changes(text: str, seen: str) -> None:
    assert render_text(text) == seen


@given(st.text(alphabet="a4*_~&#;\\\u200b .,[](/", max_size=40))
def test_no_digit_is_lost(text: str) -> None:
    if "&#" not in text:
        assert [c for c in render_text(text) if c == "4"] == [c for c in text if c == "4"]
