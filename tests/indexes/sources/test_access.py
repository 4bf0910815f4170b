"""Who may see a file: what its folder's rules allow, and what its own front matter makes of it."""

from pathlib import Path

import pytest

from indexes.sources.types import AccessDoubt
from tests.indexes.sample_evidence import make_access
from tests.indexes.sources.folder_scans import (
    PUBLIC,
    scan_folder,
    scan_for_fault,
    select_documents,
    select_faults,
    write_files,
)


def test_a_file_without_any_statement_is_not_indexed(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.md": "# Hello"})
    assert "a.md: states no allowed_groups, nor does a .access.yaml" in scan_for_fault(tmp_path)


def test_the_nearest_access_file_counts_alone(tmp_path: Path) -> None:
    write_files(tmp_path, {
        ".access.yaml": PUBLIC,
        "a.md": "a",
        "hr/.access.yaml": "allowed_groups: [hr]\n",
        "hr/deep/b.md": "b",
    })  # fmt: skip
    found = select_documents(scan_folder(tmp_path))
    assert found["docs/a.md"].access == make_access("public")
    assert found["docs/hr/deep/b.md"].access == make_access("hr")


def test_the_first_rule_that_matches_holds_over_what_the_file_says_for_all(tmp_path: Path) -> None:
    rules = (
        "allowed_groups: [public]\nvalid_to: 2030-01-01\nlanguage: fa\nrules:\n"
        "- {path: 'hr/pay/**', allowed_groups: [boss]}\n- {path: hr/, allowed_groups: [hr]}\n"
        "- {path: '*.secret.md', allowed_groups: [boss]}\n- {path: 'x?.md', allowed_groups: [x]}\n"
    )
    write_files(tmp_path, {".access.yaml": rules})
    names = ["a.md", "hr/b.md", "hr/pay/c.md", "deep/d.secret.md", "xy.md", "deep/x/y.md"]
    write_files(tmp_path, dict.fromkeys(names, "text"))
    found = select_documents(scan_folder(tmp_path))
    groups = [next(iter(found[f"docs/{name}"].access.groups)) for name in names]
    assert groups == ["public", "hr", "boss", "boss", "x", "public"]
    assert {one.language for one in found.values()} == {"fa"}
    assert all(one.access.valid_to is not None for one in found.values())


def test_an_access_file_that_does_not_cover_a_file_shows_it_to_nobody(tmp_path: Path) -> None:
    """Even if the file itself would allow a group: that would be wider than nobody."""
    write_files(tmp_path, {
        ".access.yaml": "rules: [{path: hr/**, allowed_groups: [hr]}]",
        "hr/a.md": "a",
        "b.md": f"---\n{PUBLIC}---\nb",
    })  # fmt: skip
    found = scan_folder(tmp_path)
    assert list(select_documents(found)) == ["docs/hr/a.md"]
    assert "adds groups that .access.yaml does not allow: public" in select_faults(found)[0]


@pytest.mark.parametrize(
    ("front", "said"),
    [
        ("allowed_groups: [public, hr]", "adds groups"),
        ("valid_from: 2025-01-01", "begins before"),
        ("valid_to: 2031-01-01", "ends after"),
        ("valid_from: 2030-01-01", "is not after valid_from"),
    ],
)
def test_front_matter_may_only_narrow(tmp_path: Path, front: str, said: str) -> None:
    folder = "allowed_groups: [public, staff]\nvalid_from: 2026-01-01\nvalid_to: 2030-01-01\n"
    write_files(tmp_path, {".access.yaml": folder, "a.md": f"---\n{front}\n---\na"})
    assert said in scan_for_fault(tmp_path)
    write_files(tmp_path, {"a.md": "---\nallowed_groups: [staff]\nvalid_from: 2027-01-01\n---\na"})
    assert select_documents(scan_folder(tmp_path))["docs/a.md"].access.groups == {"staff"}


def test_front_matter_widens_only_where_the_operator_says_so(tmp_path: Path) -> None:
    write_files(tmp_path, {".access.yaml": PUBLIC, "a.md": "---\nallowed_groups: [hr]\n---\na"})
    assert select_documents(scan_folder(tmp_path)) == {}
    assert select_documents(scan_folder(tmp_path, may_widen=True))["docs/a.md"].access == make_access("hr")


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ("", "is empty"),
        ("allowed_group: [x]", "did you mean `allowed_groups`?"),
        ("rules: [{allowed_groups: [x]}]", "needs a `path`"),
        ("rules: [{path: x, groups: [x]}]", "unknown key `groups`"),
        ("allowed_groups: [on]", "got a boolean (on)"),
    ],
)
def test_a_broken_access_file_hides_all_below_it_and_is_said_once(
    tmp_path: Path, rules: str, said: str
) -> None:
    write_files(tmp_path, {".access.yaml": rules, "a.md": "a", "b/c.md": f"---\n{PUBLIC}---\nc"})
    found = scan_folder(tmp_path)
    assert {f.id for f in found if isinstance(f, AccessDoubt)} == {"docs/a.md", "docs/b/c.md"}
    assert said in scan_for_fault(tmp_path)


def test_a_rule_that_matches_nothing_is_said(tmp_path: Path) -> None:
    """It may be misspelt, and then what it should protect is under the looser rule."""
    write_files(tmp_path, {
        ".access.yaml": "allowed_groups: [public]\nrules: [{path: hrr/**, allowed_groups: [hr]}]",
        "hr/a.md": "a",
    })  # fmt: skip
    assert "the rule for hrr/** matches no file" in select_faults(scan_folder(tmp_path))[0]


def test_a_link_inside_carries_the_rules_of_where_the_file_lies(tmp_path: Path) -> None:
    """Whoever can make links in a public folder must not publish what lies in another."""
    write_files(
        tmp_path,
        {".access.yaml": PUBLIC, "a.md": "a", "hr/.access.yaml": "allowed_groups: [hr]\n", "hr/b.md": "b"},
    )
    (tmp_path / "b.md").symlink_to(tmp_path / "hr" / "b.md")
    assert select_documents(scan_folder(tmp_path))["docs/b.md"].access == make_access("hr")
