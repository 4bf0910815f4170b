"""One keyword index: filters inside the query, and falls into none of Tantivy's traps."""

from dataclasses import replace
from pathlib import Path

import pytest
import tantivy

from indexes.grants import FOREVER, SearchFilter, encode_instant
from indexes.keywords.index_folder import TERMS_MAX, KeywordIndexError, TantivyFolder, verify_deletion
from indexes.outbox import OutboxBatch, OutboxItem
from tests.indexes.sample_evidence import NOW

ITEM = OutboxItem(1, 1, "docs", 0, FOREVER, "en", "Title", "some words here", "", ())
ANY = SearchFilter(frozenset({1}), frozenset({"docs"}), 5)


def open_filled_folder(folder: Path, *items: OutboxItem) -> TantivyFolder:
    index = TantivyFolder(folder, str.split)
    index.apply([OutboxBatch(1, (), items)])
    index.reload()
    return index


def test_hits_hold_a_token_in_text_title_or_headings(tmp_path: Path) -> None:
    items = [
        ITEM,
        replace(ITEM, id=2, title="words"),
        replace(ITEM, id=3, headings=("words",), text="x"),
        replace(ITEM, id=4, text="none"),
    ]
    assert set(open_filled_folder(tmp_path, *items).search(["words"], ANY, 9)) == {1, 2, 3}


@pytest.mark.parametrize("change", [
    {"acl": 2}, {"source": "other"}, {"valid_from": 6}, {"ends": 5}, {"language": "es"}, {"language": None},
])  # fmt: skip
def test_what_is_not_allowed_is_not_found(tmp_path: Path, change: dict[str, object]) -> None:
    only_english = replace(ANY, languages=frozenset({"en"}))
    index = open_filled_folder(tmp_path, ITEM, replace(ITEM, id=2, **change))  # type: ignore[arg-type]
    assert index.search(["words"], only_english, 9) == [1]


@pytest.mark.parametrize("count", [1, TERMS_MAX, TERMS_MAX + 1])
def test_a_filter_of_few_values_and_one_of_many_let_through_alike(tmp_path: Path, count: int) -> None:
    index = open_filled_folder(tmp_path, *(replace(ITEM, id=id, acl=id) for id in range(1, TERMS_MAX + 9)))
    allowed = replace(ANY, acls=frozenset(range(5, 5 + count)))
    assert index.search(["words"], allowed, 999) == list(range(5, 5 + count))


def test_validity_begins_with_its_first_instant_and_ends_before_its_last(tmp_path: Path) -> None:
    index = open_filled_folder(tmp_path, replace(ITEM, valid_from=-(10**15), ends=10**15))
    hits = [
        index.search(["words"], replace(ANY, now=now), 9)
        for now in (-(10**15) - 1, -(10**15), 10**15 - 1, 10**15)
    ]
    assert hits == [[], [1], [1], []]


@pytest.mark.parametrize("nobody", [replace(ANY, acls=frozenset()), replace(ANY, sources=frozenset())])
def test_an_empty_permission_finds_nothing(tmp_path: Path, nobody: SearchFilter) -> None:
    assert open_filled_folder(tmp_path, ITEM).search(["words"], nobody, 9) == []


def test_filters_do_not_change_scores_and_ties_go_by_id(tmp_path: Path) -> None:
    """Better matches come first however many groups they have; equal ones come in the order of their ids."""
    items = [replace(ITEM, id=i, acl=i % 3, text="words words" if i == 5 else "words") for i in range(9)]
    index = open_filled_folder(tmp_path, *items)
    allowed = replace(ANY, acls=frozenset({0, 1, 2}))
    assert index.search(["words"], allowed, 9)[1:] == [0, 1, 2, 3, 4, 6, 7, 8]
    assert index.search(["words"], allowed, 9)[0] == 5


def test_text_of_a_user_is_never_a_query_language(tmp_path: Path) -> None:
    """`acl:[0 TO 9] OR *` handed to Tantivy's parser would reach the filter fields."""
    index = open_filled_folder(tmp_path, ITEM, replace(ITEM, id=2, acl=2))
    for token in ("*", "acl:2", "acl:[0", "body:words", "w* OR words", '"', "+words", "\\", "\0"):
        assert index.search([token], ANY, 9) == []


def test_another_form_of_a_word_is_found_after_the_word_itself(tmp_path: Path) -> None:
    as_asked = replace(ITEM, id=2, text="a restored library")
    index = open_filled_folder(tmp_path, replace(ITEM, text="many restorations at libraries"), as_asked)
    assert index.search(["restored", "library"], ANY, 9) == [2, 1]


def test_deleting_by_id_deletes_and_doing_it_twice_changes_nothing(tmp_path: Path) -> None:
    index = open_filled_folder(tmp_path, ITEM, replace(ITEM, id=2))
    for _ in range(2):
        index.apply([OutboxBatch(2, (1, 2, 3), (replace(ITEM, id=2), replace(ITEM, id=3)))])
    index.reload()
    assert index.search(["words"], ANY, 9) == [2, 3]


def test_the_trap_is_still_there_unsigned_terms_delete_nothing(tmp_path: Path) -> None:
    """Why ids are i64 and deletion goes by query; if this fails, Tantivy has mended it."""
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("id", indexed=True)
    index = tantivy.Index(builder.build(), path=str(tmp_path))
    writer = index.writer(15_000_000, 1)
    document = tantivy.Document()
    document.add_unsigned("id", 1)
    writer.add_document(document)
    writer.commit()
    writer.delete_documents_by_term("id", 1)
    writer.commit()
    index.reload()
    assert index.searcher().num_docs == 1


def test_the_self_test_notices_an_index_that_does_not_delete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    verify_deletion(tmp_path)
    monkeypatch.setattr(TantivyFolder, "_match_id", lambda self, found: tantivy.Query.empty_query())
    other = tmp_path / "other"
    other.mkdir()
    with pytest.raises(KeywordIndexError, match="does not delete"):
        verify_deletion(other)


def test_no_text_is_kept_in_the_index(tmp_path: Path) -> None:
    folder = tmp_path / "i"
    folder.mkdir()
    index = open_filled_folder(folder, ITEM)
    address = index._searcher.search(tantivy.Query.all_query(), 1).hits[0][1]
    assert index._searcher.doc(address).to_dict() == {}


def test_a_search_keeps_its_snapshot_until_reload(tmp_path: Path) -> None:
    index = open_filled_folder(tmp_path, ITEM)
    index.apply([OutboxBatch(2, (1,), ())])
    assert index.search(["words"], ANY, 9) == [1]
    index.reload()
    assert index.search(["words"], ANY, 9) == []


def test_an_instant_fits_the_index() -> None:
    assert -(2**63) <= encode_instant(NOW) < FOREVER < 2**63
