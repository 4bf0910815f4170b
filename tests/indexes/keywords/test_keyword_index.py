"""Keyword search over the truth: follows the outbox, and builds anew what cannot be trusted."""

import asyncio
import fcntl
import os
from datetime import timedelta
from pathlib import Path

import pytest

from indexes import outbox
from indexes.keywords.keyword_index import KeywordIndex
from indexes.read_snapshot import ReadSnapshot
from indexes.store import Store
from tests.indexes.sample_evidence import (
    NOW,
    make_access,
    make_document,
    make_viewer,
    open_indexed_store,
    put_documents,
)
from tests.waiting import wait_until


async def search_word(keyword_index: KeywordIndex, store: Store, word: str, *groups: str) -> list[int]:
    def search_snapshot(snapshot: ReadSnapshot) -> list[int]:
        keyword_index.refresh(snapshot.read_state())
        return keyword_index.search([word], snapshot.build_filter(make_viewer(*groups)), 99)

    return await store.run_on_snapshot(search_snapshot)


async def test_it_follows_the_truth(tmp_path: Path) -> None:
    async with open_indexed_store(tmp_path) as indexed:
        await put_documents(indexed.store, make_document("docs/a", "apple"), make_document("docs/b", "apple"))
        assert await search_word(indexed.keyword_index, indexed.store, "apple", "public") == []
        assert await indexed.keyword_index.drain()
        assert await search_word(indexed.keyword_index, indexed.store, "apple", "public") == [1, 2]
        await indexed.store.remove_document("docs/a")
        await indexed.store.set_access("docs/b", make_access("staff"))
        await indexed.keyword_index.drain()
        assert await search_word(indexed.keyword_index, indexed.store, "apple", "public") == []
        assert await search_word(indexed.keyword_index, indexed.store, "apple", "staff") == [2]


async def test_the_same_text_under_another_access_title_or_language_is_taken_anew(tmp_path: Path) -> None:
    async with open_indexed_store(tmp_path) as indexed:
        await put_documents(indexed.store, make_document("docs/a", "apple"))
        await indexed.keyword_index.drain()
        await put_documents(
            indexed.store, make_document("docs/a", "apple", make_access("staff"), title="pear")
        )
        await indexed.keyword_index.drain()
        assert await search_word(indexed.keyword_index, indexed.store, "pear", "staff") == [1]
        assert await search_word(indexed.keyword_index, indexed.store, "apple", "public") == []


async def test_a_successor_ends_its_predecessor_in_the_index_too(tmp_path: Path) -> None:
    async with open_indexed_store(tmp_path) as indexed:
        await put_documents(indexed.store, make_document("docs/a", "apple"))
        await indexed.keyword_index.drain()
        begins = NOW - timedelta(days=1)
        await put_documents(
            indexed.store,
            make_document("docs/b", "apple", make_access("public", begins=begins), supersedes="docs/a"),
        )
        await indexed.keyword_index.drain()
        assert await search_word(indexed.keyword_index, indexed.store, "apple", "public") == [2]


async def test_another_process_sees_a_commit_at_its_next_query(tmp_path: Path) -> None:
    """Two of everything over the same files; only one of them drains."""
    async with open_indexed_store(tmp_path) as one, open_indexed_store(tmp_path) as other:
        await put_documents(one.store, make_document("docs/a", "apple"))
        await one.keyword_index.drain()
        assert await search_word(other.keyword_index, other.store, "apple", "public") == [1]


async def test_one_process_at_a_time_drains(tmp_path: Path) -> None:
    async with open_indexed_store(tmp_path) as indexed:
        await put_documents(indexed.store, make_document("docs/a", "apple"))
        other = os.open(tmp_path / "lexical" / "LOCK", os.O_RDWR)
        fcntl.flock(other, fcntl.LOCK_EX)
        assert not await indexed.keyword_index.drain()
        waiting = asyncio.create_task(indexed.keyword_index.drain(wait_s=5))
        await asyncio.sleep(0.1)
        os.close(other)
        assert await waiting
        assert await indexed.keyword_index.count_pending_changes() == 0


