"""Server-sent events: bytes in any cuts → events. Lines end at CR, LF and CRLF only, never at U+2028."""

from dataclasses import dataclass

EVENT_BYTES_MAX = 1_000_000  # an event is a few hundred bytes; one that never ends must not fill the memory

_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Event:
    """One event. `name` is "" unless the stream said `event:`; ids, retries and comments are dropped."""

    data: str
    name: str = ""


class Decoder:
    """Feed it reads; it gives whole events. An event that the stream's end cut off is dropped."""

    def __init__(self) -> None:
        self.fault = ""
        """What is wrong with the stream: no UTF-8, or an event larger than `EVENT_BYTES_MAX`. Final."""
        self._line = bytearray()
        self._data: list[str] = []
        self._bytes = 0
        self._name = ""
        self._first = True
        self._after_cr = False

    def feed(self, read: bytes) -> list[Event]:
        """The events that `read` completes; none any more after a fault."""
        events: list[Event] = []
        if self._after_cr and read:
            self._after_cr = False
            read = read[1:] if read.startswith(b"\n") else read
        if read.endswith(b"\r"):
            self._after_cr = True
        if b"\r" in read:
            read = read.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        *lines, rest = read.split(b"\n")
        for line in lines:
            if self._line:
                line = bytes(self._line) + line
                self._line.clear()
                self._measure(len(line))
            self._take(line, events)
            if self.fault:
                return events
        self._line += rest
        self._measure(len(self._line))
        return events

    def finish(self) -> list[Event]:
        """At the stream's end: a bare `[DONE]` without its blank line still counts, all else is dropped."""
        if self._line:
            bare = not self._data and self._line.replace(b" ", b"") == b"data:[DONE]"
        else:
            bare = self._data == ["[DONE]"]
        return [Event("[DONE]")] if bare else []

    def _take(self, line: bytes, events: list[Event]) -> None:
        if self._first:
            self._first = False
            line = line.removeprefix(_BOM)
        if line:
            self._field(line)
            return
        if self._data:
            events.append(Event("\n".join(self._data), self._name))
        self._data, self._name, self._bytes = [], "", 0

    def _field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        if name not in (b"data", b"event", b"error"):
            return
        self._bytes += len(line)
        self._measure(self._bytes)
        try:
            text = value.removeprefix(b" ").decode("utf-8")
        except UnicodeDecodeError:
            self.fault = "invalid UTF-8"
            return
        if name == b"event":
            self._name = text
            return
        if name == b"error":  # old llama.cpp servers say it as a field of its own
            self._name = "error"
        self._data.append(text)

    def _measure(self, size: int) -> None:
        if size > EVENT_BYTES_MAX:
            self.fault = f"an event of more than {EVENT_BYTES_MAX} bytes"
