"""The matrix follows the truth: whatever happens between, it holds what a fresh one would."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexes import outbox
from indexes.read_snapshot import Look
from indexes.store import Store
from indexes.sync import embed
from indexes.vector_index import Matrix
from tests.indexes.shelf import HashEmbedder, access, document, put, viewer

BAG = HashEmbedder()
EVERYONE = viewer("public", "staff")


def near(matrix: Matrix, look: Look) -> set[int]:
    matrix.follow(look)
    return set(matrix.search(BAG.query("word"), look.filter(EVERYONE), 99))


async def test_who_is_too_far_behind_starts_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbox, "KEEP", 0)
    async with Store(tmp_path / "t.db") as store:
        matrix = Matrix(BAG.name, BAG.dim)
        await put(store, document("docs/a", "word a"))
        await embed(store, BAG)
        assert await store.look(lambda look: near(matrix, look)) == {1}
        await store.remove("docs/a")
        await put(store, document("docs/b", "word b"))
        await embed(store, BAG)
        place = await store.look(Look.place)
        await store.write(lambda c: outbox.drained(c, place.seq))
        assert await store.look(lambda look: near(matrix, look)) == {2}


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
        matrix = Matrix(BAG.name, BAG.dim)
        for step, (change, n) in enumerate(changes):
            match change:
                case "put":
                    await put(store, document(f"docs/{n}", f"word {step % 4}\n\n# H\n\nother {n}"))
                    await embed(store, BAG)
                case "access":
                    await store.set_access(f"docs/{n}", access("staff" if step % 2 else "nobody"))
                case "remove":
                    await store.remove(f"docs/{n}")
                case "look":
                    await store.look(lambda look: near(matrix, look))
        fresh = Matrix(BAG.name, BAG.dim)
        assert await store.look(lambda look: near(matrix, look)) == await store.look(
            lambda look: near(fresh, look)
        )
        assert len(matrix) == len(fresh)
