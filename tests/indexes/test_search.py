"""A query: filtered, fused, checked again; similarity is bounded; vectors may fail at any time."""

import asyncio
import threading
from datetime import timedelta
from pathlib import Path

import pytest

from indexes.search import NO_VECTORS, Search
from indexes.sync import embed_missing_passages
from indexes.types import Evidence, Query
from indexes.vector_query import SearchTuning
from tests.indexes.sample_evidence import (
    NOW,
    PACKS,
    HashEmbedder,
    IndexedStore,
    make_access,
    make_document,
    make_viewer,
    open_indexed_store,
    put_documents,
)

LEAVE = make_document("docs/leave", "# Leave\n\nStaff get 25 days of holiday a year.", language="en")
BIKES = make_document("docs/bikes", "Bicycles stand in the shed behind the house.", language="en")
PAY = make_document(
    "docs/pay", "Salary bands of all staff: holiday pay included.", make_access("boss"), language="en"
)
PUBLIC = make_viewer("public")


async def index_documents(indexed: IndexedStore, embedder: HashEmbedder | None = None) -> None:
    await put_documents(indexed.store, LEAVE, BIKES, PAY)
    if embedder:
        await embed_missing_passages(indexed.store, embedder)
    await indexed.keyword_index.drain()


def list_hit_ids(evidence: Evidence) -> list[str]:
    return [hit.passage.document_id for hit in evidence.hits]


async def test_keywords_find_and_coverage_is_the_similarity(tmp_path: Path) -> None:
    async with open_indexed_store(tmp_path) as indexed:
        await index_documents(indexed)
        found = await indexed.search.find_evidence(
            Query(("How many days of holiday do staff have?",)), PUBLIC
        )
        assert list_hit_ids(found) == ["docs/leave"]
        # many, days, holiday, staff: three of four are there.
        assert (found.best_similarity, found.hits[0].coverage, found.hits[0].cosine) == (0.75, 0.75, None)
        assert (found.mode, found.searched_sources, found.degraded) == ("keywords", ("docs",), "")


async def test_title_and_headings_count_as_words_of_a_passage(tmp_path: Path) -> None:
    async with open_indexed_store(tmp_path) as indexed:
        await put_documents(
            indexed.store,
            make_document("docs/a", "# Bicycle insurance\n\nIt costs 40 euros.", title="Benefits"),
        )
        await indexed.keyword_index.drain()
        found = await indexed.search.find_evidence(Query(("bicycle insurance benefits",)), PUBLIC)
        assert found.best_similarity == 1.0


async def test_one_shared_word_supports_nothing(tmp_path: Path) -> None:
    async with open_indexed_store(tmp_path) as indexed:
        await index_documents(indexed)
        found = await indexed.search.find_evidence(Query(("holiday destinations",)), PUBLIC)
        assert list_hit_ids(found) == ["docs/leave"]
        assert found.best_similarity == 0.0


async def test_names_of_the_subject_are_no_content_words(tmp_path: Path) -> None:
    async with open_indexed_store(tmp_path) as indexed:
        await put_documents(indexed.store, make_document("docs/a", "Ada Byron wrote the first program."))
        await indexed.keyword_index.drain()
        names = frozenset({"ada", "byron"})
        assert (
            await indexed.search.find_evidence(Query(("ada byron weather",), subject_names=names), PUBLIC)
        ).best_similarity == 0.0


async def test_nothing_restricted_is_found_nor_named_nor_counted(tmp_path: Path) -> None:
    async with open_indexed_store(tmp_path) as indexed:
        await index_documents(indexed)
        await put_documents(indexed.store, make_document("secret/x", "Salary bands", make_access("boss")))
        await indexed.keyword_index.drain()
        query = Query(("salary bands of staff",))
        seen = await indexed.search.find_evidence(query, make_viewer("public", sources="docs secret"))
        assert "docs/pay" not in list_hit_ids(seen)
        assert seen.searched_sources == ("docs",)
        boss = await indexed.search.find_evidence(query, make_viewer("boss", sources="docs secret"))
        assert {"docs/pay", "secret/x"} <= set(list_hit_ids(boss))
        assert boss.searched_sources == ("docs", "secret")


