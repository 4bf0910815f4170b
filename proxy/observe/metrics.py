"""Counts and durations of one worker in the Prometheus text format (exposition format 0.0.4)."""

import bisect
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from proxy.domain.trace import Trace
from proxy.domain.types import Decision

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BUCKETS_S = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
COUNTERS = {
    "fiador_requests_total": "Requests by decision and model.",
    "fiador_refused_total": "Refusals of layer 1 by topic.",
    "fiador_stopped_total": "Answers stopped by the gate, by rule.",
    "fiador_sentences_released_total": "Sentences released.",
    "fiador_upstream_calls_total": "Upstream attempts by model.",
    "fiador_tokens_total": "Tokens booked, by direction.",
    "fiador_cost_nanousd_total": "Nano-dollars booked, by model.",
    "fiador_errors_total": "Requests ended by an error, by its code.",
}
HISTOGRAMS = {
    "fiador_request_seconds": "A request from the moment it is let in to its last byte.",
    "fiador_first_sentence_seconds": "From then to the first released sentence.",
    "fiador_first_upstream_seconds": "From then to the first word of the upstream.",
}
TIMING_HISTOGRAMS = {
    "total": "fiador_request_seconds",
    "first_sentence": "fiador_first_sentence_seconds",
    "first_upstream": "fiador_first_upstream_seconds",
}
"""Names in `Trace.timings_ms` that are durations worth a histogram."""


@dataclass(frozen=True, slots=True)
class _MetricReading:
    """A figure that is read at each scrape."""

    kind: str
    help_text: str
    read_value: Callable[[], float]


Labels = tuple[tuple[str, str], ...]


class Metrics:
    """Counters, histograms, and gauges read when asked. Labels come from fixed lists and the settings."""

    def __init__(self) -> None:
        self._counts: dict[str, dict[Labels, float]] = defaultdict(lambda: defaultdict(float))
        self._bucket_counts: dict[str, list[int]] = {name: [0] * (len(BUCKETS_S) + 1) for name in HISTOGRAMS}
        self._sums_s: dict[str, float] = dict.fromkeys(HISTOGRAMS, 0.0)
        self._readings: dict[str, _MetricReading] = {}

    def increment_counter(self, name: str, amount: float = 1, **labels: str) -> None:
        """Adds to one of `COUNTERS`; KeyError for another name."""
        if name not in COUNTERS:
            raise KeyError(name)
        self._counts[name][tuple(sorted(labels.items()))] += amount

    def observe_duration(self, name: str, seconds: float) -> None:
        """Adds a duration to one of `HISTOGRAMS`; KeyError for another name."""
        self._bucket_counts[name][bisect.bisect_left(BUCKETS_S, seconds)] += 1
        self._sums_s[name] += seconds

    def register_gauge(self, name: str, help_text: str, read_value: Callable[[], float]) -> None:
        """A value of another part, read at each scrape, such as the streams open now."""
        self._readings[name] = _MetricReading("gauge", help_text, read_value)

    def register_counter(self, name: str, help_text: str, read_value: Callable[[], float]) -> None:
        """A count that another part keeps, such as the rows that it lost."""
        self._readings[name] = _MetricReading("counter", help_text, read_value)

    def observe_request(self, trace: Trace) -> None:
        """Everything that one finished request shows."""
        self.increment_counter("fiador_requests_total", decision=trace.decision or "", model=trace.model)
        if trace.topic:
            self.increment_counter("fiador_refused_total", topic=trace.topic)
        if trace.decision is Decision.STOPPED:
            self.increment_counter("fiador_stopped_total", rule=trace.rule)
        self.increment_counter("fiador_sentences_released_total", trace.released)
        self.increment_counter("fiador_upstream_calls_total", trace.upstream_calls, model=trace.model)
        self.increment_counter("fiador_tokens_total", trace.input_tokens, direction="input")
        self.increment_counter("fiador_tokens_total", trace.output_tokens, direction="output")
        self.increment_counter("fiador_cost_nanousd_total", trace.cost_nanousd, model=trace.model)
        for timing, name in TIMING_HISTOGRAMS.items():
            if timing in trace.timings_ms:
                self.observe_duration(name, trace.timings_ms[timing] / 1000)

    def render(self) -> str:
        """The text that a scrape gets."""
        lines = [*self._render_counters(), *self._render_histograms(), *self._render_readings()]
        return "\n".join(lines) + "\n"

    def _render_counters(self) -> Iterable[str]:
        for name, text in COUNTERS.items():
            yield from _format_metric_header(name, text, "counter")
            for labels, value in sorted(self._counts[name].items()):
                yield f"{name}{_format_metric_labels(dict(labels))} {value:.17g}"

    def _render_histograms(self) -> Iterable[str]:
        for name, text in HISTOGRAMS.items():
            yield from _format_metric_header(name, text, "histogram")
            total = 0
            for edge, hits in zip((*map(str, BUCKETS_S), "+Inf"), self._bucket_counts[name], strict=True):
                total += hits
                yield f'{name}_bucket{{le="{edge}"}} {total}'
            yield f"{name}_sum {self._sums_s[name]:.17g}"
            yield f"{name}_count {total}"

    def _render_readings(self) -> Iterable[str]:
        for name, reading in self._readings.items():
            yield from _format_metric_header(name, reading.help_text, reading.kind)
            yield f"{name} {reading.read_value():.17g}"


def _format_metric_header(name: str, text: str, kind: str) -> list[str]:
    return [f"# HELP {name} {text}", f"# TYPE {name} {kind}"]


def _format_metric_labels(labels: Mapping[str, str]) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escape_label_value(value)}"' for name, value in labels.items()) + "}"


def _escape_label_value(value: str) -> str:
    return value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")
