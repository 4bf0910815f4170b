"""A pass over the sources: only changes are written, what is in doubt is hidden, no mishap loses anything."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from indexes.sources.folder import DocumentFolder
from indexes.sources.types import Finding
from indexes.store import Store
from indexes.sync import SyncReport, SyncStep, embed_missing_passages, sync_sources
from indexes.text.language import WordPack
from indexes.types import EmbedError, Query
from tests.indexes.sample_evidence import (
    NOW,
    PACKS,
    HashEmbedder,
    make_access,
    make_document,
    make_viewer,
    open_indexed_store,
)

PUBLIC = "allowed_groups: [public]\n"
SEEN = make_viewer("public", "staff")


@dataclass
class ListSource:
    """A source that yields what it is given."""

    findings: Sequence[Finding]
    name: str = "docs"
    seen: list[int] = field(default_factory=list)

    def scan(self) -> Iterator[Finding]:
        yield from self.findings


def select_counts(report: SyncReport) -> dict[str, int]:
    names = ("added", "changed", "access", "hidden", "removed", "unchanged", "embedded", "records")
    return {name: value for name in names if (value := getattr(report, name))}


async def list_stored_texts(store: Store) -> set[str]:
    return {p.text for p in (await store.recheck_passages(range(1, 100), SEEN)).values()}


def write_folder(root: Path, **files: str) -> DocumentFolder:
    root.mkdir(exist_ok=True)
    (root / ".access.yaml").write_text(PUBLIC)
    for name, text in files.items():
        (root / f"{name}.md").write_text(text)
    return DocumentFolder("docs", root)


async def test_only_what_changed_is_written(tmp_path: Path) -> None:
    async with Store(tmp_path / "t.db") as store:
        source = write_folder(tmp_path / "docs", a="one", b="two", c="three")
        assert select_counts(await sync_sources(store, [source])) == {"added": 3}
        before = await store.read_state()
        assert select_counts(await sync_sources(store, [source])) == {"unchanged": 3}
        assert await store.read_state() == before
        (tmp_path / "docs/a.md").write_text("ONE")
        (tmp_path / "docs/b.md").unlink()
        (tmp_path / "docs/d.md").write_text("four")
        report = await sync_sources(store, [source])
        assert select_counts(report) == {"added": 1, "changed": 1, "removed": 1, "unchanged": 1}
        assert await list_stored_texts(store) == {"ONE", "three", "four"}


async def test_a_change_of_access_alone_embeds_nothing_and_keeps_ids(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    async with Store(tmp_path / "t.db") as store:
        source = write_folder(tmp_path / "docs", a="one", b="two")
        assert select_counts(await sync_sources(store, [source], embedder=embedder)) == {
            "added": 2,
            "embedded": 2,
        }
        before = await store.recheck_passages(range(9), SEEN)
        (tmp_path / "docs/.access.yaml").write_text("allowed_groups: [staff]\n")
        assert select_counts(await sync_sources(store, [source], embedder=embedder)) == {"access": 2}
        assert await store.recheck_passages(range(9), SEEN) == before
        assert await store.recheck_passages(range(9), make_viewer("public")) == {}
        assert len(embedder.calls) == 2


async def test_an_edit_embeds_only_the_new_passage(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    async with Store(tmp_path / "t.db") as store:
        source = write_folder(tmp_path / "docs", a="## A\n\none\n\n## B\n\ntwo")
        await sync_sources(store, [source], embedder=embedder)
        (tmp_path / "docs/a.md").write_text("## A\n\none\n\n## B\n\nthree")
        assert select_counts(await sync_sources(store, [source], embedder=embedder)) == {
            "changed": 1,
            "embedded": 1,
        }
        assert (await store.count_contents()).vectors == 2, "the vector of the old text is forgotten"


@pytest.mark.parametrize("harm", ["front", "utf8", "rules", "no rules", "rules unreadable"])
async def test_a_document_whose_access_is_in_doubt_is_hidden_at_once_and_comes_back(
    tmp_path: Path, harm: str
) -> None:
    async with Store(tmp_path / "t.db") as store:
        source = write_folder(tmp_path / "docs", a="one")
        await sync_sources(store, [source])
        rules, file = tmp_path / "docs/.access.yaml", tmp_path / "docs/a.md"
        match harm:
            case "front":
                file.write_text("---\ntitel: x\n---\none")
            case "utf8":
                file.write_bytes(b"\xff")
            case "rules":
                rules.write_text("allowed_groups: [yes]")
            case "no rules":
                rules.unlink()
            case "rules unreadable":
                rules.unlink()
                rules.mkdir()
        report = await sync_sources(store, [source])
        assert select_counts(report) == {"hidden": 1}
        assert len(report.faults) == 1
        assert await list_stored_texts(store) == set()
        assert (await store.count_contents()).documents == 1
        if harm == "rules unreadable":
            rules.rmdir()
        write_folder(tmp_path / "docs", a="one")
        assert select_counts(await sync_sources(store, [source])) == {"access": 1}
        assert await list_stored_texts(store) == {"one"}


async def test_an_unreadable_folder_loses_nothing(tmp_path: Path) -> None:
    async with Store(tmp_path / "t.db") as store:
        source = write_folder(tmp_path / "docs", a="one")
        await sync_sources(store, [source])
        (tmp_path / "docs").rename(tmp_path / "elsewhere")
        report = await sync_sources(store, [source])
        assert select_counts(report) == {}
        assert "cannot be read" in str(report.faults[0])
        assert await list_stored_texts(store) == {"one"}


async def test_an_unreadable_folder_below_loses_nothing_and_the_rest_is_done(tmp_path: Path) -> None:
    def list_entries(folder: Path) -> list[Path]:
        if folder.name == "deep" and broken:
            raise PermissionError(13, "Permission denied")
        return sorted(folder.iterdir())

    broken = False
    async with Store(tmp_path / "t.db") as store:
        write_folder(tmp_path / "docs", a="one", deeper="two")
        write_folder(tmp_path / "docs/deep", b="three")
        source = DocumentFolder("docs", tmp_path / "docs", entries=list_entries)
        await sync_sources(store, [source])
        broken = True
        (tmp_path / "docs/a.md").unlink()
        report = await sync_sources(store, [source])
        assert select_counts(report) == {"removed": 1, "unchanged": 1}
        assert await list_stored_texts(store) == {"two", "three"}


async def test_an_empty_mount_hides_but_keeps(tmp_path: Path) -> None:
    async with Store(tmp_path / "t.db") as store:
        source = write_folder(tmp_path / "docs", a="one", b="two")
        await sync_sources(store, [source])
        (tmp_path / "docs").rename(tmp_path / "away")
        (tmp_path / "docs").mkdir()
        report = await sync_sources(store, [source])
        assert select_counts(report) == {"hidden": 2}
        assert "mounted?" in str(report.faults[0])
        assert await list_stored_texts(store) == set()
        (tmp_path / "docs").rmdir()
        (tmp_path / "away").rename(tmp_path / "docs")
        assert select_counts(await sync_sources(store, [source])) == {"access": 2}


async def test_one_source_does_not_touch_another(tmp_path: Path) -> None:
    async with Store(tmp_path / "t.db") as store:
        await sync_sources(
            store,
            [ListSource([make_document("docs/a", "a")]), ListSource([make_document("more/b", "b")], "more")],
        )
        await sync_sources(store, [ListSource([])])
        assert set(await store.list_documents("more")) == {"more/b"}
        assert await store.list_documents("docs") == {}


async def test_what_becomes_valid_later_is_stored_and_seen_later(tmp_path: Path) -> None:
    """Visibility is decided by each query, never by the pass that stored the document."""
    later = make_access("public", begins=NOW.replace(year=2030))
    async with Store(tmp_path / "t.db") as store:
        await sync_sources(store, [ListSource([make_document("docs/a", "a", later)])])
        assert await list_stored_texts(store) == set()
        assert await store.recheck_passages([1], make_viewer("public", now=NOW.replace(year=2030))) != {}


async def test_the_language_is_told_from_the_text_where_it_is_not_stated(tmp_path: Path) -> None:
    packs = {**PACKS, "es": WordPack("Latin", frozenset(["el", "la", "de", "los", "una", "que"]))}
    async with Store(tmp_path / "t.db") as store:
        spanish = "El horario de la biblioteca: los lunes que hay una visita."
        found = [
            make_document("docs/a", spanish),
            make_document("docs/b", spanish, language="fr"),
            make_document("docs/c", "12"),
        ]
        await sync_sources(store, [ListSource(found)], packs=packs)
        stored = await store.recheck_passages(range(9), SEEN)
        assert {p.document_id: p.language for p in stored.values()} == {
            "docs/a": "es",
            "docs/b": "fr",
            "docs/c": None,
        }
        assert select_counts(await sync_sources(store, [ListSource(found)], packs=packs)) == {"unchanged": 3}


async def test_a_model_that_fails_in_mid_run_keeps_what_was_made_and_goes_on_later(tmp_path: Path) -> None:
    class TiringEmbedder(HashEmbedder):
        def embed_passages(self, texts: list[str]) -> list[list[float]]:
            if self.calls:
                self.fault = "tired"
            return super().embed_passages(texts)

    many = ListSource([make_document(f"docs/{i}", f"text {i}") for i in range(40)])
    async with Store(tmp_path / "t.db", durable=False) as store:
        with pytest.raises(EmbedError, match="tired"):
            await sync_sources(store, [many], embedder=TiringEmbedder())
        assert (await store.count_contents()).vectors == 32
        assert len(await list_stored_texts(store)) == 40
        assert await embed_missing_passages(store, HashEmbedder()) == 8


async def test_equal_texts_share_one_vector(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    async with Store(tmp_path / "t.db") as store:
        same = ListSource([make_document(f"docs/{i}", "same text", title="same") for i in range(3)])
        await sync_sources(store, [same], embedder=embedder)
        assert (await store.count_contents()).vectors == 1


async def test_progress_is_told_and_everything_can_be_found_at_the_end(tmp_path: Path) -> None:
    steps: list[SyncStep] = []
    async with open_indexed_store(tmp_path) as indexed:
        many = ListSource([make_document(f"docs/{i}", f"holiday rule{i}") for i in range(3)])
        await sync_sources(
            indexed.store,
            [many],
            embedder=HashEmbedder(),
            keyword_index=indexed.keyword_index,
            progress=steps.append,
        )
        assert [(s.name, s.done) for s in steps] == [("docs", 3), ("embedding", 3)]
        found = await indexed.search.find_evidence(Query(("holiday rule1",)), SEEN)
        assert found.best_similarity == 1.0
