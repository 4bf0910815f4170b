"""The truth: one transaction a change, ids never used again, text only for those who may see it."""

import sqlite3
from datetime import timedelta
from pathlib import Path

import pytest

from indexes.chunks import cut_document
from indexes.store import Store, StoreFileError
from indexes.types import Viewer
from tests.indexes.sample_evidence import NOW, make_access, make_document, make_viewer, put_documents

PUBLIC = make_viewer("public")
DAY = timedelta(days=1)
ALL = range(1, 100)


async def list_visible_texts(store: Store, viewer: Viewer = PUBLIC) -> set[str]:
    return {passage.text for passage in (await store.recheck_passages(ALL, viewer)).values()}


async def test_a_document_is_there_for_the_next_query(tmp_path: Path) -> None:
    async with Store(tmp_path / "t.db") as store:
        one = make_document("docs/a", "# T\n\nhello", title="A", url="https://a.example", language="en")
        assert await store.put_document(one, cut_document(one.text)) == "added"
        (passage,) = (await store.recheck_passages([1], PUBLIC)).values()
        assert (passage.document_id, passage.title, passage.url) == ("docs/a", "A", "https://a.example")
        assert (passage.headings, passage.text, passage.language) == (("T",), "hello", "en")


async def test_the_same_document_again_changes_nothing(tmp_path: Path) -> None:
    async with Store(tmp_path / "t.db") as store:
        one = make_document("docs/a", "hello")
        await put_documents(store, one)
        before = await store.read_state()
        assert await store.put_document(one, cut_document(one.text)) == "unchanged"
        assert await store.read_state() == before


async def test_unchanged_passages_keep_their_ids_and_no_id_comes_back(tmp_path: Path) -> None:
    async with Store(tmp_path / "t.db") as store:
        await put_documents(store, make_document("docs/a", "## A\n\none\n\n## B\n\ntwo"))
        await put_documents(store, make_document("docs/a", "## A\n\none\n\n## B\n\nthree"))
        assert {p.id: p.text for p in (await store.recheck_passages(ALL, PUBLIC)).values()} == {
            1: "one",
            3: "three",
        }
        await store.remove_document("docs/a")
        await put_documents(store, make_document("docs/b", "four"))
        assert set(await store.recheck_passages(ALL, PUBLIC)) == {4}


async def test_a_change_of_access_holds_for_the_next_query_and_moves_the_generation(tmp_path: Path) -> None:
    async with Store(tmp_path / "t.db") as store:
        await put_documents(store, make_document("docs/a", "hello"))
        before = await store.read_state()
        assert await store.set_access("docs/a", make_access("staff"))
        assert await list_visible_texts(store) == set()
        assert await list_visible_texts(store, make_viewer("staff")) == {"hello"}
        assert (await store.read_state()).generation == before.generation + 1
        assert not await store.set_access("docs/a", make_access("staff"))
        assert not await store.set_access("docs/none", make_access("staff"))


@pytest.mark.parametrize("who", [
    make_viewer("other"),
    make_viewer(),
    make_viewer("public", sources=""),
    make_viewer("public", sources="elsewhere"),
    make_viewer("public", languages="es"),
    make_viewer("public", now=NOW - DAY),
    make_viewer("public", now=NOW + DAY),
])  # fmt: skip
async def test_text_is_refused_to(tmp_path: Path, who: Viewer) -> None:
    """Other groups, none, no source, another source, another language, before its time, after it."""
    async with Store(tmp_path / "t.db") as store:
        await put_documents(
            store,
            make_document(
                "docs/a", "hello", make_access("public", begins=NOW, ends=NOW + DAY), language="en"
            ),
        )
        assert await list_visible_texts(store, make_viewer("public", languages="en")) == {"hello"}
        assert await list_visible_texts(store, who) == set()
        assert await store.list_visible_sources(who) == frozenset()


async def test_groups_are_compared_whole(tmp_path: Path) -> None:
    """A name that holds another, quotes, or looks like a pattern is only itself."""
    names = ["hr", "hr-staff", 'h"r', "h%", "HR", "х"]
    async with Store(tmp_path / "t.db") as store:
        for name in names:
            await put_documents(store, make_document(f"docs/{name}", name, make_access(name)))
        for name in names:
            assert await list_visible_texts(store, make_viewer(name)) == {name}


async def test_a_predecessor_ends_where_its_successor_begins(tmp_path: Path) -> None:
    async with Store(tmp_path / "t.db") as store:
        await put_documents(store, make_document("docs/old", "old"))
        await put_documents(
            store, make_document("docs/new", "new", make_access("public", begins=NOW), supersedes="docs/old")
        )
        assert await list_visible_texts(store, make_viewer("public", now=NOW - DAY)) == {"old"}
        assert await list_visible_texts(store, make_viewer("public", now=NOW)) == {"new"}


