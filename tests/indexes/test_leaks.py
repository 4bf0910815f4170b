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
from tests.indexes.sample_evidence import (
    NOW,
    HashEmbedder,
    IndexedStore,
    make_document,
    make_viewer,
    open_indexed_store,
    put_documents,
)

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
    make_viewer,
    st.sampled_from(GROUPS),
    st.sampled_from(GROUPS),
    now=st.sampled_from(TIMES),
    sources=st.sampled_from(["s", "t", "s t"]),
    languages=st.sampled_from(["", "en", "en es"]),
)


@dataclass(frozen=True)
class PutStep:
    key: str
    access: Access
    text: str
    language: str | None
    supersedes: str | None


@dataclass(frozen=True)
class GrantStep:
    key: str
    access: Access


@dataclass(frozen=True)
class RemoveStep:
    key: str


@dataclass(frozen=True)
class HideStep:
    key: str


@dataclass(frozen=True)
class DrainStep:
    pass


Step = PutStep | GrantStep | RemoveStep | HideStep | DrainStep

keys = st.sampled_from(KEYS)
steps = st.one_of(
    st.builds(
        PutStep,
        keys,
        accesses,
        st.sampled_from(["common words one", "common words two", "# H\n\ncommon\n\n# I\n\nwords"]),
        st.sampled_from(["en", "es", None]),
        st.none() | keys,
    ),
    st.builds(GrantStep, keys, accesses),
    st.builds(RemoveStep, keys),
    st.builds(HideStep, keys),
    st.just(DrainStep()),
)


@dataclass
class VisibilityModel:
    """What the truth should be, said plainly."""

    documents: dict[str, Document] = field(default_factory=dict)

    def find_end(self, document: Document) -> datetime | None:
        successor_starts = [
            d.access.valid_from
            for d in self.documents.values()
            if d.supersedes == document.id and d.id != document.id
        ]
        return min(
            [*successor_starts, *([document.access.valid_to] if document.access.valid_to else [])],
            default=None,
        )

    def list_visible_ids(self, viewer: Viewer) -> set[str]:
        return {
            one.id
            for one in self.documents.values()
            if one.source in viewer.sources
            and (not viewer.languages or one.language in viewer.languages)
            and is_visible(replace(one.access, valid_to=self.find_end(one)), viewer)
        }


async def apply_step(step: Step, model: VisibilityModel, indexed: IndexedStore) -> None:
    documents = model.documents
    match step:
        case PutStep(key, access, text, language, supersedes):
            documents[key] = make_document(key, text, access, language=language, supersedes=supersedes)
            await put_documents(indexed.store, documents[key])
        case GrantStep(key, access):
            await indexed.store.set_access(key, access)
            if key in documents:
                documents[key] = replace(documents[key], access=access)
        case RemoveStep(key):
            await indexed.store.remove_document(key)
            documents.pop(key, None)
        case HideStep(key):
            await indexed.store.hide_documents([key])
            if key in documents:
                documents[key] = replace(
                    documents[key], access=replace(documents[key].access, groups=frozenset())
                )
        case DrainStep():
            await indexed.keyword_index.drain()


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
    model = VisibilityModel()
    async with open_indexed_store(tmp_path_factory.mktemp("leak"), BAG if hybrid else None) as indexed:
        for step in history:
            await apply_step(step, model, indexed)
            if hybrid:
                await embed_missing_passages(indexed.store, BAG)
            await check_visibility(model, indexed, asking[0], complete=False)
        await indexed.keyword_index.drain()
        for who in asking:
            await check_visibility(model, indexed, who, complete=True)


async def check_visibility(
    model: VisibilityModel, indexed: IndexedStore, viewer: Viewer, complete: bool
) -> None:
    found = await indexed.search.find_evidence(
        Query(("common words",), ranking_text="common", limit=20), viewer
    )
    shown = {hit.passage.document_id for hit in found.hits}
    allowed = model.list_visible_ids(viewer)
    assert shown <= allowed
    assert not complete or shown == allowed
    assert set(found.searched_sources) == {id[0] for id in allowed}
    stored = await indexed.store.recheck_passages(range(1, 200), viewer)
    assert {p.document_id for p in stored.values()} == allowed


async def test_every_pair_of_groups_and_instants_once(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The whole small world at once: each document is seen by exactly its groups at exactly its times."""
    who = [
        Access(frozenset({g}), begins, ends)
        for g, begins, ends in product(GROUPS, TIMES[:3], (None, TIMES[3]))
    ]
    model = VisibilityModel(
        {f"s/{i}": make_document(f"s/{i}", "common words", one) for i, one in enumerate(who)}
    )
    async with open_indexed_store(tmp_path_factory.mktemp("all")) as indexed:
        await put_documents(indexed.store, *model.documents.values())
        await indexed.keyword_index.drain()
        for group, now in product((*GROUPS, "none"), TIMES):
            await check_visibility(model, indexed, make_viewer(group, now=now, sources="s"), complete=True)
