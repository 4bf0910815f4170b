"""One request's open business: its reply and its trace, and the few ways it can end."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from proxy.domain.ports import Reply, ReplyEnd
from proxy.domain.types import Citation, Decision, Trace, UpstreamEnd
from proxy.gate.types import Stop
from proxy.pipeline.verdict import Verdict


class RecordingReply:
    """A client's reply that remembers how it ended: what a joined request leaves in the log."""

    def __init__(self, reply: Reply, trace: Trace):
        self._reply = reply
        self.trace = trace
        self.decision: Decision | None = None

    async def announce_decision(self, decision: Decision) -> None:
        await self._reply.announce_decision(decision)

    async def write_text(self, released: str) -> None:
        await self._reply.write_text(released)

    async def end_reply(self, done: ReplyEnd) -> None:
        self.decision = done.decision
        await self._reply.end_reply(done)


class Exchange:
    """What `pipeline.answer` says through, and what it leaves behind in the decision log."""

    def __init__(self, reply: Reply, trace: Trace):
        self.reply = reply
        self.trace = trace
        self._began = time.perf_counter()

    def mark(self, part: str) -> None:
        """Notes after how many milliseconds something came to pass, the first time that it does."""
        if part not in self.trace.timings_ms:
            self.trace.timings_ms[part] = round((time.perf_counter() - self._began) * 1000, 3)

    def note(self, decision: Decision, layer: str = "", **parts: str) -> None:
        """Writes down what became of the request: `topic`, `rule`, `detail`, `offending`."""
        self.trace.decision, self.trace.layer = decision, layer
        for name, value in parts.items():
            setattr(self.trace, name, value)

    def judged(self, verdict: Verdict, stop: Stop | None, ending: UpstreamEnd) -> None:
        """Writes down the verdict on an attempt, with the piece that failed and where it was looked for."""
        self.note(verdict.decision, verdict.layer)
        self.trace.detail = ending.explanation
        if stop is not None:
            why = ending.explanation or stop.detail  # what broke says more than that something did
            self.note(verdict.decision, verdict.layer, rule=stop.rule, detail=why, offending=stop.piece)
            self.trace.looked = list(stop.looked)

    async def fixed(self, text: str) -> None:
        """The whole answer is a fixed text: the decision is known before the first byte."""
        decision = self._decided()
        await self.reply.announce_decision(decision)
        if text:
            await self.reply.write_text(text)
        await self.reply.end_reply(ReplyEnd(decision, "stop", usage=self._usage()))

    async def close(self, tail: str, citations: tuple[Citation, ...], finish: str = "stop") -> None:
        """Ends a streamed answer: a notice or a list of sources behind it, then the last chunk.

        Where nothing was released the notice is the first byte, and the decision still goes before it.
        """
        await self.reply.announce_decision(self._decided())
        if tail:
            await self.reply.write_text(tail)
        await self.reply.end_reply(ReplyEnd(self._decided(), finish, citations, self._usage()))

    @contextmanager
    def timed(self, part: str) -> Iterator[None]:
        """Adds the milliseconds spent inside to the trace."""
        start = time.perf_counter()
        try:
            yield
        finally:
            spent_ms = (time.perf_counter() - start) * 1000
            self.trace.timings_ms[part] = round(self.trace.timings_ms.get(part, 0) + spent_ms, 3)

    def _decided(self) -> Decision:
        if self.trace.decision is None:
            raise AssertionError("an answer ends with a decision")
        return self.trace.decision

    def _usage(self) -> tuple[int, int]:
        return self.trace.input_tokens, self.trace.output_tokens
