"""HTML becomes Markdown with all that a reader sees, and nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexes.sources.readers.html import read_html


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<h2>Big <b>head</b></h2><p>One<p>Two", "## Big head\n\nOne\n\nTwo"),
        ("<ul><li>a<li>b<ol><li>x<li>y</ol></ul>after", "- a\n- b\n   1. x\n   2. y\n\nafter"),
        ("a<br>b &lt;c&gt; &amp;", "a  \nb <c> &"),
        ("<a href='https://x.example/y'>link</a>", "link (https://x.example/y)"),
        ("<a href='javascript:x()'>link</a>", "link"),
        ("<pre>a\n  b</pre>c", "```\na\n  b\n```\n\nc"),
        ("<pre>```</pre>", "````\n```\n````"),
        ("<img alt='A chart' src=x>", "A chart"),
        ("one\n   two", "one two"),
    ],
)
def test_what_is_seen_is_kept(page: str, text: str) -> None:
    assert read_html(page).text == text


def test_a_table_becomes_a_table() -> None:
    page = "<table><thead><tr><th>A<th>B|C</thead><tbody><tr><td>1<td><p>2</p></table>"
    assert read_html(page).text == "| A | B\\|C |\n| --- | --- |\n| 1 | 2 |"


@pytest.mark.parametrize(
    "unseen",
    [
        "<script>SECRET</script>",
        "<style>SECRET</style>",
        "<!-- SECRET -->",
        "<nav><p>SECRET</nav>",
        "<div hidden><p>SECRET</div>",
        "<p style='color:red; display: none'>SECRET</p>",
        "<svg><title>SECRET</title></svg>",
        "<template>SECRET</template>",
        "<p hidden>SECRET",
    ],
)
def test_what_nobody_sees_is_left_out_and_what_follows_is_not(unseen: str) -> None:
    found = read_html(f"<div>before {unseen}<p>after</div>")
    assert "SECRET" not in found.text + (found.title or "")
    assert "before" in found.text
    assert "after" in found.text


def test_a_head_that_is_never_closed_does_not_swallow_the_page() -> None:
    found = read_html("<html lang=pt-BR><head><title>T</title><meta charset=utf-8><body><p>text")
    assert (found.title, found.language, found.text) == ("T", "pt", "text")


def test_the_first_h1_is_the_title_where_there_is_none() -> None:
    assert read_html("<h1>One <i>two</i></h1><h1>Three</h1>").title == "One two"


TABLE = ("<table>", "<thead>", "<tr>", "<td>", "</tr>", "</table>")
TAGS = st.sampled_from(("<p>", "</p>", "<div>", "<ul>", "<li>", "</ul>", "<pre>", "</pre>", "<h1>", *TABLE))


@given(st.lists(TAGS | st.sampled_from(["alpha", "beta", "| x", "```"]), max_size=30))
def test_no_order_of_tags_breaks_it_or_loses_a_word(parts: list[str]) -> None:
    """Always: as many of each word come out as went in."""
    text = read_html(" ".join(parts)).text
    for word in ("alpha", "beta"):
        assert text.count(word) == parts.count(word)
