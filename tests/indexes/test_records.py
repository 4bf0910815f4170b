"""Records: read strictly, chosen by rule, newest first, in the reader's language, dates as exact as known."""

from datetime import timedelta
from pathlib import Path

import pytest

from indexes.records import RecordStore, format_record_dates, render_record
from indexes.sources.record_book import BookContents, BookFile, read_book
from indexes.store import Store
from indexes.sync import sync_sources
from indexes.types import PartialDate, Record
from tests.indexes.sample_evidence import NOW, make_access, make_viewer

HEAD = "allowed_groups: [public]\nrecords:\n"
DAY = timedelta(days=1)
SEES = make_viewer("public", sources="life")


def parse_book(tmp_path: Path, text: str) -> BookContents:
    path = tmp_path / "life.yaml"
    path.write_text(text, "utf-8")
    return read_book(BookFile("life", path))


def make_record(id: str, kind: str = "job", **more: object) -> Record:
    texts = {"title": {"en": id}, "text": {"en": f"About {id}."}, "access": make_access("public")}
    return Record(f"life/{id}", "life", kind, **{**texts, **more})  # type: ignore[arg-type]


def test_a_book_states_everything(tmp_path: Path) -> None:
    text = """
- id: acme
  kind: job
  title: {en: Engineer, es: Ingeniera}
  text: {en: Built bridges., es: Puentes.}
  from: 2019-05
  to: 2024
  current: false
  url: https://x.example
  allowed_groups: [public, staff]
  valid_from: 2026-01-01
  valid_to: 2027-01-01T12:00:00+02:00
"""
    found = parse_book(tmp_path, text)
    assert found.faults == ()
    assert found.records == (
        Record(
            id="life/acme",
            book="life",
            kind="job",
            title={"en": "Engineer", "es": "Ingeniera"},
            text={"en": "Built bridges.", "es": "Puentes."},
            access=make_access(
                "public",
                "staff",
                begins=NOW.replace(month=1),
                ends=NOW.replace(year=2027, month=1, hour=10),
            ),
            start=PartialDate(2019, 5),
            end=PartialDate(2024),
            url="https://x.example",
        ),
    )


def test_what_holds_for_the_whole_book_is_said_once(tmp_path: Path) -> None:
    text = "allowed_groups: [public]\nlanguage: fa\nrecords:\n- {kind: job, title: الف, text: ب}\n"
    text += "- {kind: job, title: پ, text: ت, allowed_groups: [staff], language: en}\n"
    found = parse_book(tmp_path, text).records or ()
    assert [(r.access, dict(r.title)) for r in found] == [
        (make_access("public"), {"fa": "الف"}),
        (make_access("staff"), {"en": "پ"}),
    ]


def test_an_id_stays_as_long_as_kind_and_title_do(tmp_path: Path) -> None:
    first = parse_book(tmp_path, HEAD + "- {kind: job, title: A, text: x}\n").records or ()
    again = (
        parse_book(
            tmp_path, HEAD + "- {kind: job, title: B, text: x}\n- {kind: job, title: A, text: y}\n"
        ).records
        or ()
    )
    assert first[0].id == again[1].id != again[0].id


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("{title: A, text: x}", "life.yaml:4: `kind`: want a kind of record as career or projects, got"),
        ("{kind: Job, title: A, text: x}", "got Job"),
        ("{kind: job, text: x}", "`title`: is missing"),
        ("{kind: job, title: A}", "`text`: is missing"),
        ("{kind: job, title: A, text: x, from: 2024-13}", "`from`: 2024-13 is no date of the calendar"),
        ("{kind: job, title: A, text: x, from: May 2024}", "`from`: want 2024, 2024-05 or 2024-05-01"),
        ("{kind: job, title: A, text: x, to: present}", "`to`: want 2024"),
        ("{kind: job, title: A, text: x, from: 2024, to: 2023-12}", "`to`: lies before `from`"),
        ("{kind: job, title: A, text: x, current: 'yes'}", "`current`: want true or false"),
        ("{kind: job, title: A, text: x, curent: true}", "did you mean `current`?"),
        ("{kind: job, title: {english: A}, text: x}", "want texts by language tag"),
        ("{kind: job, title: A, text: x, url: 'ftp://x'}", "want an address of http"),
        ("{kind: job, title: A, text: x, allowed_groups: [no]}", "got a boolean (no)"),
        ("{kind: job, title: A, text: x, valid_from: 2027-01-01, valid_to: 2026-01-01}", "is not after"),
        ("just words", "want a mapping of keys to values"),
    ],
)  # fmt: skip
def test_a_bad_entry_is_hidden_and_the_others_are_not(tmp_path: Path, entry: str, said: str) -> None:
    found = parse_book(tmp_path, HEAD + f"- {{kind: job, title: Good, text: x}}\n- {entry}\n")
    assert [dict(r.title) for r in found.records or ()] == [{"en": "Good"}]
    (fault,) = found.faults
    assert said in str(fault)
    assert "life.yaml:4" in str(fault)


def test_a_year_alone_may_end_in_the_year_it_began(tmp_path: Path) -> None:
    found = parse_book(tmp_path, HEAD + "- {kind: job, title: A, text: x, from: 2024-05, to: 2024}\n")
    assert found.faults == ()


def test_two_records_of_one_id_are_both_hidden(tmp_path: Path) -> None:
    found = parse_book(
        tmp_path, HEAD + "- {kind: job, title: A, text: x}\n" * 3 + "- {kind: job, title: B, text: x}\n"
    )
    assert [dict(r.title) for r in found.records or ()] == [{"en": "B"}]
    assert len(found.faults) == 2


