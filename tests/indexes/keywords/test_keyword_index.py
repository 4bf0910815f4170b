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
from tests.indexes.shelf import NOW, access, document, put, shelf, viewer
from tests.waiting import until


async def found(lexical: KeywordIndex, store: Store, word: str, *groups: str) -> list[int]:
    def look(look: ReadSnapshot) -> list[int]:
        lexical.refresh(look.read_state())
        return lexical.search([word], look.build_filter(viewer(*groups)), 99)

    return await store.run_on_snapshot(look)


async def test_it_follows_the_truth(tmp_path: Path) -> None:
    async with shelf(tmp_path) as on:
        await put(on.store, document("docs/a", "apple"), document("docs/b", "apple"))
        assert await found(on.lexical, on.store, "apple", "public") == []
        assert await on.lexical.drain()
        assert await found(on.lexical, on.store, "apple", "public") == [1, 2]
        await on.store.remove_document("docs/a")
        await on.store.set_access("docs/b", access("staff"))
        await on.lexical.drain()
        assert await found(on.lexical, on.store, "apple", "public") == []
        assert await found(on.lexical, on.store, "apple", "staff") == [2]


async def test_the_same_text_under_another_access_title_or_language_is_taken_anew(tmp_path: Path) -> None:
    async with shelf(tmp_path) as on:
        await put(on.store, document("docs/a", "apple"))
        await on.lexical.drain()
        await put(on.store, document("docs/a", "apple", access("staff"), title="pear"))
        await on.lexical.drain()
        assert await found(on.lexical, on.store, "pear", "staff") == [1]
        assert await found(on.lexical, on.store, "apple", "public") == []


async def test_a_successor_ends_its_predecessor_in_the_index_too(tmp_path: Path) -> None:
    async with shelf(tmp_path) as on:
        await put(on.store, document("docs/a", "apple"))
        await on.lexical.drain()
        begins = NOW - timedelta(days=1)
        await put(on.store, document("docs/b", "apple", access("public", begins=begins), supersedes="docs/a"))
        await on.lexical.drain()
        assert await found(on.lexical, on.store, "apple", "public") == [2]


async def test_another_process_sees_a_commit_at_its_next_query(tmp_path: Path) -> None:
    """Two of everything over the same files; only one of them drains."""
    async with shelf(tmp_path) as one, shelf(tmp_path) as other:
        await put(one.store, document("docs/a", "apple"))
        await one.lexical.drain()
        assert await found(other.lexical, other.store, "apple", "public") == [1]


async def test_one_process_at_a_time_drains(tmp_path: Path) -> None:
    async with shelf(tmp_path) as on:
        await put(on.store, document("docs/a", "apple"))
        other = os.open(tmp_path / "lexical" / "LOCK", os.O_RDWR)
        fcntl.flock(other, fcntl.LOCK_EX)
        assert not await on.lexical.drain()
        waiting = asyncio.create_task(on.lexical.drain(wait_s=5))
        await asyncio.sleep(0.1)
        os.close(other)
        assert await waiting
        assert await on.lexical.count_pending_changes() == 0


async def test_a_cancelled_drain_goes_on_and_leaves_no_lock(tmp_path: Path) -> None:
    async with shelf(tmp_path) as on:
        await put(on.store, *(document(f"docs/{i}", "apple") for i in range(20)))
        task = asyncio.create_task(on.lexical.drain())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await on.lexical.drain(wait_s=5)
        assert len(await found(on.lexical, on.store, "apple", "public")) == 20


async def test_keeping_up_takes_what_others_write(tmp_path: Path) -> None:
    async with shelf(tmp_path) as on:
        keeping = asyncio.create_task(on.lexical.drain_continuously())
        async with Store(tmp_path / "truth.db") as elsewhere:
            await put(elsewhere, document("docs/a", "apple"))

        async def taken() -> bool:
            return bool(await found(on.lexical, on.store, "apple", "public"))

        await until(taken)
        keeping.cancel()


@pytest.mark.parametrize(
    "harm", ["deleted", "garbled", "emptied", "corrupt", "mark lost", "mark ahead", "other analyser"]
)
async def test_an_index_that_cannot_be_trusted_is_built_anew(tmp_path: Path, harm: str) -> None:
    async with shelf(tmp_path) as on:
        await put(on.store, document("docs/a", "Apple"), document("docs/b", "pear"))
        await on.lexical.drain()
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
            assert await found(lexical, store, "Apple" if analyser else "apple", "public") == [1]
            assert await found(lexical, store, "pear", "public") == [2]


@pytest.mark.parametrize("anew", [True, False])
async def test_more_than_one_commit_holds_is_taken_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, anew: bool
) -> None:
    monkeypatch.setattr("indexes.keywords.keyword_index.BATCH", 2)
    async with shelf(tmp_path) as on:
        await put(on.store, *(document(f"docs/{i}", "apple") for i in range(5)))
        if anew:
            await on.store.renew_epoch()
        await on.lexical.drain()
        assert await found(on.lexical, on.store, "apple", "public") == [1, 2, 3, 4, 5]
        assert await on.lexical.count_pending_changes() == 0


async def test_a_restored_truth_gets_a_new_index(tmp_path: Path) -> None:
    """Row numbers of a restored backup begin again where others have been: nothing old may be believed."""
    async with shelf(tmp_path) as on:
        await put(on.store, document("docs/a", "apple"))
        await on.lexical.drain()
        await on.store.renew_epoch()
        assert await found(on.lexical, on.store, "apple", "public") == []
        await on.lexical.drain()
        assert await found(on.lexical, on.store, "apple", "public") == [1]


async def test_who_is_too_far_behind_starts_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbox, "KEEP", 0)
    async with shelf(tmp_path) as on:
        await put(on.store, document("docs/a", "apple"))
        await on.lexical.drain()
        (folder,) = (path for path in (tmp_path / "lexical").iterdir() if path.is_dir())
        (folder / "applied").write_text("0")
        await put(on.store, document("docs/b", "apple"))
        await on.lexical.drain()
        assert await found(on.lexical, on.store, "apple", "public") == [1, 2]
        assert not folder.exists()
