"""Bytes of an upstream's reply, in any cuts → what it says; the part that all protocols share."""

import json
from collections.abc import Callable, Iterable
from typing import Protocol

import orjson

from proxy.domain.types import Usage
from proxy.wire.sse import SseDecoder
from proxy.wire.surrogates import SurrogateJoiner
from proxy.wire.thinking import ThinkingSplitter
from proxy.wire.upstream_events import (
    AnswerFinish,
    AnswerText,
    DialectEvent,
    DoneSignal,
    EndKind,
    FinishReason,
    ResponseEnd,
    ThoughtText,
    UpstreamFailure,
)

BODY_BYTES_MAX = 4_000_000  # of a reply in one JSON piece

UpstreamEvent = AnswerText | ThoughtText | Usage


class Dialect(Protocol):
    """One protocol: what one event, or one whole body, says. One object a reply, so it may remember.

    Text goes before the finish that ends it: what comes behind `AnswerFinish` is no text any more. A `Usage`
    is the whole so far, thoughts counted as output; the last one counts, they are never added up.
    """

    def read_event(self, name: str, value: object) -> Iterable[DialectEvent]:
        """`value` is the parsed data of an event."""
        ...

    def read_body(self, value: object) -> Iterable[DialectEvent]:
        """`value` is the parsed body of a reply that does not stream."""
        ...


class ResponseReader:
    """`feed` reads until `end` is set; then `finish` when the body is over. Holds no more than one event.

    After the first finish reason `is_finished` is true: only usage is still read, until `[DONE]` or the end.
    """

    def __init__(self, dialect: Dialect, content_type: str = "text/event-stream"):
        self._dialect = dialect
        self._reason: FinishReason | None = None
        self._surrogate_joiner = SurrogateJoiner()
        self._thinking_splitter = ThinkingSplitter()
        self.has_output = False
        """Whether it has said anything at all: then it has worked, and charges."""
        self.end: ResponseEnd | None = None
        self._feed_bytes, self._close_reply = self._choose_handlers(
            content_type.partition(";")[0].strip().lower()
        )

    @property
    def is_finished(self) -> bool:
        """Whether the answer's text is complete."""
        return self._reason is not None

    def feed(self, data: bytes) -> list[UpstreamEvent]:
        """What `data` completes; nothing any more once `end` is set."""
        return [] if self.end else self._feed_bytes(data)

    def finish(self) -> list[UpstreamEvent]:
        """The body is over: sets `end`, if it is not set yet."""
        events = [] if self.end else self._close_reply()
        if self.end is None and self.is_finished:
            self._set_end("eof")
        elif self.end is None:
            self._set_end("cut", "no finish reason before the end")
        return events

    def _choose_handlers(
        self, content_type: str
    ) -> tuple[Callable[[bytes], list[UpstreamEvent]], Callable[[], list[UpstreamEvent]]]:
        """What reads the bytes of a reply of this type, and what reads its rest when they are over."""
        if content_type in ("text/event-stream", ""):
            self._decoder = SseDecoder()
            return self._feed_events, self._close_events
        if content_type == "application/json":
            self._body = bytearray()
            return self._feed_body, self._close_body
        self._set_end("malformed", f"content type {content_type[:60]}")
        return lambda data: [], list

    def _feed_events(self, data: bytes) -> list[UpstreamEvent]:
        events: list[UpstreamEvent] = []
        for event in self._decoder.feed(data):
            self._read_event(event.name, event.data, events)
        if self._decoder.fault and not self.end:
            self._set_end("malformed", self._decoder.fault)
        return events

    def _close_events(self) -> list[UpstreamEvent]:
        events: list[UpstreamEvent] = []
        for event in self._decoder.finish():
            self._read_event(event.name, event.data, events)
        return events

    def _read_event(self, name: str, data: str, events: list[UpstreamEvent]) -> None:
        if data.strip() == "[DONE]":
            self._apply_events([DoneSignal()], events)
        elif data and not data.startswith(":"):  # some gateways pass a comment on as data
            value = _parse_data(data)
            self._apply_events(
                [value] if isinstance(value, UpstreamFailure) else self._dialect.read_event(name, value),
                events,
            )

    def _feed_body(self, data: bytes) -> list[UpstreamEvent]:
        self._body += data
        if len(self._body) > BODY_BYTES_MAX:
            self._set_end("malformed", f"a body of more than {BODY_BYTES_MAX} bytes")
        return []

    def _close_body(self) -> list[UpstreamEvent]:
        events: list[UpstreamEvent] = []
        try:
            value = _parse_data(self._body.decode("utf-8-sig"))
        except UnicodeDecodeError:
            value = UpstreamFailure("invalid UTF-8", is_malformed=True)
        self._apply_events(
            [value] if isinstance(value, UpstreamFailure) else self._dialect.read_body(value), events
        )
        return events

    def _apply_events(self, dialect_events: Iterable[DialectEvent], events: list[UpstreamEvent]) -> None:
        for item in dialect_events:
            if self.end:
                return
            if isinstance(item, Usage):
                events.append(item)
            elif isinstance(item, UpstreamFailure):
                self._set_end("malformed" if item.is_malformed else "error", item.detail)
            elif isinstance(item, DoneSignal):
                self._set_end(
                    "done" if self.is_finished else "cut", "" if self.is_finished else "no finish reason"
                )
            elif not self.is_finished:
                self._apply_answer_event(item, events)
        self.has_output = self.has_output or bool(events) or self.is_finished

    def _apply_answer_event(
        self, item: AnswerText | ThoughtText | AnswerFinish, events: list[UpstreamEvent]
    ) -> None:
        """What belongs to the answer, as long as it has not finished."""
        if isinstance(item, AnswerText):
            events += self._thinking_splitter.feed(self._surrogate_joiner.feed(item.text))
        elif isinstance(item, ThoughtText):
            events.append(item)
        else:
            events += self._flush_text()
            self._reason = item.reason

    def _flush_text(self) -> list[UpstreamEvent]:
        return [
            *self._thinking_splitter.feed(self._surrogate_joiner.finish()),
            *self._thinking_splitter.finish(),
        ]

    def _set_end(self, kind: EndKind, detail: str = "") -> None:
        self.end = ResponseEnd(self._reason, kind, detail)


def _parse_data(data: str) -> object:
    """The value in `data`, or an `UpstreamFailure`.

    orjson is four times faster than json but refuses half surrogate pairs.
    """
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        pass
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as fault:
        return UpstreamFailure(f"not JSON: {fault}", is_malformed=True)
