"""The shipped sets and the sample corpus fit each other: every source named exists, every language talks."""

from collections import Counter
from pathlib import Path

import pytest
import yaml

from golden.cases import GoldenCase, load_cases
from indexes.sources.folder import DocumentFolder
from indexes.text.folding import fold_text
from indexes.types import Document
from proxy.settings import lock
from proxy.settings.languages import LANGUAGE_TAGS
from proxy.settings.load import load_settings as settings
from proxy.settings.tree import FolderSourceSettings
from proxy.upstream.scripted import read_script

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "config" / "sample"
CASES = load_cases([ROOT / "golden" / "sets"])
SETTINGS = settings(SAMPLE / "fiador.toml")


def list_folder_sources() -> list[tuple[str, FolderSourceSettings]]:
    return [(name, s) for name, s in SETTINGS.sources.items() if isinstance(s, FolderSourceSettings)]


def list_document_ids() -> set[str]:
    """Ids of the sample documents: `SOURCE/PATH`."""
    return {
        f"{name}/{path.relative_to(source.path)}"
        for name, source in list_folder_sources()
        for path in source.path.rglob("*.*")
        if path.name != ".access.yaml"
    }


def test_every_document_can_be_indexed_without_a_remark() -> None:
    found = [f for name, s in list_folder_sources() for f in DocumentFolder(name, s.path, s.url_base).scan()]
    assert [f for f in found if not isinstance(f, Document)] == []
    assert {f.id for f in found if isinstance(f, Document)} == list_document_ids()


def list_record_ids() -> set[str]:
    """Ids of the sample records: `BOOK/ID`."""
    return {
        f"{name}/{record['id']}"
        for name, book in SETTINGS.records.items()
        if book.path
        for record in yaml.safe_load(book.path.read_text("utf-8"))["records"]
    }


def test_every_source_a_case_names_exists() -> None:
    known = list_document_ids() | list_record_ids()
    named = {name: case.location for case in CASES for name in (*case.expect_source, *case.expect_records)}
    assert {name: place for name, place in named.items() if name not in known} == {}


def test_the_shipped_lock_is_of_the_configured_assistants() -> None:
    found = lock.read_lock(SAMPLE / lock.LOCK_FILE_NAME)
    assert found is not None
    assert set(found.assistants) == set(SETTINGS.assistants)


def test_every_case_asks_a_configured_model() -> None:
    assert {case.model for case in CASES} <= set(SETTINGS.models)


def test_every_document_in_use_is_asked_for() -> None:
    asked = {name for case in CASES for name in case.expect_source}
    unasked = {name for name in list_document_ids() if name not in asked}
    assert unasked <= {"quintanar/pages/about.md"}


def test_the_corpus_is_large_and_varied_enough() -> None:
    by_language = Counter(Path(name).parts[1] for name in list_document_ids())
    assert len(list_document_ids()) >= 34
    assert by_language["es"] >= 8
    assert by_language["fa"] >= 6


def test_the_sets_hold_enough_cases_of_every_kind() -> None:
    kinds = Counter(case.expect[0] for case in CASES)
    assert len(CASES) >= 130
    assert min(kinds[kind] for kind in ("answered", "refused", "no_evidence", "records", "stopped")) >= 12


@pytest.mark.parametrize("tag", LANGUAGE_TAGS)
def test_each_language_has_a_conversation_of_four_turns_or_more(tag: str) -> None:
    turns = Counter(case.id.rsplit("/")[0] for case in CASES if case.language == tag and "/" in case.id)
    assert max(turns.values()) >= 4


def is_answered_case(case: GoldenCase) -> bool:
    return case.expect == ("answered",) and not case.script and bool(case.expect_source)


@pytest.mark.parametrize("case", [case for case in CASES if is_answered_case(case)], ids=lambda case: case.id)
def test_what_an_answer_must_contain_stands_in_the_document_named(case: GoldenCase) -> None:
    texts = [
        fold_text((SETTINGS.sources[source].path / path).read_text("utf-8"))  # type: ignore[union-attr]
        for source, path in (name.split("/", 1) for name in case.expect_source)
    ]
    assert all(any(fold_text(wanted) in text for text in texts) for wanted in case.contains)


def test_the_liar_s_script_can_be_played_and_ends_with_a_scene_for_any_question() -> None:
    scenes = read_script(SAMPLE / "lies.jsonl")
    assert scenes[-1].match == "*"
    titles = {line[7:].strip().strip('"') for name in list_document_ids() for line in read_title_lines(name)}
    marked = {part.split("}")[0] for s in scenes for p in s.pieces for part in p.split("{n:")[1:]}
    assert marked <= titles


def test_the_liar_repeats_a_rule_that_the_prompt_really_has() -> None:
    prompt = (ROOT / "config" / "prompts" / "system.md").read_text("utf-8")
    echoes = [piece for case in CASES if case.rule == "echo" for piece in case.script]
    said = ["".join(scene.pieces) for scene in read_script(SAMPLE / "lies.jsonl")]
    rule = "Copy every number, date, time, address and link exactly as the source has it"
    assert rule in prompt
    assert any(rule in text for text in echoes)
    assert any(rule in text for text in said)


def read_title_lines(document: str) -> list[str]:
    source, path = document.split("/", 1)
    text = (SETTINGS.sources[source].path / path).read_text("utf-8")  # type: ignore[union-attr]
    return [line for line in text.splitlines() if line.startswith("title: ")]
