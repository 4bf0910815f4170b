"""Exact search: the right neighbours, only allowed ones, through any history of writes."""

import threading
from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from indexes.embedding.vector_matrix import VectorMatrix, VectorRow, VectorScope, pack_vector, unpack_vector
from indexes.grants import SearchFilter

DIM = 8
EVERYONE = VectorScope(acl=1, valid_from=0, valid_to=None, language="en", source="docs")
ANY = SearchFilter(acls=frozenset({1}), sources=frozenset({"docs"}), now=100)


def make_vector(seed: int, dim: int = DIM) -> list[float]:
    return [float(x) for x in np.random.default_rng(seed).normal(size=dim)]


def build_matrix(rows: Iterable[VectorRow]) -> VectorMatrix:
    index = VectorMatrix(DIM)
    index.replace_rows(rows)
    return index


def find_passages(index: VectorMatrix, allowed: SearchFilter = ANY, k: int = 99) -> set[int]:
    return {passage for passage, _ in index.find_nearest(make_vector(0), allowed, k)}


def build_single_row(scope: VectorScope) -> VectorMatrix:
    return build_matrix([VectorRow(7, make_vector(7), scope)])


def test_best_first_with_true_cosines() -> None:
    index = build_matrix([VectorRow(1, [2, 0] + [0] * 6, EVERYONE), VectorRow(2, [3, 4] + [0] * 6, EVERYONE)])
    hits = index.find_nearest([5, 0] + [0] * 6, ANY, 5)
    assert [passage for passage, _ in hits] == [1, 2]
    assert [cosine for _, cosine in hits] == pytest.approx([1.0, 0.6])


def test_equal_cosines_come_by_id() -> None:
    index = build_matrix(VectorRow(i, make_vector(1), EVERYONE) for i in (5, 3, 9))
    assert [passage for passage, _ in index.find_nearest(make_vector(1), ANY, 3)] == [3, 5, 9]


@pytest.mark.parametrize(
    "allowed",
    [
        SearchFilter(frozenset({2}), frozenset({"docs"}), 100),
        SearchFilter(frozenset(), frozenset({"docs"}), 100),
        SearchFilter(frozenset({1}), frozenset(), 100),
        SearchFilter(frozenset({1}), frozenset({"other"}), 100),
        SearchFilter(frozenset({1}), frozenset({"docs"}), 100, frozenset({"es"})),
    ],
    ids=["other group", "no group", "no source", "other source", "other language"],
)
def test_what_the_filter_does_not_name_is_not_found(allowed: SearchFilter) -> None:
    assert find_passages(build_single_row(EVERYONE)) == {7}
    assert find_passages(build_single_row(EVERYONE), allowed) == set()


def test_validity_begins_at_its_instant_and_ends_before_its_end() -> None:
    index = build_single_row(VectorScope(1, 100, 200, "en", "docs"))
    at = {
        now: bool(find_passages(index, SearchFilter(ANY.acls, ANY.sources, now)))
        for now in (99, 100, 199, 200)
    }
    assert at == {99: False, 100: True, 199: True, 200: False}


def test_a_row_without_language_is_found_only_when_any_will_do() -> None:
    index = build_single_row(VectorScope(1, 0, None, None, "docs"))
    assert find_passages(index) == {7}
    assert find_passages(index, SearchFilter(ANY.acls, ANY.sources, 100, frozenset({"en"}))) == set()


def test_another_scope_needs_no_other_vector() -> None:
    index = build_single_row(EVERYONE)
    before = index.compute_cosines(make_vector(0), [7])
    index.update_scopes({7: VectorScope(2, 0, None, "en", "docs"), 404: EVERYONE})
    assert find_passages(index) == set()
    assert find_passages(index, SearchFilter(frozenset({2}), ANY.sources, 100)) == {7}
    assert index.compute_cosines(make_vector(0), [7]) == before


def test_cosines_are_of_known_ids_only_and_equal_those_of_the_search() -> None:
    index = build_matrix(VectorRow(i, make_vector(i), EVERYONE) for i in range(1, 6))
    assert index.compute_cosines(make_vector(0), [2, 4, 404]) == pytest.approx(
        {i: cosine for i, cosine in index.find_nearest(make_vector(0), ANY, 9) if i in (2, 4)}
    )


def test_a_row_added_again_takes_the_place_of_the_old_one() -> None:
    index = build_single_row(EVERYONE)
    index.add_rows([VectorRow(7, make_vector(0), EVERYONE)])
    assert dict(index.find_nearest(make_vector(0), ANY, 9)) == pytest.approx({7: 1.0})
    assert len(index) == 1


def test_dead_rows_give_their_memory_back() -> None:
    index = build_matrix(VectorRow(i, make_vector(i), EVERYONE) for i in range(100))
    full = index.memory_bytes
    index.remove_rows(range(10))
    assert index.memory_bytes == full, "few dead rows are not worth a rewrite"
    index.remove_rows(range(60))
    assert index.memory_bytes < full / 2
    assert find_passages(index) == set(range(60, 100))


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ([1.0] * 9, "a vector of 9 numbers; this index holds 8"),
        ([float("nan")] * 8, "not finite"),
    ],
)
def test_a_bad_vector_is_refused_and_changes_nothing(bad: list[float], says: str) -> None:
    index = build_single_row(EVERYONE)
    with pytest.raises(ValueError, match=says):
        index.add_rows([VectorRow(8, make_vector(8), EVERYONE), VectorRow(9, bad, EVERYONE)])
    assert find_passages(index) == {7}


