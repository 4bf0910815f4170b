"""observe.decisions: a row a request, beside its path, and never a reason to fail."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from proxy.domain.errors import StoreError
from proxy.domain.trace import Trace
from proxy.domain.types import Caller, Decision, Layer
from proxy.observe.decisions import DAY_S, PRUNE_EVERY_ROWS, SqliteDecisionLog
from tests.waiting import wait_until

ALICE = Caller("k1", "alice", frozenset({"staff", "public"}), address="1.2.3.4")


def make_trace(id: str, **changes: object) -> Trace:
    full = Trace(
        id,
        ALICE,
        "m",
        "What does it cost?",
        started=1_000.0,
        language="en",
        decision=Decision.STOPPED,
        layer=Layer.GATE,
        rule="values",
        best=0.5,
        sources=({"number": 1, "id": "a", "title": "Prices", "similarity": 0.5},),
        offending="It costs 12 euros.",
        looked=(1, 2),
        cost_nanousd=12,
        timings_ms={"total": 3.5},
    )
    return replace(full, **changes)  # type: ignore[arg-type]


async def test_a_trace_comes_back_whole(tmp_path: Path) -> None:
    async with SqliteDecisionLog(tmp_path / "d.db", clock=lambda: 1_000.0) as decisions:
        await decisions.write(make_trace("a"))
        assert await decisions.read_trace("a") == make_trace("a")
        assert await decisions.read_trace("b") is None


async def test_questions_are_kept_only_where_that_is_allowed(tmp_path: Path) -> None:
    async with SqliteDecisionLog(tmp_path / "d.db", keep_questions=False, clock=lambda: 1_000.0) as decisions:
        await decisions.write(make_trace("a"))
        assert await decisions.read_trace("a") == make_trace("a", question="", offending="")


async def test_the_last_ones_come_newest_first_by_key_and_decision(tmp_path: Path) -> None:
    async with SqliteDecisionLog(tmp_path / "d.db", clock=lambda: 1_000.0) as decisions:
        for number in range(5):
            await decisions.write(make_trace(f"a{number}", started=1_000.0 + number))
        await decisions.write(
            make_trace("b", caller=Caller("k2", "bob", frozenset()), decision=Decision.LEFT)
        )
        assert [row.id for row in await decisions.list_recent_traces(2)] == ["a4", "a3"]
        assert [row.id for row in await decisions.list_recent_traces(9, key_id="k2")] == ["b"]
        assert [row.id for row in await decisions.list_recent_traces(9, decision=Decision.LEFT)] == ["b"]
        assert await decisions.list_recent_traces(9, key_id="k1", decision=Decision.LEFT) == []


async def test_old_rows_go(tmp_path: Path) -> None:
    async with SqliteDecisionLog(tmp_path / "d.db", clock=lambda: 1_000.0) as decisions:
        await decisions.write(make_trace("a"))
    later = 1_000.0 + 91 * DAY_S
    async with SqliteDecisionLog(tmp_path / "d.db", clock=lambda: later) as decisions:
        assert await decisions.list_recent_traces(9) == []


async def test_old_rows_go_also_while_the_server_runs(tmp_path: Path) -> None:
    now = [1_000.0]
    async with SqliteDecisionLog(tmp_path / "d.db", clock=lambda: now[0]) as decisions:
        await decisions.write(make_trace("old"))
        now[0] += 91 * DAY_S
        for number in range(PRUNE_EVERY_ROWS):
            await decisions.write(make_trace(f"a{number}", started=now[0]))

        async def is_pruned() -> bool:
            return await decisions.read_trace("old") is None

        await wait_until(is_pruned)
        assert await decisions.read_trace("a0") is not None


async def test_rows_that_wait_are_written_on_closing(tmp_path: Path) -> None:
    async with SqliteDecisionLog(tmp_path / "d.db", clock=lambda: 1_000.0) as decisions:
        await asyncio.gather(*(decisions.write(make_trace(f"a{number}")) for number in range(500)))
    async with SqliteDecisionLog(tmp_path / "d.db", clock=lambda: 1_000.0) as decisions:
        assert len(await decisions.list_recent_traces(1_000)) == 500


async def test_what_cannot_be_written_is_counted_and_raises_nothing(tmp_path: Path) -> None:
    decisions = SqliteDecisionLog(tmp_path / "d.db", clock=lambda: 1_000.0)
    await decisions.write(make_trace("too early"))
    await asyncio.sleep(0)
    assert decisions.lost_count == 1
    async with decisions:
        await decisions.write(make_trace("odd", question="\ud800", sources=[{"score": object()}]))
        assert await decisions.read_trace("odd") is not None
        await decisions.write(make_trace(None))  # type: ignore[arg-type]
        await decisions.write(None)  # type: ignore[arg-type]
        assert len(await decisions.list_recent_traces(9)) == 1
        assert decisions.lost_count == 3


async def test_a_file_that_is_no_database_says_so(tmp_path: Path) -> None:
    (tmp_path / "d.db").write_bytes(b"not a database, " * 100)
    with pytest.raises(StoreError, match="cannot be opened"):
        async with SqliteDecisionLog(tmp_path / "d.db"):
            pass
