"""The dialects benchmark passes what is read rightly and fails what is not."""

import base64
import json
from pathlib import Path

import pytest

from bench.quality import dialects
from tests.fake_upstream import make_openai_stream

RIGHT: dict[str, object] = {
    "text": "Ada wrote it.",
    "finish": "stop",
    "usage": {"prompt": 10, "completion": 5, "total": 15},
    "end": "done",
    "error": None,
    "tool_calls": False,
}


def run_with_recording(folder: Path, expect: dict[str, object], *pieces: str) -> int:
    reads = [base64.b64encode(read).decode() for read in make_openai_stream(pieces)]
    row = {"dialect": "openai", "name": "x", "reads": reads, "expect": RIGHT | expect}
    (folder / "openai.jsonl").write_text(json.dumps(row) + "\n", "utf-8")
    return dialects.run(["--data", str(folder), "--decoder-only"])


@pytest.mark.parametrize(
    "expect", [{}, {"text": "other", "text_alt": ["Ada wrote it."]}, {"end": "malformed", "end_alt": ["eof"]}]
)
def test_a_stream_read_rightly_passes(tmp_path: Path, expect: dict[str, object]) -> None:
    assert run_with_recording(tmp_path, expect, "Ada ", "wrote it.") == 0


@pytest.mark.parametrize(
    "expect",
    [{"text": "Ada."}, {"finish": "length"}, {"usage": None}, {"end": "cut"}, {"tool_calls": True}],
)
def test_a_stream_read_otherwise_fails(tmp_path: Path, expect: dict[str, object]) -> None:
    assert run_with_recording(tmp_path, expect, "Ada ", "wrote it.") == 1


def test_a_leak_fails_even_if_it_was_expected(tmp_path: Path) -> None:
    assert run_with_recording(tmp_path, {"text": "LEAK-x"}, "LEAK-x") == 1
