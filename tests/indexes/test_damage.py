"""Damage to real files of the indexes: noticed, served around with its reason, mended without a person."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from indexes.keywords.index_folder import KeywordIndexError, TantivyFolder
from indexes.keywords.keyword_index import KeywordIndex
from indexes.outbox import OutboxBatch, OutboxItem
from indexes.storage.file_checksums import SEGMENT_PARTS, is_index_intact
from indexes.store import Store
from indexes.sync import embed_missing_passages, sync_sources
from indexes.types import Query
from tests.indexes.sample_evidence import (
    HashEmbedder,
    IndexedStore,
    make_document,
    make_viewer,
    open_indexed_store,
    put_documents,
)
from tests.waiting import wait_until

PUBLIC = make_viewer("public")
APPLE = Query(("ripe apple",))


def garble_file(path: Path) -> None:
    """Every byte another one, in place: as long as it was."""
    data = bytes(byte ^ 0x55 for byte in path.read_bytes())
    with path.open("r+b") as file:
        file.write(data)


def flip_first_bits(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[0] ^= 0x41
    path.write_bytes(data)


def truncate_file(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def empty_file(path: Path) -> None:
    path.write_bytes(b"")


Harm = Callable[[Path], None]
HARMS: list[Harm] = [garble_file, flip_first_bits, truncate_file, empty_file, Path.unlink]


def list_index_parts(folder: Path, ending: str) -> list[Path]:
    return [*(folder / "lexical").glob(f"*/*.{ending}")]


def list_index_folders(folder: Path) -> list[Path]:
    return sorted(folder.glob("lexical/*"))


async def fill_index(indexed: IndexedStore) -> None:
    """Two segments, and a document that is gone from the first one."""
    await put_documents(indexed.store, *(make_document(f"docs/{i}", f"ripe apple {i}") for i in range(5)))
    await indexed.keyword_index.drain()
    await put_documents(indexed.store, make_document("docs/pear", "ripe pear"))
    await indexed.store.remove_document("docs/0")
    await indexed.keyword_index.drain()


async def find_document_ids(indexed: IndexedStore) -> set[str]:
    return {hit.passage.document_id for hit in (await indexed.search.find_evidence(APPLE, PUBLIC)).hits}


@pytest.mark.parametrize("ending", [*SEGMENT_PARTS, "del"])
@pytest.mark.parametrize("harm", HARMS, ids=lambda harm: harm.__name__)
async def test_an_index_with_a_damaged_file_is_built_anew_at_the_next_start(
    tmp_path: Path, harm: Harm, ending: str
) -> None:
    async with open_indexed_store(tmp_path) as indexed:
        await fill_index(indexed)
        before = await find_document_ids(indexed)
        (old,) = {path.parent for path in list_index_parts(tmp_path, "idx")}
    for path in list_index_parts(tmp_path, ending):
        harm(path)
    assert not is_index_intact(old)
    async with open_indexed_store(tmp_path) as indexed:
        assert await find_document_ids(indexed) == before
        (new,) = {path.parent for path in list_index_parts(tmp_path, "idx")}
        assert new != old
        assert is_index_intact(new)


@pytest.mark.parametrize("vectors", [True, False])
@pytest.mark.parametrize("ending", ["idx", "term", "fast"])
async def test_a_file_damaged_under_a_running_search_costs_the_keywords_until_it_is_mended(
    tmp_path: Path, ending: str, vectors: bool
) -> None:
    embedder = HashEmbedder() if vectors else None
    async with open_indexed_store(tmp_path, embedder) as indexed:
        await fill_index(indexed)
        if embedder:
            await embed_missing_passages(indexed.store, embedder)
        before = await find_document_ids(indexed)
        for path in list_index_parts(tmp_path, ending):
            garble_file(path)
        found = await indexed.search.find_evidence(APPLE, PUBLIC)
        assert found.degraded.startswith("the keyword index cannot be read: ")
        assert bool(found.hits) == vectors
        keeping = asyncio.create_task(indexed.keyword_index.drain_continuously())

        async def is_mended() -> bool:
            found = await indexed.search.find_evidence(APPLE, PUBLIC)
            return not found.degraded and await find_document_ids(indexed) == before

        await wait_until(is_mended)
        keeping.cancel()


async def test_what_is_pushed_into_a_damaged_index_is_taken_by_a_new_one(tmp_path: Path) -> None:
    async with open_indexed_store(tmp_path) as indexed:
        await fill_index(indexed)
        for path in list_index_parts(tmp_path, "idx"):
            garble_file(path)
        await put_documents(indexed.store, make_document("docs/late", "ripe apple too"))
        assert await indexed.keyword_index.drain()
        assert "docs/late" in await find_document_ids(indexed)


async def test_a_disk_that_takes_nothing_costs_no_whole_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fault is the disk's: the index is as good as it was, and is neither dropped nor written again."""
    async with open_indexed_store(tmp_path) as indexed:
        await fill_index(indexed)
        before = list_index_folders(tmp_path)
        await put_documents(indexed.store, make_document("docs/late", "ripe apple too"))
        monkeypatch.setattr(TantivyFolder, "apply", raise_disk_full)
        with pytest.raises(KeywordIndexError, match="No space"):
            await indexed.keyword_index.drain()
        assert len(await find_document_ids(indexed)) == 5
        assert list_index_folders(tmp_path) == before
        monkeypatch.undo()
        await indexed.keyword_index.drain()
        assert "docs/late" in await find_document_ids(indexed)


