"""proxy.pipeline.verdict: every end of an attempt has one decision, one notice and one finish reason."""

import pytest

from proxy.domain.types import Decision, Ending
from proxy.gate.types import Stop
from proxy.pipeline.verdict import Terms, judge


def test_an_attempt_that_ended_by_itself_is_answered() -> None:
    verdict = judge(None, Ending("stop"), Terms())
    assert (verdict.decision, verdict.notice, verdict.finish) == (Decision.ANSWERED, "", "stop")


@pytest.mark.parametrize("finish", ["cut", "failed"])
def test_an_upstream_that_broke_off_never_looks_like_a_clean_end(finish: str) -> None:
    for stop in (None, Stop("length", "truncated")):
        verdict = judge(stop, Ending(finish), Terms())  # type: ignore[arg-type]
        assert (verdict.decision, verdict.notice) == (Decision.UPSTREAM_FAILED, "upstream_failed")


def test_a_sentence_that_failed_stops_in_layer_4_or_5() -> None:
    assert judge(Stop("values", "stopped"), Ending("cancelled"), Terms()).layer == "4"
    assert judge(Stop("voice", "stopped"), Ending("cancelled"), Terms()).layer == "5"


def test_the_finish_of_a_stop_is_the_operators_choice() -> None:
    verdict = judge(Stop("values", "stopped"), Ending("cancelled"), Terms(stop_finish="content_filter"))
    assert verdict.finish == "content_filter"


def test_length_is_told_only_where_the_clients_own_cap_cut() -> None:
    stop = Stop("length", "truncated")
    assert judge(stop, Ending("length"), Terms(own_cap=True)).finish == "length"
    assert judge(stop, Ending("length"), Terms()).finish == "stop"


def test_the_fixed_token_is_not_in_sources() -> None:
    verdict = judge(Stop("token", "not_in_sources"), Ending("cancelled"), Terms())
    assert (verdict.decision, verdict.layer) == (Decision.NOT_IN_SOURCES, "3")


def test_where_nothing_was_released_there_is_no_rest_to_speak_of() -> None:
    stop = Stop("values", "stopped")
    assert judge(stop, Ending("cancelled"), Terms()).notice == "stopped"
    assert judge(stop, Ending("cancelled"), Terms(spoken=False)).notice == "withheld"
