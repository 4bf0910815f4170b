"""The matrix follows the truth: whatever happens between, it holds what a fresh one would."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexes import outbox
from indexes.read_snapshot import ReadSnapshot
from indexes.store import Store
from indexes.sync import embed_missing_passages
from indexes.vector_index import VectorIndex
from tests.indexes.sample_evidence import HashEmbedder, make_access, make_document, make_viewer, put_documents

BAG = HashEmbedder()
EVERYONE = make_viewer("public", "staff")


def find_nearest_ids(matrix: VectorIndex, snapshot: ReadSnapshot) -> set[int]:
    matrix.follow_outbox(snapshot)
    return set(matrix.find_nearest(BAG.embed_query("word"), snapshot.build_filter(EVERYONE), 99))


async def test_who_is_too_far_behind_starts_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbox, "KEEP", 0)
    async with Store(tmp_path / "t.db") as store:
        matrix = VectorIndex(BAG.name, BAG.dim)
        await put_documents(store, make_document("docs/a", "word a"))
        await embed_missing_passages(store, BAG)
        assert await store.run_on_snapshot(lambda look: find_nearest_ids(matrix, look)) == {1}
        await store.remove_document("docs/a")
        await put_documents(store, make_document("docs/b", "word b"))
        await embed_missing_passages(store, BAG)
        place = await store.run_on_snapshot(ReadSnapshot.read_position)
        await store.run_write(lambda c: outbox.record_drain(c, place.seq))
        assert await store.run_on_snapshot(lambda look: find_nearest_ids(matrix, look)) == {2}


CHANGES = st.lists(
    st.tuples(st.sampled_from(["put", "access", "remove", "look"]), st.integers(0, 5)), max_size=25
)


@settings(max_examples=25, deadline=None)
@given(changes=CHANGES)
async def test_following_equals_starting_anew(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[str, int]]
) -> None:
    """Always: after any history, looked at whenever, the same rows are found as in a matrix made now."""
    async with Store(tmp_path_factory.mktemp("m") / "t.db", durable=False) as store:
        matrix = VectorIndex(BAG.name, BAG.dim)
        for step, (change, n) in enumerate(changes):
            match change:
                case "put":
                    await put_documents(
                        store, make_document(f"docs/{n}", f"word {step % 4}\n\n# H\n\nother {n}")
                    )
                    await embed_missing_passages(store, BAG)
                case "access":
                    await store.set_access(f"docs/{n}", make_access("staff" if step % 2 else "nobody"))
                case "remove":
                    await store.remove_document(f"docs/{n}")
                case "look":
                    await store.run_on_snapshot(lambda look: find_nearest_ids(matrix, look))
        fresh = VectorIndex(BAG.name, BAG.dim)
        assert await store.run_on_snapshot(
            lambda look: find_nearest_ids(matrix, look)
        ) == await store.run_on_snapshot(lambda look: find_nearest_ids(fresh, look))
        assert len(matrix) == len(fresh)
