"""observe.metrics: what a scrape gets adds up."""

import pytest

from proxy.domain.types import Decision
from proxy.observe.metrics import Metrics
from tests.proxy.observe.test_decisions import make_trace


def test_a_request_shows_in_every_figure_it_touches() -> None:
    metrics = Metrics()
    metrics.observe_request(make_trace("a"))
    metrics.observe_request(make_trace("b"))
    text = metrics.render()
    assert 'fiador_requests_total{decision="stopped",model="m"} 2\n' in text
    assert 'fiador_stopped_total{rule="values"} 2\n' in text
    assert 'fiador_cost_nanousd_total{model="m"} 24\n' in text
    assert 'fiador_request_seconds_bucket{le="0.01"} 2\n' in text
    assert "fiador_request_seconds_sum 0.007" in text


def test_a_refusal_is_no_stop_though_it_names_a_pattern() -> None:
    metrics = Metrics()
    refused = make_trace("a", decision=Decision.REFUSED, topic="terms", rule="how much * charge")
    metrics.observe_request(refused)
    assert 'fiador_refused_total{topic="terms"} 1\n' in metrics.render()
    assert "fiador_stopped_total{" not in metrics.render()


def test_buckets_grow_and_end_in_the_count() -> None:
    metrics = Metrics()
    for seconds in (0.001, 0.3, 0.3, 1_000):
        metrics.observe_duration("fiador_request_seconds", seconds)
    lines = [line for line in metrics.render().splitlines() if line.startswith("fiador_request_seconds_b")]
    counts = [int(line.split()[-1]) for line in lines]
    assert counts == sorted(counts)
    assert (counts[0], counts[-1]) == (1, 4)


def test_labels_cannot_break_a_line() -> None:
    metrics = Metrics()
    metrics.increment_counter("fiador_errors_total", code='a"b\\c\nd')
    assert 'fiador_errors_total{code="a\\"b\\\\c\\nd"} 1\n' in metrics.render()


def test_a_gauge_is_read_at_each_scrape() -> None:
    metrics, values = Metrics(), iter([1, 2])
    metrics.register_gauge("fiador_streams", "Streams open now.", lambda: next(values))
    assert "fiador_streams 1\n" in metrics.render()
    assert "fiador_streams 2\n" in metrics.render()


def test_a_count_that_another_part_keeps_is_shown_as_one() -> None:
    metrics = Metrics()
    metrics.register_counter("fiador_lost_total", "Rows lost.", lambda: 3)
    assert "# TYPE fiador_lost_total counter\nfiador_lost_total 3\n" in metrics.render()


def test_a_counter_that_is_not_listed_is_a_fault() -> None:
    with pytest.raises(KeyError):
        Metrics().increment_counter("fiador_typo_total")
