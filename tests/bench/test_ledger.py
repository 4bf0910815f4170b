"""bench.ledger: both kinds run and are printed side by side."""

import pytest

from bench import ledger


def test_the_table_has_both_kinds_at_one_and_at_sixty_four(capsys: pytest.CaptureFixture[str]) -> None:
    assert ledger.run(["--seconds", "0.1", "--rounds", "1"]) == 0
    rows = [line.split("|")[1:3] for line in capsys.readouterr().out.splitlines()[2:]]
    assert [[cell.strip() for cell in row] for row in rows] == [
        ["plain commits", "1"],
        ["ledger", "1"],
        ["plain commits", "64"],
        ["ledger", "64"],
    ]
