"""Promise 6: nothing outside a viewer's groups, sources, languages or instant, whatever happened before.

A random history of writes, drained or not, against a plain model of what each viewer may see.
"""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexes.grants import is_visible
from indexes.sync import embed_missing_passages
from indexes.types import Access, Document, Query, Viewer
from tests.indexes.shelf import NOW, HashEmbedder, Shelf, document, put, shelf, viewer

GROUPS = ("a", "b", "c")
TIMES = tuple(NOW + timedelta(days=days) for days in (-2, -1, 0, 1))
KEYS = ("s/1", "s/2", "t/3", "t/4")
BAG = HashEmbedder()

accesses = st.builds(
    Access,
    groups=st.frozensets(st.sampled_from(GROUPS)),
    valid_from=st.sampled_from(TIMES[:3]),
    valid_to=st.none() | st.sampled_from(TIMES[1:]),
)
viewers = st.builds(
    viewer,
    st.sampled_from(GROUPS),
    st.sampled_from(GROUPS),
    now=st.sampled_from(TIMES),
    sources=st.sampled_from(["s", "t", "s t"]),
    languages=st.sampled_from(["", "en", "en es"]),
)


@dataclass(frozen=True)
class Put:
    key: str
    who: Access
    text: str
    language: str | None
    supersedes: str | None


@dataclass(frozen=True)
class Grant:
    key: str
    who: Access


@dataclass(frozen=True)
class Drop:
    key: str


@dataclass(frozen=True)
class Hide:
    key: str


@dataclass(frozen=True)
class Drain:
    pass


Step = Put | Grant | Drop | Hide | Drain

keys = st.sampled_from(KEYS)
steps = st.one_of(
    st.builds(
        Put,
        keys,
        accesses,
        st.sampled_from(["common words one", "common words two", "# H\n\ncommon\n\n# I\n\nwords"]),
        st.sampled_from(["en", "es", None]),
        st.none() | keys,
    ),
    st.builds(Grant, keys, accesses),
    st.builds(Drop, keys),
    st.builds(Hide, keys),
    st.just(Drain()),
)


@dataclass
class Model:
    """What the truth should be, said plainly."""

    documents: dict[str, Document] = field(default_factory=dict)

    def ends(self, one: Document) -> datetime | None:
        heirs = [
            d.access.valid_from for d in self.documents.values() if d.supersedes == one.id and d.id != one.id
        ]
        return min([*heirs, *([one.access.valid_to] if one.access.valid_to else [])], default=None)

    def seen(self, who: Viewer) -> set[str]:
        return {
            one.id
            for one in self.documents.values()
            if one.source in who.sources
            and (not who.languages or one.language in who.languages)
            and is_visible(replace(one.access, valid_to=self.ends(one)), who)
        }


async def apply(step: Step, model: Model, on: Shelf) -> None:
    known = model.documents
    match step:
        case Put(key, who, text, language, supersedes):
            known[key] = document(key, text, who, language=language, supersedes=supersedes)
            await put(on.store, known[key])
        case Grant(key, who):
            await on.store.set_access(key, who)
            if key in known:
                known[key] = replace(known[key], access=who)
        case Drop(key):
            await on.store.remove_document(key)
            known.pop(key, None)
        case Hide(key):
            await on.store.hide_documents([key])
            if key in known:
                known[key] = replace(known[key], access=replace(known[key].access, groups=frozenset()))
        case Drain():
            await on.lexical.drain()


@settings(max_examples=15, deadline=None)
@given(history=st.lists(steps, max_size=20), asking=st.lists(viewers, min_size=1, max_size=4))
@pytest.mark.parametrize("hybrid", [False, True])
async def test_no_history_shows_anyone_more_than_the_truth_allows(
    tmp_path_factory: pytest.TempPathFactory,
    hybrid: bool,
    history: list[Step],
    asking: list[Viewer],
) -> None:
    """Always: at any moment hits and named sources are within what is allowed; drained, all of it."""
    model = Model()
    async with shelf(tmp_path_factory.mktemp("leak"), BAG if hybrid else None) as on:
        for step in history:
            await apply(step, model, on)
            if hybrid:
                await embed_missing_passages(on.store, BAG)
            await check(model, on, asking[0], complete=False)
        await on.lexical.drain()
        for who in asking:
            await check(model, on, who, complete=True)


async def check(model: Model, on: Shelf, who: Viewer, complete: bool) -> None:
    found = await on.search.find_evidence(Query(("common words",), ranking_text="common", limit=20), who)
    shown = {hit.passage.document_id for hit in found.hits}
    allowed = model.seen(who)
    assert shown <= allowed
    assert not complete or shown == allowed
    assert set(found.searched_sources) == {id[0] for id in allowed}
    stored = await on.store.recheck_passages(range(1, 200), who)
    assert {p.document_id for p in stored.values()} == allowed


async def test_every_pair_of_groups_and_instants_once(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The whole small world at once: each document is seen by exactly its groups at exactly its times."""
    who = [
        Access(frozenset({g}), begins, ends)
        for g, begins, ends in product(GROUPS, TIMES[:3], (None, TIMES[3]))
    ]
    model = Model({f"s/{i}": document(f"s/{i}", "common words", one) for i, one in enumerate(who)})
    async with shelf(tmp_path_factory.mktemp("all")) as on:
        await put(on.store, *model.documents.values())
        await on.lexical.drain()
        for group, now in product((*GROUPS, "none"), TIMES):
            await check(model, on, viewer(group, now=now, sources="s"), complete=True)