async def test_a_stale_index_cannot_leak_and_a_refill_fills_the_gap(tmp_path: Path) -> None:
    """Thirty hits are revoked in the truth alone; the index still believes in them."""
    async with open_indexed_store(tmp_path) as indexed:
        await put_documents(
            indexed.store, *(make_document(f"docs/{i}", "holiday rules holiday") for i in range(30))
        )
        await put_documents(
            indexed.store,
            *(make_document(f"docs/long{i}", "holiday rules and other things") for i in range(5)),
        )
        await indexed.keyword_index.drain()
        for i in range(30):
            await indexed.store.set_access(f"docs/{i}", make_access("boss"))
        found = await indexed.search.find_evidence(Query(("holiday rules",)), PUBLIC)
        assert {id[:9] for id in list_hit_ids(found)} == {"docs/long"}
        assert indexed.search.stale_count >= 30


async def test_validity_is_decided_at_the_viewers_instant(tmp_path: Path) -> None:
    async with open_indexed_store(tmp_path) as indexed:
        await put_documents(
            indexed.store, make_document("docs/old", "Opening hours: nine to five.", title="old")
        )
        new = make_document(
            "docs/new", "Opening hours: ten to six.", make_access("public", begins=NOW), supersedes="docs/old"
        )
        await put_documents(indexed.store, new)
        await indexed.keyword_index.drain()
        query = Query(("opening hours",))
        before = make_viewer("public", now=NOW - timedelta(microseconds=1))
        assert list_hit_ids(await indexed.search.find_evidence(query, before)) == ["docs/old"]
        assert list_hit_ids(await indexed.search.find_evidence(query, make_viewer("public", now=NOW))) == [
            "docs/new"
        ]


async def test_only_the_languages_asked_for(tmp_path: Path) -> None:
    async with open_indexed_store(tmp_path) as indexed:
        await put_documents(indexed.store, make_document("docs/en", "hotel plan", language="en"))
        await put_documents(indexed.store, make_document("docs/es", "hotel plan", language="es"))
        await indexed.keyword_index.drain()
        found = await indexed.search.find_evidence(
            Query(("hotel plan",)), make_viewer("public", languages="es")
        )
        assert list_hit_ids(found) == ["docs/es"]


async def test_every_text_counts_and_the_order_text_only_orders(tmp_path: Path) -> None:
    async with open_indexed_store(tmp_path) as indexed:
        await index_documents(indexed)
        only_order = await indexed.search.find_evidence(
            Query(("weather",), ranking_text="bicycles shed"), PUBLIC
        )
        assert (list_hit_ids(only_order), only_order.best_similarity) == (["docs/bikes"], 0.0)
        joined = await indexed.search.find_evidence(Query(("weather", "bicycles stand in the shed")), PUBLIC)
        assert (list_hit_ids(joined), joined.best_similarity) == (["docs/bikes"], 1.0)


async def test_the_most_similar_is_always_handed_over(tmp_path: Path) -> None:
    """Even where the text that only orders ranks all others before it."""
    async with open_indexed_store(tmp_path) as indexed:
        await put_documents(indexed.store, *(make_document(f"docs/{i}", "zebra apple") for i in range(6)))
        await put_documents(
            indexed.store, make_document("docs/all", "A zebra crossing near the old station.")
        )
        await indexed.keyword_index.drain()
        found = await indexed.search.find_evidence(
            Query(("zebra crossing station",), ranking_text="apple", limit=2), PUBLIC
        )
        assert list_hit_ids(found)[1:] == ["docs/all"]
        assert len(found.hits) == 2
        assert found.best_similarity == 1.0


@pytest.mark.parametrize(
    "text", ["", "   ", "?!", "the of and", "*", "acl:[0 TO 9] OR *", "\0", "[1] " * 2000]
)
async def test_any_text_may_be_asked(tmp_path: Path, text: str) -> None:
    async with open_indexed_store(tmp_path, HashEmbedder()) as indexed:
        await index_documents(indexed, HashEmbedder())
        found = await indexed.search.find_evidence(Query((text,)), PUBLIC)
        assert "docs/pay" not in list_hit_ids(found)
        assert 0.0 <= found.best_similarity <= 1.0


