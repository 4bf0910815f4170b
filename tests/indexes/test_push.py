"""Pushed documents obey the rules of files, hold for the next query, and are refused in one clear line."""

from pathlib import Path

import pytest

from indexes.push import PushReceiver, PushRejection, build_document, parse_access
from indexes.types import Query
from tests.indexes.sample_evidence import NOW, PACKS, make_viewer, open_indexed_store
from tests.indexes.sample_evidence import make_access as who

FIELDS: dict[str, object] = {"text": "Holiday rules of the house.", "allowed_groups": ["public"]}
SEES = make_viewer("public", sources="wiki")


def test_the_fields_are_those_of_front_matter() -> None:
    one = build_document("wiki", "hr/leave", {
        "text": "<h1>Leave</h1><p>Text", "format": "html", "title": "T \"quoted\" é 😀",
        "url": "https://x.example",
        "language": "en-GB", "allowed_groups": ["a", "no"],
        "valid_from": "2026-06-01T00:00:00Z", "valid_to": None,
        "supersedes": "hr/old",
    })  # fmt: skip
    assert (one.id, one.source, one.title, one.language) == ("wiki/hr/leave", "wiki", 'T "quoted" é 😀', "en")
    assert one.text == "# Leave\n\nText"
    assert one.access == who("a", "no", begins=NOW)
    assert one.supersedes == "wiki/hr/old"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"text": ""}, "`text`: want the document's text"),
        ({"text": 5}, "`text`"),
        ({"format": "pdf"}, "`format`: want one of markdown, text, html"),
        ({"allowed_groups": None}, "states no allowed_groups: name who may see it"),
        ({"allowed_groups": []}, "nobody could see it"),
        ({"allowed_groups": [True]}, "want a text, got a boolean"),
        ({"allowed_groups": [1]}, "want a text, got a number"),
        ({"allowed_groups": "public"}, "want a list"),
        ({"valid_from": "2026-01-01T00:00:00"}, "has no time zone"),
        ({"valid_from": 20260101}, "want a date or time"),
        ({"valid_from": "2027-01-01", "valid_to": "2026-01-01"}, "is not after"),
        ({"url": "javascript:x"}, "want an address"),
        ({"tittle": "x"}, "did you mean `title`?"),
        ({"title": ["x"]}, "want a text"),
        ({"title": "a\x07b\ud800"}, ""),
    ],
)
def test_what_is_not_exact_is_refused(change: dict[str, object], said: str) -> None:
    with pytest.raises(PushRejection) as refused:
        build_document("wiki", "a", {**FIELDS, **change})
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("key", ["", "/", "a\nb", "a\0", "x" * 501])
def test_a_key_is_printable(key: str) -> None:
    with pytest.raises(PushRejection, match="the key"):
        build_document("wiki", key, FIELDS)


def test_access_alone_is_checked_the_same_way() -> None:
    assert parse_access({"allowed_groups": ["a"]}) == who("a")
    with pytest.raises(PushRejection, match="unknown key `title`"):
        parse_access({"allowed_groups": ["a"], "title": "x"})


async def test_what_is_accepted_holds_for_the_next_query(tmp_path: Path) -> None:
    async with open_indexed_store(tmp_path) as indexed:
        push = PushReceiver(indexed.store, "wiki", PACKS)
        query = Query(("holiday rules",))
        assert await push.put_document("a", FIELDS) == "added"
        await indexed.keyword_index.drain()
        assert (await indexed.search.find_evidence(query, SEES)).best_similarity == 1.0
        assert await push.set_access("a", {"allowed_groups": ["boss"]})
        assert (await indexed.search.find_evidence(query, SEES)).hits == ()
        assert await push.put_document("a", FIELDS) == "access"
        assert await push.remove_document("a")
        assert (await indexed.search.find_evidence(query, SEES)).hits == ()
        assert not await push.remove_document("a")
