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
from tests.indexes.shelf import HashEmbedder, Shelf, document, put, shelf, viewer
from tests.waiting import until

PUBLIC = viewer("public")
APPLE = Query(("ripe apple",))


def garbled(path: Path) -> None:
    """Every byte another one, in place: as long as it was."""
    data = bytes(byte ^ 0x55 for byte in path.read_bytes())
    with path.open("r+b") as file:
        file.write(data)


def one_bit(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[0] ^= 0x41
    path.write_bytes(data)


def truncated(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def emptied(path: Path) -> None:
    path.write_bytes(b"")


Harm = Callable[[Path], None]
HARMS: list[Harm] = [garbled, one_bit, truncated, emptied, Path.unlink]


def parts(folder: Path, ending: str) -> list[Path]:
    return [*(folder / "lexical").glob(f"*/*.{ending}")]


def listed(folder: Path) -> list[Path]:
    return sorted(folder.glob("lexical/*"))


async def filled(on: Shelf) -> None:
    """Two segments, and a document that is gone from the first one."""
    await put(on.store, *(document(f"docs/{i}", f"ripe apple {i}") for i in range(5)))
    await on.lexical.drain()
    await put(on.store, document("docs/pear", "ripe pear"))
    await on.store.remove_document("docs/0")
    await on.lexical.drain()


async def names(on: Shelf) -> set[str]:
    return {hit.passage.document_id for hit in (await on.search.find_evidence(APPLE, PUBLIC)).hits}


@pytest.mark.parametrize("ending", [*SEGMENT_PARTS, "del"])
@pytest.mark.parametrize("harm", HARMS, ids=lambda harm: harm.__name__)
async def test_an_index_with_a_damaged_file_is_built_anew_at_the_next_start(
    tmp_path: Path, harm: Harm, ending: str
) -> None:
    async with shelf(tmp_path) as on:
        await filled(on)
        before = await names(on)
        (old,) = {path.parent for path in parts(tmp_path, "idx")}
    for path in parts(tmp_path, ending):
        harm(path)
    assert not is_index_intact(old)
    async with shelf(tmp_path) as on:
        assert await names(on) == before
        (new,) = {path.parent for path in parts(tmp_path, "idx")}
        assert new != old
        assert is_index_intact(new)


@pytest.mark.parametrize("vectors", [True, False])
@pytest.mark.parametrize("ending", ["idx", "term", "fast"])
async def test_a_file_damaged_under_a_running_search_costs_the_keywords_until_it_is_mended(
    tmp_path: Path, ending: str, vectors: bool
) -> None:
    embedder = HashEmbedder() if vectors else None
    async with shelf(tmp_path, embedder) as on:
        await filled(on)
        if embedder:
            await embed_missing_passages(on.store, embedder)
        before = await names(on)
        for path in parts(tmp_path, ending):
            garbled(path)
        found = await on.search.find_evidence(APPLE, PUBLIC)
        assert found.degraded.startswith("the keyword index cannot be read: ")
        assert bool(found.hits) == vectors
        keeping = asyncio.create_task(on.lexical.drain_continuously())

        async def mended() -> bool:
            found = await on.search.find_evidence(APPLE, PUBLIC)
            return not found.degraded and await names(on) == before

        await until(mended)
        keeping.cancel()


async def test_what_is_pushed_into_a_damaged_index_is_taken_by_a_new_one(tmp_path: Path) -> None:
    async with shelf(tmp_path) as on:
        await filled(on)
        for path in parts(tmp_path, "idx"):
            garbled(path)
        await put(on.store, document("docs/late", "ripe apple too"))
        assert await on.lexical.drain()
        assert "docs/late" in await names(on)


async def test_a_disk_that_takes_nothing_costs_no_whole_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fault is the disk's: the index is as good as it was, and is neither dropped nor written again."""
    async with shelf(tmp_path) as on:
        await filled(on)
        before = listed(tmp_path)
        await put(on.store, document("docs/late", "ripe apple too"))
        monkeypatch.setattr(TantivyFolder, "apply", full)
        with pytest.raises(KeywordIndexError, match="No space"):
            await on.lexical.drain()
        assert len(await names(on)) == 5
        assert listed(tmp_path) == before
        monkeypatch.undo()
        await on.lexical.drain()
        assert "docs/late" in await names(on)


async def test_half_a_new_index_does_not_stay_on_a_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Store(tmp_path / "truth.db") as store:
        await put(store, document("docs/a", "ripe apple"))
        lexical = KeywordIndex(tmp_path / "lexical", store)
        (tmp_path / "lexical").mkdir()
        monkeypatch.setattr(TantivyFolder, "apply", full)
        with pytest.raises(KeywordIndexError, match="No space"):
            await lexical.drain()
    assert [path.name for path in (tmp_path / "lexical").iterdir()] == ["LOCK"]


def full(index: TantivyFolder, batches: object) -> None:
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
    async with shelf(tmp_path, embedder) as on:
        await put(on.store, document("docs/a", "ripe apple"), document("docs/b", "green pear"))
        assert (await sync_sources(on.store, [], embedder=embedder)).embedded == 2
        damage = "UPDATE vector SET half_floats = ? WHERE hash = (SELECT hash FROM passage LIMIT 1)"
        await on.store.run_write(lambda connection: connection.execute(damage, (blob,)).rowcount)
    async with shelf(tmp_path, embedder) as on:
        found = await on.search.find_evidence(APPLE, PUBLIC)
        assert {hit.passage.document_id: hit.cosine is None for hit in found.hits} == {
            "docs/a": True,
            "docs/b": False,
        }
        assert (await sync_sources(on.store, [], embedder=embedder)).embedded == 1
        found = await on.search.find_evidence(APPLE, PUBLIC)
        assert all(hit.cosine is not None for hit in found.hits)
