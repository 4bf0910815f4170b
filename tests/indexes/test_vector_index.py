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
from tests.indexes.shelf import HashEmbedder, access, document, put, viewer

BAG = HashEmbedder()
EVERYONE = viewer("public", "staff")


def near(matrix: VectorIndex, look: ReadSnapshot) -> set[int]:
    matrix.follow_outbox(look)
    return set(matrix.find_nearest(BAG.embed_query("word"), look.build_filter(EVERYONE), 99))


async def test_who_is_too_far_behind_starts_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbox, "KEEP", 0)
    async with Store(tmp_path / "t.db") as store:
        matrix = VectorIndex(BAG.name, BAG.dim)
        await put(store, document("docs/a", "word a"))
        await embed_missing_passages(store, BAG)
        assert await store.run_on_snapshot(lambda look: near(matrix, look)) == {1}
        await store.remove_document("docs/a")
        await put(store, document("docs/b", "word b"))
        await embed_missing_passages(store, BAG)
        place = await store.run_on_snapshot(ReadSnapshot.read_position)
        await store.run_write(lambda c: outbox.record_drain(c, place.seq))
        assert await store.run_on_snapshot(lambda look: near(matrix, look)) == {2}


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
                    await put(store, document(f"docs/{n}", f"word {step % 4}\n\n# H\n\nother {n}"))
                    await embed_missing_passages(store, BAG)
                case "access":
                    await store.set_access(f"docs/{n}", access("staff" if step % 2 else "nobody"))
                case "remove":
                    await store.remove_document(f"docs/{n}")
                case "look":
                    await store.run_on_snapshot(lambda look: near(matrix, look))
        fresh = VectorIndex(BAG.name, BAG.dim)
        assert await store.run_on_snapshot(lambda look: near(matrix, look)) == await store.run_on_snapshot(
            lambda look: near(fresh, look)
        )
        assert len(matrix) == len(fresh)
