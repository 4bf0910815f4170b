"""What holds of the gate for every text, however it comes."""

import re
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from proxy.domain.types import Source
from proxy.gate import Gate, Release, Stop
from proxy.gate.lookahead import LOOKAHEAD_CHARS
from tests.proxy.gate.gate_runs import (
    SOURCES,
    TOKEN,
    find_stop_rule,
    join_releases,
    load_default_rules,
    run_gate,
    split_pieces,
)

FACTS = [
    "It costs 12 euros",
    "It opens at 9:30",
    "It costs 13 euros",
    "See https://lib.example/card",
    "Yes",
    "I agree",
]
SIGNS = [
    ".",
    "! ",
    " ",
    "\n",
    "\r\n",
    "[1]",
    "[2]",
    " [1]",
    "[3]",
    "[1",
    "](x)",
    "```\n",
    "    ",
    "| ",
    "1. ",
]
OTHERS = ["`", "**", "؟", "。", "…", " [1]. ", " [2].\n", TOKEN, "é"]
texts = st.lists(st.sampled_from([*FACTS, *SIGNS, *OTHERS]), max_size=25).map("".join)
plain = st.lists(
    st.sampled_from([*FACTS[:3], "Yes", ". ", "! ", " [1]. ", " [2].", "\n", "[1] "]), max_size=25
).map("".join)


@given(texts, st.lists(st.integers(1, 7), max_size=60))
def test_pieces_do_not_matter(text: str, sizes: list[int]) -> None:
    """The same releases and the same verdict, however the text is cut."""
    whole = run_gate(text)
    assert run_gate(split_pieces(text, sizes)) == whole
    assert run_gate(list(text)) == whole


@given(texts)
def test_nothing_comes_after_a_stop(text: str) -> None:
    gate = Gate(SOURCES, "en", load_default_rules())
    stopped = False
    for character in text:
        outputs = gate.feed(character)
        assert not (stopped and outputs)
        assert all(isinstance(s, Release) for s in outputs[:-1])
        stopped = stopped or any(isinstance(s, Stop) for s in outputs)
    outputs = gate.finish()
    assert not (stopped and outputs)
    assert gate.finish() == gate.feed("more") == []


@given(plain)
def test_released_text_is_always_a_prefix_of_the_text_without_markers(text: str) -> None:
    """And all of it, when nothing stops."""
    bare = re.sub(r" *\[[12]\]", "", text)
    gate, out, stopped = Gate(SOURCES, "en", load_default_rules()), "", False
    for outputs in (*map(gate.feed, text), gate.finish()):
        out += join_releases(outputs)
        stopped = stopped or find_stop_rule(outputs) != ""
        assert bare.startswith(out)
    assert stopped or out == bare


@given(texts)
def test_no_released_text_holds_what_no_source_holds(text: str) -> None:
    """`13` stands in no source, so it never comes out, wherever the stops and markers fall."""
    assert "13" not in join_releases(run_gate(text))


@given(
    st.lists(st.sampled_from(["Yes", "No way", "12", "Sure!", "ok 5", ". ", "\n", "at 9:30"]), max_size=20)
)
def test_exempt_sentences_carry_no_value_and_never_come_alone(words: list[str]) -> None:
    """Without a marker nothing is released, and after a cited sentence no digit is."""
    text = " ".join(words)
    assert join_releases(run_gate(text)) == ""
    after = join_releases(run_gate("It is [1].\n" + text))
    assert not any(c.isdigit() for c in after)


@given(st.integers(0, 400), st.integers(0, 400), st.sampled_from(["{} euros", "costs {}.", "({})", "{}%"]))
def test_a_number_passes_if_and_only_if_its_source_has_it(
    answer_number: int, source_number: int, form: str
) -> None:
    sources = (Source(1, "a", "", f"It is {source_number} there, and 7 here."),)
    answer = f"It is {form.format(answer_number)} [1]"
    assert (find_stop_rule(run_gate(answer, sources=sources)) == "") == (answer_number in (source_number, 7))


@given(
    st.sampled_from(["Yes. ", "It is [1]. ", "word ", ".", "[", "\n", "`", "no\n", "é"]), st.integers(1, 40)
)
def test_held_text_is_bounded(piece: str, size: int) -> None:
    """Neither an endless sentence nor endless leading transitions fill the memory."""
    rules = replace(load_default_rules(), sentence_chars_max=200)
    gate = Gate(SOURCES, "en", rules)
    for _ in range(60):
        gate.feed(piece * size)
        held = len(gate._scanner.pending_text) + sum(len(r.text) for r in gate._leading_releases or [])
        assert held <= 2 * 200 + 2 * LOOKAHEAD_CHARS
