"""The sink of one attempt: upstream text in, gated sentences out to the client, all counted for the bill."""

from collections.abc import Callable
from typing import Literal

from proxy.guards.gate import Gate
from proxy.guards.gate.types import Release, Stop
from proxy.guards.stops import Stops
from proxy.services import Reply, Spent
from proxy.types import Ending, Usage

Finish = Literal["stop", "length", "cut"]


class Releasing:
    """Implements `services.UpstreamSink`. `text` is synchronous: the gate works where the bytes arrive."""

    def __init__(self, gate: Gate, stops: Stops, reply: Reply):
        self._gate = gate
        self._stops = stops
        self._reply = reply
        self._pending = ""
        self._usage = Usage()
        self._received_bytes = 0
        self.released: list[Release] = []
        self.stop: Stop | None = None
        self.ended = False
        """A stop sequence of the client ended the answer."""

    @property
    def heard(self) -> bool:
        """Whether the upstream has said anything at all, released or not."""
        return self._received_bytes > 0

    @property
    def spoken(self) -> bool:
        """Whether any text has been released."""
        return bool(self.released)

    def text(self, piece: str) -> bool:
        """Feeds the gate; False once the answer has ended."""
        self.billed(piece)
        self._take(self._judged(lambda: self._gate.feed(piece)))
        return self.stop is None and not self.ended

    def billed(self, piece: str) -> None:
        """Counts text that costs but never leaves."""
        self._received_bytes += len(piece.encode("utf-8", "replace"))

    def usage(self, usage: Usage) -> None:
        """Keeps the last word of the upstream on each figure."""
        self._usage = Usage(
            self._usage.input if usage.input is None else usage.input,
            self._usage.output if usage.output is None else usage.output,
        )

    async def flush(self) -> None:
        """Sends what has been released since the last time."""
        if self._pending:
            text, self._pending = self._pending, ""
            await self._reply.text(text)

    async def close(self, ending: Ending) -> None:
        """Lets the gate judge what is left, as far as the upstream's end allows, and sends it."""
        if self.stop is None and not self.ended:
            finish: Finish = ending.finish if ending.finish in ("stop", "length") else "cut"
            self._take(self._judged(lambda: self._gate.finish(finish)))
        if self.stop is None and not self.ended:
            self._pending += self._stops.finish().text
        await self.flush()

    def spent(self, ending: Ending | None) -> Spent:
        """What this attempt used; `ending` None: it was torn off, so what it had become is not known."""
        if ending is None:
            return Spent(self._usage, self._received_bytes, known=self.heard)
        if ending.finish == "failed" and not self.heard:
            return self._unheard(ending)
        return Spent(self._usage, self._received_bytes)

    def _unheard(self, ending: Ending) -> Spent:
        if ending.status is not None and ending.status >= 400:
            return Spent(Usage(0, 0), 0)  # an HTTP error is an answer: nothing was generated
        return Spent(self._usage, 0, sent=ending.sent, known=False)

    def _judged(self, judge: Callable[[], list[Release | Stop]]) -> list[Release | Stop]:
        """A gate that fails lets nothing more through."""
        if self.stop is not None or self.ended:
            return []
        try:
            return judge()
        except Exception as fault:
            return [Stop("fault", "stopped", detail=f"{type(fault).__name__}: {fault}")]

    def _take(self, said: list[Release | Stop]) -> None:
        for item in said:
            if isinstance(item, Stop):
                self.stop = item
                self._pending += self._stops.finish().text
                return
            cut = self._stops.feed(item.text)
            self._pending += cut.text
            if cut.stopped:
                self.ended = True
                return
            self.released.append(item)


def releases(gate: Gate, text: str) -> bool:
    """Whether a fresh gate lets `text` out whole, as one answer."""
    return all(isinstance(said, Release) for said in (*gate.feed(text), *gate.finish()))