async def test_hybrid_finds_by_vectors_too_and_scores_what_one_list_found(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    async with open_indexed_store(tmp_path, embedder) as indexed:
        await index_documents(indexed, embedder)
        found = await indexed.search.find_evidence(Query(("holiday",)), PUBLIC)
        assert found.mode == "hybrid"
        assert set(list_hit_ids(found)) == {"docs/leave", "docs/bikes"}
        assert all(hit.cosine is not None for hit in found.hits)
        best = max(found.hits, key=lambda hit: hit.similarity)
        assert best.passage.document_id == "docs/leave"
        assert found.best_similarity == pytest.approx(best.cosine)


async def test_vectors_obey_permissions_and_validity(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    async with open_indexed_store(tmp_path, embedder) as indexed:
        await index_documents(indexed, embedder)
        assert "docs/pay" not in list_hit_ids(await indexed.search.find_evidence(Query(("salary",)), PUBLIC))
        await indexed.store.set_access("docs/leave", make_access("boss"))
        assert list_hit_ids(await indexed.search.find_evidence(Query(("holiday",)), PUBLIC)) == ["docs/bikes"]
        await indexed.store.set_access("docs/leave", make_access("public"))
        assert "docs/leave" in list_hit_ids(await indexed.search.find_evidence(Query(("holiday",)), PUBLIC))
        await indexed.store.remove_document("docs/leave")
        assert list_hit_ids(await indexed.search.find_evidence(Query(("holiday",)), PUBLIC)) == ["docs/bikes"]


async def test_a_failing_model_leaves_keywords_and_says_why(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    async with open_indexed_store(tmp_path, embedder) as indexed:
        await index_documents(indexed, embedder)
        embedder.fault = "the model broke"
        found = await indexed.search.find_evidence(Query(("days of holiday",)), PUBLIC)
        assert (found.mode, found.degraded, list_hit_ids(found)) == (
            "keywords",
            "the model broke",
            ["docs/leave"],
        )
        embedder.fault = ""
        assert (await indexed.search.find_evidence(Query(("days of holiday",)), PUBLIC)).mode == "hybrid"


async def test_a_slow_model_is_not_waited_for(tmp_path: Path) -> None:
    answered = threading.Event()

    class SlowEmbedder(HashEmbedder):
        def embed_query(self, text: str) -> list[float]:
            answered.wait(60)
            return super().embed_query(text)

    async with open_indexed_store(tmp_path) as indexed:
        await index_documents(indexed, HashEmbedder())
        slow = Search(
            indexed.store,
            indexed.keyword_index,
            packs=PACKS,
            embedder=SlowEmbedder(),
            tuning=SearchTuning(timeout_s=0.05),
        )
        async with slow:
            found = await slow.find_evidence(Query(("days of holiday",)), PUBLIC)
            answered.set()
        assert found.mode == "keywords"
        assert "longer than 0.05 s" in found.degraded


async def test_a_question_is_embedded_once(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    async with open_indexed_store(tmp_path, embedder) as indexed:
        await index_documents(indexed, HashEmbedder())
        for _ in range(3):
            await indexed.search.find_evidence(Query(("one", "two"), ranking_text="one"), PUBLIC)
        assert sorted(embedder.calls) == ["one", "two"]


async def test_vectors_of_another_model_are_never_compared(tmp_path: Path) -> None:
    async with open_indexed_store(tmp_path, HashEmbedder("bag-2")) as indexed:
        await index_documents(indexed, HashEmbedder("bag-1"))
        found = await indexed.search.find_evidence(Query(("days of holiday",)), PUBLIC)
        assert (found.mode, found.degraded, list_hit_ids(found)) == ("keywords", NO_VECTORS, ["docs/leave"])


async def test_a_model_that_is_missing_is_said(tmp_path: Path) -> None:
    async with open_indexed_store(tmp_path, degraded="no model at /models") as indexed:
        await index_documents(indexed)
        found = await indexed.search.find_evidence(Query(("days of holiday",)), PUBLIC)
        assert (found.mode, found.degraded) == ("keywords", "no model at /models")


async def test_sources_have_their_display_names(tmp_path: Path) -> None:
    async with open_indexed_store(tmp_path) as indexed:
        await index_documents(indexed)
        named = Search(
            indexed.store, indexed.keyword_index, packs=PACKS, source_titles={"docs": "Staff handbook"}
        )
        assert (await named.find_evidence(Query(("x",)), PUBLIC)).searched_sources == ("Staff handbook",)


async def test_many_at_once_get_each_their_own(tmp_path: Path) -> None:
    async with open_indexed_store(tmp_path) as indexed:
        await put_documents(
            indexed.store,
            *(make_document(f"docs/{i}", f"topic alpha{i} beta{i}", make_access(f"g{i}")) for i in range(20)),
        )
        await indexed.keyword_index.drain()
        asked = [
            indexed.search.find_evidence(Query((f"alpha{i} beta{i} topic",)), make_viewer(f"g{i}"))
            for i in range(20)
        ]
        for i, found in enumerate(await asyncio.gather(*asked)):
            assert list_hit_ids(found) == [f"docs/{i}"]
