"""Cutting: whole tables and fences, nothing lost, keys that survive an edit elsewhere."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexes.chunks import CHARS_MAX, cut_document

TABLE = "| item | price |\n|---|---|\n" + "\n".join(f"| thing {i} | {i} € |" for i in range(120))
CODE = "\n".join(f"    step_{i}(value)" if i % 3 else f"def part_{i}(value):" for i in range(200))


def test_headings_are_the_path_to_a_passage() -> None:
    chunks = cut_document("# A *b*\n\nzero\n\n## C\n\none\n\n# D\n\ntwo")
    assert [(c.headings, c.text) for c in chunks] == [
        (("A b",), "zero"),
        (("A b", "C"), "one"),
        (("D",), "two"),
    ]


def test_a_heading_with_nothing_below_is_its_own_text() -> None:
    assert [c.text for c in cut_document("# A\n\n## Only words\n## Next\n\ntext")] == ["Only words", "text"]


def test_an_empty_heading_is_no_passage() -> None:
    assert cut_document("#") == ()
    assert [c.text for c in cut_document("##\n\ntext")] == ["text"]


def test_every_part_of_a_long_table_has_its_header() -> None:
    chunks = cut_document(f"# Prices\n\n{TABLE}\n\nAfter.")
    parts = [c.text for c in chunks if "thing" in c.text]
    assert len(parts) >= 3
    assert all(part.startswith("| item | price |\n|---|---|\n") for part in parts)
    rows = [row for part in parts for row in part.splitlines() if row.startswith("| thing")]
    assert rows == TABLE.splitlines()[2:]


@pytest.mark.parametrize("fence", ["```python", "~~~", "- item\n\n  ```"])
def test_no_fence_is_left_open_however_long_the_code(fence: str) -> None:
    indent = "  " if fence.startswith("-") else ""
    body = "\n".join(indent + line for line in CODE.splitlines())
    closing = indent + re.findall(r"`+|~+", fence)[0]
    chunks = cut_document(f"Before.\n\n{fence}\n{body}\n{closing}\n\nAfter.")
    coded = [c.text for c in chunks if "step_" in c.text]
    assert len(coded) > 3
    assert all(len(re.findall(r"^\s*(?:```|~~~)", text, re.MULTILINE)) % 2 == 0 for text in coded)
    assert [line for line in CODE.splitlines() if not any(line in text for text in coded)] == []


def test_code_that_holds_a_fence_gets_a_longer_one() -> None:
    body = "\n".join("```" if i % 10 == 0 else f"line {i}" for i in range(300))
    for chunk in cut_document(f"`````\n{body}\n`````"):
        lines = chunk.text.splitlines()
        assert lines[0] == lines[-1] == "````"


def test_long_paragraphs_are_cut_between_sentences() -> None:
    text = " ".join(f"Sentence number {i} says a little about nothing." for i in range(60))
    chunks = cut_document(text)
    assert len(chunks) > 2
    assert all(c.text.startswith("Sentence") and c.text.endswith("nothing.") for c in chunks)


def test_sentences_end_without_a_space_in_chinese() -> None:
    assert all(c.text.endswith("。") for c in cut_document("员工每年有二十五天年假。" * 200))


def test_a_reference_definition_is_not_lost() -> None:
    assert "https://example.org/x" in cut_document("See [this][1].\n\n[1]: https://example.org/x")[0].text


def test_comments_are_for_nobody() -> None:
    assert "secret" not in "".join(
        c.text for c in cut_document("a <!-- secret --> b\n\n<!--\nsecret\n\n-->\n\nc")
    )


def test_an_edit_and_a_new_section_leave_other_keys_as_they_were() -> None:
    sections = [f"## Part {i}\n\nText of part {i}." for i in range(10)]
    before = {c.key for c in cut_document("# T\n\n" + "\n\n".join(sections))}
    sections[4] = "## Part 4\n\nAnother text."
    sections.insert(2, "## New\n\nNew text.")
    after = {c.key for c in cut_document("# T\n\n" + "\n\n".join(sections))}
    assert len(before & after) == 9


def test_equal_passages_have_keys_of_their_own() -> None:
    chunks = cut_document("## A\n\nsame\n\n## A\n\nsame")
    assert len({c.key for c in chunks}) == 2


WORDS = st.text(alphabet="abcé员خ12 .!?。\n#-|`>~*[]", max_size=60)


@given(st.lists(WORDS, max_size=40).map("\n\n".join), st.sampled_from([80, 200, CHARS_MAX]))
def test_cutting_never_loses_a_letter_nor_makes_long_passages(text: str, chars_max: int) -> None:
    """Always: every letter and digit of the text is in some passage; long ones are single table rows."""
    chunks = cut_document(text, chars_max)
    held = "".join(" ".join((*c.headings, c.text)) for c in chunks)
    for letter in set(re.findall(r"[^\W_]", text)):
        assert held.count(letter) >= 1
    assert len({c.key for c in chunks}) == len(chunks)
    assert all(c.text.strip() for c in chunks)
    assert all(len(c.text) <= chars_max or c.text.count("|") > 1 for c in chunks)
