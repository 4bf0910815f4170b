"""proxy.commands: how a command ends that something outside cuts, and what `serve` and `calibrate` refuse."""

import errno
import os
import socket
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from proxy.commands.root import EXIT_CLOSED_PIPE, EXIT_INTERRUPTED, RootGroup, main
from proxy.settings import lock

CASES = """
defaults: {model: quoting}
cases:
  - id: hours
    question: When does the reading room open?
    expect: answered
    expect_source: handbook/hours.md
  - {id: capital, question: "What is the capital of Mongolia?", expect: no_evidence}
"""


@pytest.fixture(name="config")
def _write_cases(config: Path) -> Path:
    (config.parent / "cases.yaml").write_text(CASES, "utf-8")
    return config


def run_failing_command(fault: BaseException) -> tuple[int, str]:
    """Exit code and output of a command that raises `fault`."""

    @click.group(cls=RootGroup)
    def group() -> None: ...

    @group.command()
    def fail() -> None:
        raise fault

    done = CliRunner().invoke(group, ["fail"])
    return done.exit_code, done.output


def test_ctrl_c_ends_without_a_traceback_and_as_no_failed_check() -> None:
    assert run_failing_command(KeyboardInterrupt()) == (EXIT_INTERRUPTED, "Interrupted.\n")


def test_a_file_that_cannot_be_used_is_named() -> None:
    fault = OSError(errno.ENOSPC, "No space left on device", "/data/picture.svg")
    assert run_failing_command(fault) == (2, "/data/picture.svg: No space left on device\n")


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_reader_that_leaves_ends_a_command_quietly(config: Path, form: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "proxy.commands", "--config", str(config), "decisions", *form]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (EXIT_CLOSED_PIPE, b"")


@pytest.mark.parametrize("wrong", ["99999", "-1", "http"])
def test_a_port_that_is_none_is_bad_input(config: Path, wrong: str) -> None:
    assert CliRunner().invoke(main, ["-c", str(config), "serve", f"--port={wrong}"]).exit_code == 2


def test_a_port_in_use_is_named_before_anything_is_loaded(config: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = CliRunner().invoke(main, ["-c", str(config), "serve", "--port", str(port)])
    assert done.exit_code == 2
    assert f"cannot listen on 127.0.0.1:{port}: Address already in use" in done.output
    assert not (config.parent / "data").exists()


def test_calibrate_writes_no_lock_of_keywords_where_vectors_are_meant(config: Path) -> None:
    meant = config.read_text("utf-8").replace('model = "off"', 'model = "nowhere"')
    config.write_text(meant, "utf-8")
    cases = str(config.parent / "cases.yaml")
    done = CliRunner().invoke(main, ["-c", str(config), "calibrate", cases, "--write"])
    assert done.exit_code == 2
    assert "nowhere: model.onnx" in done.output
    assert not (config.parent / lock.LOCK_FILE_NAME).exists()


def test_calibrate_with_nothing_to_compare_is_no_success(config: Path) -> None:
    cases = config.parent / "cases.yaml"
    cases.write_text(CASES.partition("    expect_source")[0], "utf-8")
    done = CliRunner().invoke(main, ["-c", str(config), "calibrate", str(cases)])
    assert (done.exit_code, "nothing to separate" in done.output) == (1, True)


def test_calibrate_writes_a_lock_of_keywords_where_they_are_chosen(config: Path) -> None:
    cases = str(config.parent / "cases.yaml")
    done = CliRunner().invoke(main, ["-c", str(config), "calibrate", cases, "--write"])
    assert done.exit_code == 0, done.output
    assert f"written: {config.parent / lock.LOCK_FILE_NAME}" in done.output
    assert "is not used" not in CliRunner().invoke(main, ["-c", str(config), "check"]).output