async def test_a_cancelled_drain_goes_on_and_leaves_no_lock(tmp_path: Path) -> None:
    async with open_indexed_store(tmp_path) as indexed:
        await put_documents(indexed.store, *(make_document(f"docs/{i}", "apple") for i in range(20)))
        task = asyncio.create_task(indexed.keyword_index.drain())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await indexed.keyword_index.drain(wait_s=5)
        assert len(await search_word(indexed.keyword_index, indexed.store, "apple", "public")) == 20


async def test_keeping_up_takes_what_others_write(tmp_path: Path) -> None:
    async with open_indexed_store(tmp_path) as indexed:
        keeping = asyncio.create_task(indexed.keyword_index.drain_continuously())
        async with Store(tmp_path / "truth.db") as elsewhere:
            await put_documents(elsewhere, make_document("docs/a", "apple"))

        async def has_caught_up() -> bool:
            return bool(await search_word(indexed.keyword_index, indexed.store, "apple", "public"))

        await wait_until(has_caught_up)
        keeping.cancel()


@pytest.mark.parametrize(
    "harm", ["deleted", "garbled", "emptied", "corrupt", "mark lost", "mark ahead", "other analyser"]
)
async def test_an_index_that_cannot_be_trusted_is_built_anew(tmp_path: Path, harm: str) -> None:
    async with open_indexed_store(tmp_path) as indexed:
        await put_documents(indexed.store, make_document("docs/a", "Apple"), make_document("docs/b", "pear"))
        await indexed.keyword_index.drain()
    root = tmp_path / "lexical"
    (folder,) = (path for path in root.iterdir() if path.is_dir())
    match harm:
        case "deleted":
            (root / "CURRENT").unlink()
        case "garbled":
            (root / "CURRENT").write_bytes(b"\xff\x00" * 50)
        case "emptied":
            for path in folder.iterdir():
                path.unlink()
        case "corrupt":
            (folder / "meta.json").write_text("{")
        case "mark lost":
            (folder / "applied").unlink()
        case "mark ahead":
            (folder / "applied").write_text("999")
    analyser = (lambda text: text.split()) if harm == "other analyser" else None
    async with Store(tmp_path / "truth.db") as store:
        made = KeywordIndex(root, store, analyser) if analyser else KeywordIndex(root, store)
        async with made as lexical:
            assert await search_word(lexical, store, "Apple" if analyser else "apple", "public") == [1]
            assert await search_word(lexical, store, "pear", "public") == [2]


@pytest.mark.parametrize("anew", [True, False])
async def test_more_than_one_commit_holds_is_taken_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, anew: bool
) -> None:
    monkeypatch.setattr("indexes.keywords.keyword_index.BATCH", 2)
    async with open_indexed_store(tmp_path) as indexed:
        await put_documents(indexed.store, *(make_document(f"docs/{i}", "apple") for i in range(5)))
        if anew:
            await indexed.store.renew_epoch()
        await indexed.keyword_index.drain()
        assert await search_word(indexed.keyword_index, indexed.store, "apple", "public") == [1, 2, 3, 4, 5]
        assert await indexed.keyword_index.count_pending_changes() == 0


async def test_a_restored_truth_gets_a_new_index(tmp_path: Path) -> None:
    """Row numbers of a restored backup begin again where others have been: nothing old may be believed."""
    async with open_indexed_store(tmp_path) as indexed:
        await put_documents(indexed.store, make_document("docs/a", "apple"))
        await indexed.keyword_index.drain()
        await indexed.store.renew_epoch()
        assert await search_word(indexed.keyword_index, indexed.store, "apple", "public") == []
        await indexed.keyword_index.drain()
        assert await search_word(indexed.keyword_index, indexed.store, "apple", "public") == [1]


async def test_who_is_too_far_behind_starts_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbox, "KEEP", 0)
    async with open_indexed_store(tmp_path) as indexed:
        await put_documents(indexed.store, make_document("docs/a", "apple"))
        await indexed.keyword_index.drain()
        (folder,) = (path for path in (tmp_path / "lexical").iterdir() if path.is_dir())
        (folder / "applied").write_text("0")
        await put_documents(indexed.store, make_document("docs/b", "apple"))
        await indexed.keyword_index.drain()
        assert await search_word(indexed.keyword_index, indexed.store, "apple", "public") == [1, 2]
        assert not folder.exists()