def test_an_empty_index_finds_nothing() -> None:
    index = VectorMatrix(DIM)
    assert index.find_nearest(make_vector(0), ANY, 5) == []
    assert index.compute_cosines(make_vector(0), [1]) == {}


@pytest.mark.parametrize("share", [0.01, 0.2, 0.3, 1.0])
def test_gathering_and_the_full_product_agree_with_a_plain_reckoning(share: float) -> None:
    rows = [
        VectorRow(i, make_vector(i), VectorScope(int(i >= 400 * share), 0, None, "en", "docs"))
        for i in range(400)
    ]
    allowed = SearchFilter(frozenset({0}), frozenset({"docs"}), 5)
    query = np.array(make_vector(9999))
    matrix = np.array([row.vector for row in rows if row.scope.acl == 0])
    cosines = matrix @ query / np.linalg.norm(matrix, axis=1) / np.linalg.norm(query)
    hits = build_matrix(rows).find_nearest(list(query), allowed, 10)
    assert [i for i, _ in hits] == [int(i) for i in np.argsort(-cosines)[:10]]
    assert [c for _, c in hits] == pytest.approx(sorted(cosines, reverse=True)[:10], abs=1e-5)


@given(st.lists(st.floats(-1, 1, width=16), min_size=1, max_size=16))
def test_half_floats_survive_packing(numbers: list[float]) -> None:
    assert unpack_vector(pack_vector(numbers)).tolist() == numbers


def test_readers_beside_a_writer_see_whole_states_only() -> None:
    """Rows 0..9 change groups all at once, over and over: no reader ever sees some old and some new."""
    index = build_matrix(VectorRow(i, make_vector(i), EVERYONE) for i in range(10))
    halves: list[set[int]] = []
    done = threading.Event()

    def read_repeatedly() -> None:
        while not done.is_set():
            seen = find_passages(index)
            if len(seen) not in (0, 10):
                halves.append(seen)

    readers = [threading.Thread(target=read_repeatedly) for _ in range(3)]
    for reader in readers:
        reader.start()
    for turn in range(200):
        index.update_scopes({i: VectorScope(1 + turn % 2, 0, None, "en", "docs") for i in range(10)})
        index.add_rows([VectorRow(100 + turn, make_vector(turn), VectorScope(3, 0, None, "en", "docs"))])
        index.add_rows(
            [
                VectorRow(i, make_vector(i), VectorScope(1 + turn % 2, 0, None, "en", "docs"))
                for i in range(10)
            ]
        )
        index.remove_rows([100 + turn])
    done.set()
    for reader in readers:
        reader.join()
    assert halves == []


ids = st.integers(0, 12)
scopes = st.builds(
    VectorScope,
    acl=st.integers(0, 2),
    valid_from=st.integers(0, 3),
    valid_to=st.none() | st.integers(1, 5),
    language=st.sampled_from([None, "en", "es"]),
    source=st.sampled_from(["docs", "wiki"]),
)
filters = st.builds(
    SearchFilter,
    acls=st.frozensets(st.integers(0, 3)),
    sources=st.frozensets(st.sampled_from(["docs", "wiki", "else"])),
    now=st.integers(0, 6),
    languages=st.frozensets(st.sampled_from(["en", "es", "de"])),
)


def may_find(scope: VectorScope, allowed: SearchFilter) -> bool:
    return (
        scope.acl in allowed.acls
        and scope.source in allowed.sources
        and scope.valid_from <= allowed.now
        and (scope.valid_to is None or allowed.now < scope.valid_to)
        and (not allowed.languages or scope.language in allowed.languages)
    )


class MatrixHistory(RuleBasedStateMachine):
    """Any history of writes leaves exactly what a dictionary would hold."""

    def __init__(self) -> None:
        super().__init__()
        self.index = VectorMatrix(DIM)
        self.model: dict[int, VectorScope] = {}

    @rule(rows=st.dictionaries(ids, scopes, max_size=6))
    def load_rows(self, rows: dict[int, VectorScope]) -> None:
        self.index.replace_rows(VectorRow(i, make_vector(i), scope) for i, scope in rows.items())
        self.model = dict(rows)

    @rule(rows=st.dictionaries(ids, scopes, max_size=6))
    def insert_rows(self, rows: dict[int, VectorScope]) -> None:
        self.index.add_rows(VectorRow(i, make_vector(i), scope) for i, scope in rows.items())
        self.model |= rows

    @rule(gone=st.sets(ids, max_size=4))
    def drop_rows(self, gone: set[int]) -> None:
        self.index.remove_rows(gone)
        self.model = {i: scope for i, scope in self.model.items() if i not in gone}

    @rule(changes=st.dictionaries(ids, scopes, max_size=6))
    def change_scopes(self, changes: dict[int, VectorScope]) -> None:
        self.index.update_scopes(changes)
        self.model |= {i: scope for i, scope in changes.items() if i in self.model}

    @rule(allowed=filters)
    def compare_search(self, allowed: SearchFilter) -> None:
        assert find_passages(self.index, allowed) == {
            i for i, s in self.model.items() if may_find(s, allowed)
        }

    @invariant()
    def check_own_vectors(self) -> None:
        assert len(self.index) == len(self.model)
        for i in self.model:
            assert self.index.compute_cosines(make_vector(i), [i])[i] == pytest.approx(1.0, abs=1e-5)


MatrixHistory.TestCase.settings = settings(max_examples=40, stateful_step_count=20, deadline=None)
TestHistory = MatrixHistory.TestCase