async def test_half_a_new_index_does_not_stay_on_a_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Store(tmp_path / "truth.db") as store:
        await put_documents(store, make_document("docs/a", "ripe apple"))
        lexical = KeywordIndex(tmp_path / "lexical", store)
        (tmp_path / "lexical").mkdir()
        monkeypatch.setattr(TantivyFolder, "apply", raise_disk_full)
        with pytest.raises(KeywordIndexError, match="No space"):
            await lexical.drain()
    assert [path.name for path in (tmp_path / "lexical").iterdir()] == ["LOCK"]


def raise_disk_full(index: TantivyFolder, batches: object) -> None:
    raise KeywordIndexError("An IO error occurred: 'No space left on device (os error 28)'")


def test_a_new_index_is_sound_and_another_folder_is_not(tmp_path: Path) -> None:
    index = TantivyFolder(tmp_path, str.split)
    assert is_index_intact(tmp_path)
    index.apply([OutboxBatch(1, (), (OutboxItem(1, 1, "s", 0, 1, None, "", "word", "", ()),))])
    assert is_index_intact(tmp_path)
    assert not is_index_intact(tmp_path / "nothing")


@pytest.mark.parametrize("blob", [b"", b"\x00" * 7, b"\xff" * 128, b"\x55" * 128, b"\x00" * 128])
async def test_a_damaged_vector_is_left_out_and_made_anew_by_the_next_sync(
    tmp_path: Path, blob: bytes
) -> None:
    embedder = HashEmbedder()
    async with open_indexed_store(tmp_path, embedder) as indexed:
        await put_documents(
            indexed.store, make_document("docs/a", "ripe apple"), make_document("docs/b", "green pear")
        )
        assert (await sync_sources(indexed.store, [], embedder=embedder)).embedded == 2
        damage = "UPDATE vector SET half_floats = ? WHERE hash = (SELECT hash FROM passage LIMIT 1)"
        await indexed.store.run_write(lambda connection: connection.execute(damage, (blob,)).rowcount)
    async with open_indexed_store(tmp_path, embedder) as indexed:
        found = await indexed.search.find_evidence(APPLE, PUBLIC)
        assert {hit.passage.document_id: hit.cosine is None for hit in found.hits} == {
            "docs/a": True,
            "docs/b": False,
        }
        assert (await sync_sources(indexed.store, [], embedder=embedder)).embedded == 1
        found = await indexed.search.find_evidence(APPLE, PUBLIC)
        assert all(hit.cosine is not None for hit in found.hits)