async def test_the_order_of_arrival_does_not_matter_for_succession(tmp_path: Path) -> None:
    async with Store(tmp_path / "t.db") as store:
        await put_documents(
            store, make_document("docs/new", "new", make_access("public", begins=NOW), supersedes="docs/old")
        )
        await put_documents(store, make_document("docs/old", "old"))
        assert await list_visible_texts(store, make_viewer("public", now=NOW)) == {"new"}


async def test_a_predecessor_follows_its_successor_when_that_moves_or_goes(tmp_path: Path) -> None:
    async with Store(tmp_path / "t.db") as store:
        await put_documents(
            store, make_document("docs/old", "old", make_access("public", ends=NOW + 3 * DAY))
        )
        await put_documents(
            store, make_document("docs/new", "new", make_access("public", begins=NOW), supersedes="docs/old")
        )
        await store.set_access("docs/new", make_access("public", begins=NOW + DAY))
        assert await list_visible_texts(store, make_viewer("public", now=NOW)) == {"old"}
        await store.remove_document("docs/new")
        assert await list_visible_texts(store, make_viewer("public", now=NOW + 2 * DAY)) == {"old"}
        assert await list_visible_texts(store, make_viewer("public", now=NOW + 3 * DAY)) == set()


async def test_a_successor_that_is_hidden_does_not_bring_the_old_text_back(tmp_path: Path) -> None:
    async with Store(tmp_path / "t.db") as store:
        await put_documents(store, make_document("docs/old", "old"))
        await put_documents(
            store, make_document("docs/new", "new", make_access("public", begins=NOW), supersedes="docs/old")
        )
        assert await store.hide_documents(["docs/new"]) == 1
        assert await list_visible_texts(store, make_viewer("public", now=NOW)) == set()


async def test_hiding_keeps_the_text_and_counts_once(tmp_path: Path) -> None:
    async with Store(tmp_path / "t.db") as store:
        await put_documents(store, make_document("docs/a", "a"), make_document("docs/b", "b"))
        assert await store.hide_documents(["docs/a", "docs/none"]) == 1
        assert await store.hide_documents(["docs/a"]) == 0
        assert await list_visible_texts(store) == {"b"}
        counts = await store.count_contents()
        assert (counts.documents, counts.passages, counts.hidden) == (2, 2, 1)
        await store.set_access("docs/a", make_access("public"))
        assert await list_visible_texts(store) == {"a", "b"}


async def test_the_listing_says_what_is_stored(tmp_path: Path) -> None:
    who = make_access("b", "a", begins=NOW, ends=NOW + DAY)
    async with Store(tmp_path / "t.db") as store:
        await put_documents(store, make_document("docs/a", "a", who), make_document("other/b", "b"))
        listing = await store.list_documents("docs")
        assert list(listing) == ["docs/a"]
        assert listing["docs/a"].access == who


async def test_sources_are_named_only_where_something_can_be_seen(tmp_path: Path) -> None:
    async with Store(tmp_path / "t.db") as store:
        await put_documents(
            store, make_document("docs/a", "a"), make_document("secret/b", "b", make_access("staff"))
        )
        both = "docs secret empty"
        assert await store.list_visible_sources(make_viewer("public", sources=both)) == {"docs"}
        assert await store.list_visible_sources(make_viewer("public", "staff", sources=both)) == {
            "docs",
            "secret",
        }


async def test_titles_are_those_of_what_can_be_seen(tmp_path: Path) -> None:
    async with Store(tmp_path / "t.db") as store:
        await put_documents(
            store, make_document("docs/b", "x", title="B"), make_document("docs/a", "x", title="A")
        )
        await put_documents(
            store,
            make_document("docs/c", "x", make_access("staff"), title="C"),
            make_document("more/d", "x", title="D"),
        )
        assert await store.run_on_snapshot(lambda look: look.list_titles(PUBLIC)) == ("A", "B")


async def test_a_fault_in_a_change_leaves_the_truth_as_it_was(tmp_path: Path) -> None:
    def delete_and_fail(connection: sqlite3.Connection) -> None:
        connection.execute("DELETE FROM document")
        raise ValueError("no")

    async with Store(tmp_path / "t.db") as store:
        await put_documents(store, make_document("docs/a", "a"))
        with pytest.raises(ValueError, match="no"):
            await store.run_write(delete_and_fail)
        assert await list_visible_texts(store) == {"a"}


async def test_a_store_of_another_version_is_not_opened(tmp_path: Path) -> None:
    async with Store(tmp_path / "t.db") as store:
        await store.run_write(lambda c: c.execute("UPDATE state SET version = 99").rowcount)
    with pytest.raises(StoreFileError, match="version 99"):
        async with Store(tmp_path / "t.db"):
            pass
