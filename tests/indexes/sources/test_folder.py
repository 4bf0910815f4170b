"""A folder of files: what is stated exactly is indexed; all else is not, and one line says why."""

from pathlib import Path

import pytest

from indexes.sources.readers import DocumentContent, read_content
from indexes.sources.types import EmptySource, UnreadableFolder
from tests.indexes.sample_evidence import NOW, make_access
from tests.indexes.sources.folder_scans import (
    PUBLIC,
    scan_folder,
    scan_for_fault,
    select_documents,
    select_faults,
    write_files,
)


def test_front_matter_states_everything(tmp_path: Path) -> None:
    front = (
        "---\ntitle: Leave\nurl: https://x.example/leave\nlanguage: en-GB\nallowed_groups: [staff, hr]\n"
        "valid_from: 2026-06-01T00:00:00Z\nvalid_to: 2027-01-01\nsupersedes: old.md\n---\n"
    )
    write_files(tmp_path, {"a/leave.md": front + "Text.", "a/old.md": f"---\n{PUBLIC}---\nOld."})
    one = select_documents(scan_folder(tmp_path))["docs/a/leave.md"]
    assert (one.title, one.url, one.language, one.text) == ("Leave", "https://x.example/leave", "en", "Text.")
    assert one.access == make_access("staff", "hr", begins=NOW, ends=NOW.replace(year=2027, month=1))
    assert one.supersedes == "docs/a/old.md"


def test_the_title_is_the_first_heading_or_the_name(tmp_path: Path) -> None:
    write_files(tmp_path, {
        ".access.yaml": PUBLIC,
        "a.md": "```\n# no\n```\n\n# The **bold** one\n\ntext",
        "b.txt": "# not a heading",
        "c.html": "<title>Page &amp; more</title><p>text",
    })  # fmt: skip
    found = select_documents(scan_folder(tmp_path))
    assert {id: one.title for id, one in found.items()} == {
        "docs/a.md": "The bold one",
        "docs/b.txt": "b",
        "docs/c.html": "Page & more",
    }


@pytest.mark.parametrize(
    ("front", "said"),
    [
        ("allowed_groups: [no]", "a.md:2: want a text, got a boolean (no)"),
        ("allowed_groups: [1]", "a.md:2: want a text, got a number (1)"),
        ("allowed_groups: [null]", "want a text, got nothing"),
        ("allowed_groups: ['']", "want a text"),
        ("allowed_groups: []", "is empty, so that nobody could see it"),
        ("allowed_groups: public", "want a list, as in [public, staff]"),
        ("allowed_groups: [[public]]", "want a text, got a list"),
        (PUBLIC + "valid_from: 2026-01-01T00:00:00", "a.md:3: `valid_from`: 2026-01-01T00:00:00 has no"),
        (PUBLIC + "valid_from: tomorrow", "want a date or time"),
        (PUBLIC + "valid_from: 2026-02-30", "no date of the calendar"),
        (PUBLIC + "valid_from: 2027-01-01\nvalid_to: 2026-01-01", "is not after valid_from"),
        (PUBLIC + "valid_from: 2027-01-01\nvalid_to: 2027-01-01", "is not after valid_from"),
        (PUBLIC + "titel: x", "a.md:3: unknown key `titel`: did you mean `title`?"),
        (PUBLIC + "title: 2024", "want a text, got a number (2024)"),
        (PUBLIC + "language: english!", "want a tag as en"),
        (PUBLIC + "url: javascript:alert(1)", "want an address of http, https or mailto"),
        (PUBLIC + "url: 'https://a b'", "want an address"),
        (PUBLIC + PUBLIC.strip(), "a.md:3: `allowed_groups` stands here twice"),
        (PUBLIC + "supersedes: a.md", "supersedes itself"),
        ("- a\n- b", "want a mapping of keys to values, got a list"),
        ("allowed_groups: [public", "a.md:3: not YAML"),
        ("a: &x [public]\nallowed_groups: *x", "anchors and aliases"),
        ("allowed_groups: !!python/name:os.system [x]", "tags (!) are not read"),
        ("[" * 3000, "YAML"),
    ],
)  # fmt: skip
def test_a_front_matter_that_is_not_exact_is_said_with_its_line(
    tmp_path: Path, front: str, said: str
) -> None:
    write_files(tmp_path, {"a.md": f"---\n{front}\n---\ntext"})
    fault = scan_for_fault(tmp_path)
    assert said in fault or "nested too deeply" in fault
    assert "\n" not in fault


def test_a_front_matter_that_never_ends_is_a_fault(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.md": f"---\n{PUBLIC}\ntext"})
    assert "a.md:1: the front matter is not closed" in scan_for_fault(tmp_path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"---\nallowed_groups: [public]\n---\n\xff\xfe", "is not UTF-8 (byte 34)"),
        (b"---\nallowed_groups: [public]\n---\n \n", "is empty"),
        (b"", "is empty"),
        (b"x" * 10_000_001, "is larger than 10 MB"),
    ],
)
def test_a_file_that_is_no_text_is_not_indexed(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / ".access.yaml").write_text(PUBLIC)
    (tmp_path / "a.md").write_bytes(content)
    assert said in scan_for_fault(tmp_path)


