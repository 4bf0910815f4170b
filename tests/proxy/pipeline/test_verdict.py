"""proxy.pipeline.verdict: every end of an attempt has one decision, one notice and one finish reason."""

import pytest

from proxy.domain.types import Decision, Layer, UpstreamEnd
from proxy.gate.types import GateRule, Stop
from proxy.pipeline.verdict import VerdictContext, judge_attempt


def test_an_attempt_that_ended_by_itself_is_answered() -> None:
    verdict = judge_attempt(None, UpstreamEnd("stop"), VerdictContext())
    assert (verdict.decision, verdict.notice, verdict.finish) == (Decision.ANSWERED, "", "stop")


@pytest.mark.parametrize("finish", ["cut", "failed"])
def test_an_upstream_that_broke_off_never_looks_like_a_clean_end(finish: str) -> None:
    for stop in (None, Stop(GateRule.LENGTH, "truncated")):
        verdict = judge_attempt(stop, UpstreamEnd(finish), VerdictContext())  # type: ignore[arg-type]
        assert (verdict.decision, verdict.notice) == (Decision.UPSTREAM_FAILED, "upstream_failed")


def test_a_sentence_that_failed_stops_in_layer_4_or_5() -> None:
    for rule, layer in ((GateRule.VALUES, Layer.GATE), (GateRule.VOICE, Layer.VOICE)):
        verdict = judge_attempt(Stop(rule, "stopped"), UpstreamEnd("sink_stopped"), VerdictContext())
        assert verdict.layer is layer


def test_the_finish_of_a_stop_is_the_operators_choice() -> None:
    verdict = judge_attempt(
        Stop(GateRule.VALUES, "stopped"),
        UpstreamEnd("sink_stopped"),
        VerdictContext(stop_finish="content_filter"),
    )
    assert verdict.finish == "content_filter"


def test_length_is_told_only_where_the_clients_own_cap_cut() -> None:
    stop = Stop(GateRule.LENGTH, "truncated")
    assert judge_attempt(stop, UpstreamEnd("length"), VerdictContext(is_client_cap=True)).finish == "length"
    assert judge_attempt(stop, UpstreamEnd("length"), VerdictContext()).finish == "stop"


def test_the_fixed_token_is_not_in_sources() -> None:
    verdict = judge_attempt(
        Stop(GateRule.TOKEN, "not_in_sources"), UpstreamEnd("sink_stopped"), VerdictContext()
    )
    assert (verdict.decision, verdict.layer) == (Decision.NOT_IN_SOURCES, "3")


def test_where_nothing_was_released_there_is_no_rest_to_speak_of() -> None:
    stop = Stop(GateRule.VALUES, "stopped")
    end = UpstreamEnd("sink_stopped")
    assert judge_attempt(stop, end, VerdictContext()).notice == "withheld_rest"
    assert judge_attempt(stop, end, VerdictContext(has_released=False)).notice == "withheld_all"
