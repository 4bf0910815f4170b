"""`bench search` measures what it says, at a size that takes a second."""

import pytest

from bench import search


def test_every_size_share_and_kind_has_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert search.run(["--passages", "200", "--queries", "2"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| 200 |")]
    assert [line.split(" | ")[1:3] for line in lines] == [
        [f"{share} %", what] for what in ("vectors", "keywords", "both, checked") for share in (1, 10, 100)
    ]
