"""observe.recorder: every request counts; of a flood of refused ones few are written down."""

from dataclasses import replace
from pathlib import Path

import pytest

from proxy.domain.types import Decision
from proxy.observe.decisions import SqliteDecisionLog
from proxy.observe.metrics import Metrics
from proxy.observe.recorder import LIMITED_ROW_INTERVAL_S, DecisionRecorder
from tests.proxy.observe.test_decisions import make_trace


async def test_a_flood_of_limited_requests_is_counted_and_not_written_down(tmp_path: Path) -> None:
    metrics, now = Metrics(), [0.0]
    async with SqliteDecisionLog(tmp_path / "d.db", clock=lambda: 1_000.0) as decisions:
        recorder = DecisionRecorder(decisions, metrics, clock=lambda: now[0])
        for number in range(50):
            await recorder.write(make_trace(f"a{number}", decision=Decision.LIMITED))
        await recorder.write(make_trace("b"))
        now[0] += LIMITED_ROW_INTERVAL_S
        await recorder.write(make_trace("c", decision=Decision.LIMITED))
        assert {row.id for row in await decisions.list_recent_traces(99)} == {"a0", "b", "c"}
    assert 'fiador_requests_total{decision="limited",model="m"} 51\n' in metrics.render()


async def test_where_questions_are_not_kept_no_word_of_theirs_is_in_row_or_line(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """An upstream may repeat in its complaint what it was asked."""
    caplog.set_level("INFO", "fiador.request")
    told = make_trace("a", decision=Decision.UPSTREAM_FAILED, detail="HTTP 400: no LEAK", offending="LEAK")
    async with SqliteDecisionLog(tmp_path / "d.db", keep_questions=False, clock=lambda: 1_000.0) as decisions:
        await DecisionRecorder(decisions, Metrics(), keep_questions=False).write(told)
        kept = await decisions.read_trace("a")
    assert kept == replace(told, question="", offending="", detail="HTTP 400")
    assert vars(caplog.records[-1])["fields"]["detail"] == "HTTP 400"