@pytest.mark.parametrize(
    "text", ["records: [", "- {kind: job, title: A, text: x}\n", "alowed_groups: [x]\nrecords: []"]
)
def test_nothing_of_a_book_without_a_clear_access_is_shown(tmp_path: Path, text: str) -> None:
    found = parse_book(tmp_path, text)
    assert found.records == ()
    assert len(found.faults) == 1


async def test_a_book_that_cannot_be_read_loses_nothing_and_a_broken_one_is_hidden(tmp_path: Path) -> None:
    path = tmp_path / "life.yaml"
    book = BookFile("life", path)
    async with Store(tmp_path / "t.db") as store:
        path.write_text(HEAD + "- {kind: job, title: A, text: x}\n")
        assert (await sync_sources(store, [], books=[book])).records == 1
        before = await store.read_state()
        await sync_sources(store, [], books=[book])
        assert await store.read_state() == before, "the same book again changes nothing"
        path.rename(tmp_path / "away.yaml")
        assert "cannot be read" in str((await sync_sources(store, [], books=[book])).faults[0])
        assert len(await RecordStore(store).choose_records(frozenset(), SEES, "en", 9)) == 1
        path.write_text("records: [")
        await sync_sources(store, [], books=[book])
        assert await RecordStore(store).choose_records(frozenset(), SEES, "en", 9) == ()


async def choose_titles(store: Store, *kinds: str, viewer: object = SEES, limit: int = 99) -> list[str]:
    found = await RecordStore(store).choose_records(frozenset(kinds), viewer, "en", limit)  # type: ignore[arg-type]
    return [r.title["en"] for r in found]


async def test_current_ones_first_then_by_their_own_dates(tmp_path: Path) -> None:
    book = [
        make_record("undated"),
        make_record("old", start=PartialDate(2001), end=PartialDate(2003, 2)),
        make_record("long", start=PartialDate(1999), end=PartialDate(2020)),
        make_record("talk", "talk", start=PartialDate(2021, 6, 1)),
        make_record("now", start=PartialDate(2015), current=True),
        make_record("newer now", start=PartialDate(2024, 3), current=True),
    ]
    async with Store(tmp_path / "t.db") as store:
        await RecordStore(store).replace_book("life", book)
        assert await choose_titles(store) == ["newer now", "now", "talk", "long", "old", "undated"]
        assert await choose_titles(store, "talk") == ["talk"]
        assert await choose_titles(store, "talk", "job", limit=2) == ["newer now", "now"]
        assert await choose_titles(store, "none") == []


async def test_groups_validity_and_books_are_obeyed(tmp_path: Path) -> None:
    book = [
        make_record("a"),
        make_record("b", access=make_access("staff")),
        make_record("c", access=make_access("public", begins=NOW + DAY)),
        make_record("d", access=make_access("public", ends=NOW)),
    ]
    async with Store(tmp_path / "t.db") as store:
        await RecordStore(store).replace_book("life", book)
        assert await choose_titles(store) == ["a"]
        assert await choose_titles(store, viewer=make_viewer("public", "staff", sources="life")) == ["a", "b"]
        assert await choose_titles(store, viewer=make_viewer("public", sources="life", now=NOW + DAY)) == [
            "a",
            "c",
        ]
        assert await choose_titles(store, viewer=make_viewer("public", sources="life", now=NOW - DAY)) == [
            "a",
            "d",
        ]
        assert await choose_titles(store, viewer=make_viewer("public", sources="other")) == []
        assert await choose_titles(store, viewer=make_viewer(sources="life")) == []


async def test_the_readers_language_where_there_is_a_translation(tmp_path: Path) -> None:
    texts = {"en": "English", "fa": "فارسی", "es": "Español"}
    book = [
        make_record("a", text=texts, title=texts),
        make_record("b", text={"de": "Deutsch", "fr": "Français"}),
    ]
    async with Store(tmp_path / "t.db") as store:
        await RecordStore(store).replace_book("life", book)
        a, b = await RecordStore(store).choose_records(frozenset(), SEES, "fa", 9)
        assert (dict(a.text), dict(a.title)) == ({"fa": "فارسی"}, {"fa": "فارسی"})
        assert dict(b.text) == {"de": "Deutsch"}
        (c, _) = await RecordStore(store).choose_records(frozenset(), SEES, "zh", 9)
        assert dict(c.text) == {"en": "English"}


@pytest.mark.parametrize(
    ("start", "end", "current", "line"),
    [
        (PartialDate(2019, 5), PartialDate(2024), False, "2019-05 – 2024"),
        (PartialDate(2019, 5, 1), None, False, "2019-05-01"),
        (PartialDate(2019), None, True, "2019 – (current)"),
        (None, PartialDate(2024), False, "2024"),
        (None, None, True, "current"),
        (None, None, False, None),
    ],
)
def test_dates_are_shown_as_exactly_as_they_are_known(
    start: PartialDate | None, end: PartialDate | None, current: bool, line: str | None
) -> None:
    text = render_record(make_record("a", start=start, end=end, current=current), "en")
    assert text.splitlines() == ["a", *([line] if line else []), "About a."]
    assert format_record_dates(make_record("a", start=start, end=end)) in text


def test_current_is_said_in_the_language_of_the_text() -> None:
    one = make_record("a", text={"es": "Texto.", "en": "Text."}, title={"es": "T", "en": "T"}, current=True)
    assert render_record(one, "es").splitlines()[1] == "actual"
