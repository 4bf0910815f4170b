"""Progress goes to standard error: bars where someone watches, else one line a step."""

import sys

import pytest

from indexes.progress import show_progress


def test_without_a_terminal_each_step_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with show_progress() as progress:
        for step, done in (("loading", 0.1), ("loading", 0.9), ("converting", 0.5)):
            progress(step, done)
    told = capsys.readouterr()
    assert told.err.splitlines() == ["loading …", "converting …"]
    assert told.out == ""


def test_on_a_terminal_a_new_step_ends_the_ones_before(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    with show_progress() as progress:
        progress("loading", 0.4)
        progress("converting", 0.5)
    last = {line.split()[0]: line for line in capsys.readouterr().err.splitlines() if "ing " in line}
    assert "100%" in next(line for line in last.values() if "loading" in line)
    assert "50%" in next(line for line in last.values() if "converting" in line)
