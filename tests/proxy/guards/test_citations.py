"""Citations: half-open spans of the released text, only safe URLs, titles that cannot break out."""

import pytest

from proxy.domain.types import Citation, Source
from proxy.gate.types import Release
from proxy.guards.citations import (
    TITLE_CHARS_MAX,
    build_citations,
    clean_title,
    clean_url,
    escape_title,
    render_source_list,
)

SOURCES = (
    Source(1, "a", "Tide Atlas", "…", "https://a.example/tide"),
    Source(2, "b", "Minutes", "…", None),
    Source(3, "c", "Trap", "…", "javascript:alert(1)"),
)


def test_spans_are_code_points_of_the_joined_text_without_outer_space() -> None:
    releases = [Release("Das ist 🌊 alt.", (1,)), Release(" Ja.", ()), Release("\nNeu.", (1, 1, 2))]
    text = "".join(release.text for release in releases)
    cited = build_citations(releases, SOURCES)
    assert [text[c.start : c.end] for c in cited] == ["Das ist 🌊 alt.", "Neu.", "Neu."]
    assert [c.title for c in cited] == ["Tide Atlas", "Tide Atlas", "Minutes"]


def test_a_source_without_a_safe_url_is_cited_by_its_title_alone() -> None:
    cited = build_citations([Release("Fact.", (2, 3, 9))], SOURCES)
    assert [(c.title, c.url) for c in cited] == [("Minutes", ""), ("Trap", "")]
    assert render_source_list(cited, "Sources") == "\n\nSources:\n- Minutes\n- Trap"


@pytest.mark.parametrize(
    ("url", "safe"),
    [
        ("https://a.example/x?y=1#z", "https://a.example/x?y=1#z"),
        ("mailto:ines@a.example", "mailto:ines@a.example"),
        ("https://a.example/a b", ""),
        ("https://a.example/(x)", "https://a.example/%28x%29"),
        ("https://a.example/\u202ex", ""),
        ("JavaScript:alert(1)", ""),
        ("data:text/html,x", ""),
        ("/local", ""),
        ("https://[broken", ""),
        (None, ""),
    ],
)
def test_only_http_https_and_mailto_make_a_link(url: str | None, safe: str) -> None:
    assert clean_url(url) == safe


def test_a_title_cannot_break_out_of_its_link() -> None:
    assert escape_title("a](javascript:x)\n[b") == r"a\]\(javascript:x\) \[b"
    assert escape_title("&lt;b&gt;") == r"\&lt;b\&gt;"


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("Hours\u202e\u2028of today\x1b", "Hours of today"),
        ("می\u200cخواهد", "می\u200cخواهد"),
        ("L" * 5_000, "L" * (TITLE_CHARS_MAX - 1) + "…"),
    ],
)
def test_a_title_is_shown_on_one_line_of_bounded_length_in_notes_and_list(title: str, shown: str) -> None:
    assert clean_title(title) == shown
    source = Source(1, "a", title, "…", "https://a.example/x")
    cited = build_citations([Release("Fact.", (1,))], [source])
    assert cited[0].title == shown
    assert render_source_list(cited, "Sources").endswith(f"- [{shown}](https://a.example/x)")


def test_the_list_names_each_source_once_in_order_of_first_use() -> None:
    cited = [
        Citation(0, 1, "B", "https://b.example"),
        Citation(1, 2, "A", "https://a.example"),
        Citation(2, 3, "B", "https://b.example"),
    ]
    assert (
        render_source_list(cited, "Sources")
        == "\n\nSources:\n- [B](https://b.example)\n- [A](https://a.example)"
    )
    assert render_source_list([], "Sources") == ""
