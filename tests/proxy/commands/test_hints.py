"""proxy.commands: what a command says where a newcomer's first mistakes lie."""

import json
from pathlib import Path

import pytest

from tests.proxy.deployment import QUESTION, run_fiador


def replace_in_file(config: Path, old: str, new: str) -> None:
    text = config.read_text("utf-8")
    assert old in text
    config.write_text(text.replace(old, new), "utf-8")


def test_a_model_that_cannot_be_reached_is_told_with_the_cause(config: Path) -> None:
    run_fiador(config, "sync")
    done = run_fiador(config, "ask", QUESTION)
    assert done.exit_code == 1
    assert "127.0.0.1" in done.stderr


def test_a_model_that_cannot_be_reached_is_explained_to_people_and_programs(config: Path) -> None:
    run_fiador(config, "sync")
    told = run_fiador(config, "ask", QUESTION, "--explain").stdout
    assert "upstream_failed" in told
    assert "hours.md" in told
    assert json.loads(run_fiador(config, "ask", QUESTION, "--json").stdout)["trace"]["best"] > 0.35


@pytest.mark.parametrize(("mode", "warned"), [("open", True), ("keys", False)])
def test_a_key_that_nobody_looks_at_comes_with_a_warning(config: Path, mode: str, warned: bool) -> None:
    replace_in_file(config, 'mode = "keys"', f'mode = "{mode}"')
    done = run_fiador(config, "keys", "create", "ada")
    assert done.stdout.startswith("fiador_")
    assert ('auth.mode is "open"' in done.stderr) is warned


@pytest.mark.parametrize("prompt", [None, b"\xff"])
def test_a_prompt_that_cannot_be_read_is_named_by_its_setting(config: Path, prompt: bytes | None) -> None:
    replace_in_file(config, "[assistants.help]", '[assistants.help]\nprompt = "mine.md"')
    if prompt is not None:
        (config.parent / "mine.md").write_bytes(prompt)
    done = run_fiador(config, "check")
    assert done.exit_code == 2
    assert done.output.startswith("assistants.help.prompt: want a file of UTF-8 text, got ")


def test_a_backup_into_a_folder_that_is_none_names_the_folder(config: Path) -> None:
    run_fiador(config, "sync")
    done = run_fiador(config, "backup", str(config.parent / "none" / "file"))
    assert (done.exit_code, done.output) == (2, f"{config.parent / 'none'}: want a folder, got none\n")


def test_a_kind_of_record_that_no_question_asks_for_is_a_warning(config: Path) -> None:
    replace_in_file(config, "[models.help]", '[records.cv]\npath = "cv.yaml"\n[models.help]')
    book = "allowed_groups: [public]\nrecords:\n- {kind: job, title: A, text: a}\n"
    (config.parent / "cv.yaml").write_text(f"{book}- {{kind: career, title: B, text: b}}\n")
    assert run_fiador(config, "sync").exit_code == 0
    told = " ".join(run_fiador(config, "check").output.split())
    assert "records.cv: no question asks for the kind `job`" in told
    assert "kind `career`" not in told
