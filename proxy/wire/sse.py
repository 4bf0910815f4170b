"""Server-sent events: bytes in any cuts → events. Lines end at CR, LF and CRLF only, never at U+2028."""

from dataclasses import dataclass

EVENT_BYTES_MAX = 1_000_000  # an event is a few hundred bytes; one that never ends must not fill the memory

_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class SseEvent:
    """One event. `name` is "" unless the stream said `event:`; ids, retries and comments are dropped."""

    data: str
    name: str = ""


class SseDecoder:
    """Bytes in, whole events out. An event that the stream's end cut off is dropped."""

    def __init__(self) -> None:
        self.fault = ""
        """What is wrong with the stream: no UTF-8, or an event larger than `EVENT_BYTES_MAX`. Final."""
        self._line = bytearray()
        self._data: list[str] = []
        self._event_bytes = 0
        self._name = ""
        self._is_first_line = True
        self._after_cr = False

    def feed(self, data: bytes) -> list[SseEvent]:
        """The events that `data` completes, up to the first fault."""
        events: list[SseEvent] = []
        if self._after_cr and data:  # a CRLF that was cut in two is one line end
            self._after_cr = False
            data = data[1:] if data.startswith(b"\n") else data
        if data.endswith(b"\r"):
            self._after_cr = True
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        *lines, rest = data.split(b"\n")
        for line in lines:
            if self._line:
                line = bytes(self._line) + line
                self._line.clear()
                self._check_size(len(line))
            self._process_line(line, events)
            if self.fault:
                return events
        self._line += rest
        self._check_size(len(self._line))
        return events

    def finish(self) -> list[SseEvent]:
        """At the stream's end: a bare `[DONE]` without its blank line still counts, all else is dropped."""
        if self._line:
            is_done = not self._data and self._line.replace(b" ", b"") == b"data:[DONE]"
        else:
            is_done = self._data == ["[DONE]"]
        return [SseEvent("[DONE]")] if is_done else []

    def _process_line(self, line: bytes, events: list[SseEvent]) -> None:
        if self._is_first_line:
            self._is_first_line = False
            line = line.removeprefix(_BOM)
        if line:
            self._process_field(line)
            return
        if self._data:
            events.append(SseEvent("\n".join(self._data), self._name))
        self._data, self._name, self._event_bytes = [], "", 0

    def _process_field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        if name not in (b"data", b"event", b"error"):
            return
        self._event_bytes += len(line)
        self._check_size(self._event_bytes)
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

    def _check_size(self, size: int) -> None:
        if size > EVENT_BYTES_MAX:
            self.fault = f"an event of more than {EVENT_BYTES_MAX} bytes"