def test_line_ends_and_a_byte_order_mark_do_not_matter(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"\xef\xbb\xbf---\r\nallowed_groups: [public]\r\n---\r\ntext")
    assert select_documents(scan_folder(tmp_path))["docs/a.md"].text == "text"


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    outside = write_files(tmp_path / "outside", {"secret.md": f"---\n{PUBLIC}---\nsecret"})
    root = write_files(tmp_path / "root", {".access.yaml": PUBLIC, "a.md": "a"})
    (root / "b.md").symlink_to(outside / "secret.md")
    (root / "c").symlink_to(outside)
    (root / "d.md").symlink_to(root / "nowhere.md")
    found = scan_folder(root)
    assert list(select_documents(found)) == ["docs/a.md"]
    said = "\n".join(select_faults(found))
    assert "b.md: is a link out of the folder" in said
    assert "c: is a link to a folder" in said
    assert "d.md: cannot be read" in said


def test_names_that_look_the_same_are_one_id_and_neither_is_indexed(tmp_path: Path) -> None:
    write_files(tmp_path, {".access.yaml": PUBLIC, "caf\u00e9.md": "a", "cafe\u0301.md": "b"})
    assert "are one name to a reader" in scan_for_fault(tmp_path)


def test_a_folder_that_cannot_be_read_leaves_what_is_below_unseen(tmp_path: Path) -> None:
    write_files(tmp_path, {".access.yaml": PUBLIC, "a.md": "a", "hr/b.md": "b"})

    def list_entries(folder: Path) -> list[Path]:
        if folder.name == "hr":
            raise PermissionError(13, "Permission denied")
        return sorted(folder.iterdir())

    found = scan_folder(tmp_path, entries=list_entries)
    assert list(select_documents(found)) == ["docs/a.md"]
    assert [f.prefix for f in found if isinstance(f, UnreadableFolder)] == ["docs/hr/"]
    assert "hr: cannot be read (Permission denied)" in select_faults(found)[0]


@pytest.mark.parametrize("name", ["missing", "file.md"])
def test_a_root_that_is_no_folder_is_unseen(tmp_path: Path, name: str) -> None:
    write_files(tmp_path, {"file.md": "x"})
    (found,) = scan_folder(tmp_path / name)
    assert isinstance(found, UnreadableFolder)
    assert found.prefix == "docs/"


def test_an_empty_root_is_told_from_an_unreadable_one(tmp_path: Path) -> None:
    (found,) = scan_folder(tmp_path)
    assert isinstance(found, EmptySource)


def test_hidden_files_are_passed_over_and_unknown_formats_counted(tmp_path: Path) -> None:
    write_files(tmp_path, {
        ".access.yaml": PUBLIC, "a.MD": "a", ".git/b.md": "b", ".c.md": "c", "d.pdf": "d", "e.pdf": "e",
    })  # fmt: skip
    found = scan_folder(tmp_path)
    assert list(select_documents(found)) == ["docs/a.MD"]
    assert select_faults(found) == [
        f"{tmp_path}/**/*.pdf: 2 not read: formats are .md .markdown .txt .html .htm"
    ]


def test_a_predecessor_that_is_not_there_is_a_remark_only(tmp_path: Path) -> None:
    write_files(
        tmp_path,
        {
            "a.md": f"---\n{PUBLIC}supersedes: gone.md\n---\na",
            "b/c.md": f"---\n{PUBLIC}supersedes: a.md\n---\nc",
        },
    )
    found = scan_folder(tmp_path)
    assert select_documents(found)["docs/b/c.md"].supersedes == "docs/a.md"
    assert select_documents(found)["docs/a.md"].supersedes == "docs/gone.md"
    assert [fault.split(": name")[0] for fault in select_faults(found)] == [
        f"{tmp_path}/a.md: supersedes gone.md, which is not there"
    ]


def test_the_address_is_made_of_the_base_where_none_is_stated(tmp_path: Path) -> None:
    write_files(tmp_path, {".access.yaml": PUBLIC, "a b/é.md": "a"})
    (one,) = select_documents(scan_folder(tmp_path, url_base="https://x.example/")).values()
    assert one.url == "https://x.example/a%20b/%C3%A9.md"


@pytest.mark.parametrize(
    "moment", ["valid_from: 9999-12-31T23:59:59-14:00", "valid_to: 0001-01-01T00:00:00+14:00"]
)
def test_a_moment_beyond_the_calendar_hides_its_file_and_no_other(tmp_path: Path, moment: str) -> None:
    write_files(tmp_path, {".access.yaml": PUBLIC, "a.md": f"---\n{moment}\n---\nText.", "b.md": "Text."})
    found = scan_folder(tmp_path)
    assert list(select_documents(found)) == ["docs/b.md"]
    assert "is no date of the calendar" in select_faults(found)[0]


def test_a_name_that_is_not_utf8_is_said_and_stops_no_other_file(tmp_path: Path) -> None:
    write_files(tmp_path, {".access.yaml": PUBLIC, "b.md": "Text."})
    for name in ("caf\udce9.md", "odd\udcff.xyz"):
        (tmp_path / name).write_text("Text.", "utf-8")
    (tmp_path / "caf\udce9").mkdir()
    found = scan_folder(tmp_path)
    assert list(select_documents(found)) == ["docs/b.md"]
    assert (
        len([fault for fault in select_faults(found) if "not UTF-8: rename it" in fault and fault.isascii()])
        == 3
    )


def test_a_file_that_breaks_its_reader_hides_itself_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_or_break(path: str, text: str) -> DocumentContent:
        if path == "a.md":
            raise AssertionError("a fault of the reader")
        return read_content(path, text)

    monkeypatch.setattr("indexes.sources.folder.read_content", read_or_break)
    write_files(tmp_path, {".access.yaml": PUBLIC, "a.md": "Text.", "b.md": "Text."})
    found = scan_folder(tmp_path)
    assert list(select_documents(found)) == ["docs/b.md"]
    assert "a.md: cannot be read (AssertionError)" in select_faults(found)[0]
