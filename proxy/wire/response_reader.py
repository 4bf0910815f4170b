"""Bytes of an upstream's reply, in any cuts → what it says; the part that all protocols share."""

import json
from collections.abc import Callable, Iterable
from typing import Protocol

import orjson

from proxy.domain.types import Usage
from proxy.wire.sse import Decoder
from proxy.wire.surrogates import Surrogates
from proxy.wire.thinking import Think
from proxy.wire.upstream_events import Done, End, Failed, Finished, How, Reason, Said, Text, Thought

BODY_BYTES_MAX = 4_000_000  # of a reply in one JSON piece

Heard = Text | Thought | Usage


class Dialect(Protocol):
    """One protocol: what one event, or one whole body, says."""

    def event(self, name: str, value: object) -> Iterable[Said]:
        """`value` is the parsed data of an event."""
        ...

    def whole(self, value: object) -> Iterable[Said]:
        """`value` is the parsed body of a reply that does not stream."""
        ...


class Reader:
    """`feed` reads until `end` is set; then `finish` when the body is over. Holds no more than one event.

    After the first finish reason `finished` is true: only usage is still read, until `[DONE]` or the end.
    """

    def __init__(self, dialect: Dialect, content_type: str = "text/event-stream"):
        self._dialect = dialect
        self._reason: Reason | None = None
        self._surrogates = Surrogates()
        self._think = Think()
        self.heard = False
        """Whether it has said anything at all: then it has worked, and charges."""
        self.end: End | None = None
        self._feed, self._close = self._reading(content_type.partition(";")[0].strip().lower())

    @property
    def finished(self) -> bool:
        """Whether the answer's text is complete."""
        return self._reason is not None

    def feed(self, read: bytes) -> list[Heard]:
        """What `read` completes."""
        return [] if self.end else self._feed(read)

    def finish(self) -> list[Heard]:
        """The body is over: sets `end`, if it is not set yet."""
        heard = [] if self.end else self._close()
        if self.end is None and self.finished:
            self._over("eof")
        elif self.end is None:
            self._over("cut", "no finish reason before the end")
        return heard

    def _reading(self, content_type: str) -> tuple[Callable[[bytes], list[Heard]], Callable[[], list[Heard]]]:
        if content_type in ("text/event-stream", ""):
            self._events = Decoder()
            return self._feed_events, self._close_events
        if content_type == "application/json":
            self._body = bytearray()
            return self._feed_body, self._close_body
        self._over("malformed", f"content type {content_type[:60]}")
        return lambda read: [], list

    def _feed_events(self, read: bytes) -> list[Heard]:
        heard: list[Heard] = []
        for event in self._events.feed(read):
            self._event(event.name, event.data, heard)
        if self._events.fault and not self.end:
            self._over("malformed", self._events.fault)
        return heard

    def _close_events(self) -> list[Heard]:
        heard: list[Heard] = []
        for event in self._events.finish():
            self._event(event.name, event.data, heard)
        return heard

    def _event(self, name: str, data: str, heard: list[Heard]) -> None:
        if data.strip() == "[DONE]":
            self._take([Done()], heard)
        elif data and not data.startswith(":"):  # some gateways pass a comment on as data
            value = _parsed(data)
            self._take([value] if isinstance(value, Failed) else self._dialect.event(name, value), heard)

    def _feed_body(self, read: bytes) -> list[Heard]:
        self._body += read
        if len(self._body) > BODY_BYTES_MAX:
            self._over("malformed", f"a body of more than {BODY_BYTES_MAX} bytes")
        return []

    def _close_body(self) -> list[Heard]:
        heard: list[Heard] = []
        try:
            value = _parsed(self._body.decode("utf-8-sig"))
        except UnicodeDecodeError:
            value = Failed("invalid UTF-8", malformed=True)
        self._take([value] if isinstance(value, Failed) else self._dialect.whole(value), heard)
        return heard

    def _take(self, said: Iterable[Said], heard: list[Heard]) -> None:
        for item in said:
            if self.end:
                return
            if isinstance(item, Usage):
                heard.append(item)
            elif isinstance(item, Failed):
                self._over("malformed" if item.malformed else "error", item.detail)
            elif isinstance(item, Done):
                self._over("done" if self.finished else "cut", "" if self.finished else "no finish reason")
            elif not self.finished:
                self._answer(item, heard)
        self.heard = self.heard or bool(heard) or self.finished

    def _answer(self, item: Text | Thought | Finished, heard: list[Heard]) -> None:
        """What belongs to the answer, as long as it has not finished."""
        if isinstance(item, Text):
            heard += self._think.feed(self._surrogates.feed(item.text))
        elif isinstance(item, Thought):
            heard.append(item)
        else:
            heard += self._rest()
            self._reason = item.reason

    def _rest(self) -> list[Heard]:
        return [*self._think.feed(self._surrogates.finish()), *self._think.finish()]

    def _over(self, how: How, detail: str = "") -> None:
        self.end = End(self._reason, how, detail)


def _parsed(data: str) -> object:
    """The value in `data`, or `Failed`. orjson is four times faster but refuses half surrogate pairs."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        pass
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as fault:
        return Failed(f"not JSON: {fault}", malformed=True)
