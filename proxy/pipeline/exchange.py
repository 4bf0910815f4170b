"""One request's open business: its reply, the parts of its trace as the steps give them, and its moments."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from proxy.domain.ports import Model, Reply, ReplyEnd
from proxy.domain.trace import RequestTrace, RetrievalTrace, Ruling, SpendingTrace, Trace, TraceParts
from proxy.domain.types import ChatRequest, Citation, Decision


class RecordingReply:
    """A client's reply that remembers how it ended: what a joined request leaves in the log."""

    def __init__(self, reply: Reply):
        self._reply = reply
        self.decision: Decision | None = None

    async def announce_decision(self, decision: Decision) -> None:
        """See `Reply`."""
        await self._reply.announce_decision(decision)

    async def write_text(self, released: str) -> None:
        """See `Reply`."""
        await self._reply.write_text(released)

    async def end_reply(self, end: ReplyEnd) -> None:
        """See `Reply`."""
        self.decision = end.decision
        await self._reply.end_reply(end)


class Exchange:
    """What was asked of which model, the reply once it has begun, and what the log will say of it all.

    The steps return frozen parts of the trace; only here are they put together.
    """

    def __init__(self, opening: RequestTrace, request: ChatRequest, model: Model):
        self.request = request
        self.model = model
        self.parts = TraceParts(opening)
        self._reply: Reply | None = None
        self._began_s = 0.0
        self._timings_ms: dict[str, float] = {}

    @property
    def has_begun(self) -> bool:
        """Whether it runs by itself: otherwise it only listened to an equal request."""
        return self._reply is not None

    @property
    def reply(self) -> Reply:
        """The way back, to every client that listens."""
        if self._reply is None:
            raise AssertionError("an exchange begins before it is answered")
        return self._reply

    def begin(self, reply: Reply) -> None:
        """From now on it is answered through `reply`; the clock of its moments starts."""
        self._reply = reply
        self._began_s = time.perf_counter()

    def mark_moment(self, name: str) -> None:
        """Notes after how many milliseconds something came to pass, the first time that it does."""
        if name not in self._timings_ms:
            self._timings_ms[name] = round((time.perf_counter() - self._began_s) * 1000, 3)

    @contextmanager
    def measure_step(self, name: str) -> Iterator[None]:
        """Adds the milliseconds spent inside to the trace."""
        start = time.perf_counter()
        try:
            yield
        finally:
            spent_ms = (time.perf_counter() - start) * 1000
            self._timings_ms[name] = round(self._timings_ms.get(name, 0) + spent_ms, 3)

    def keep_language(self, language: str) -> None:
        """Of the question, and so of the answer."""
        self.parts = replace(self.parts, language=language)

    def keep_retrieval(self, retrieval: RetrievalTrace) -> None:
        """What was looked for and found."""
        self.parts = replace(self.parts, retrieval=retrieval)

    def keep_spending(self, spending: SpendingTrace) -> None:
        """What the attempts have cost so far."""
        self.parts = replace(self.parts, spending=spending)

    def keep_ruling(self, ruling: Ruling) -> None:
        """What became of the request, and why."""
        self.parts = replace(self.parts, ruling=ruling)

    def keep_departure(self) -> None:
        """The client went away; what had been ruled before stands beside it."""
        left = replace(self.parts.ruling, decision=Decision.LEFT, layer=Ruling().layer)
        self.parts = replace(self.parts, ruling=left)

    def join_trace(self) -> Trace:
        """The row for the decision log, as far as the request has come."""
        return self.parts.join_trace(self._timings_ms)

    async def reply_fixed_text(self, text: str) -> None:
        """The whole answer is a fixed text: the decision is known before the first byte."""
        await self.close_reply(text, ())

    async def close_reply(self, tail: str, citations: tuple[Citation, ...], finish: str = "stop") -> None:
        """Ends a streamed answer: a notice or a list of sources behind it, then the last chunk.

        Where nothing was released the notice is the first byte, and the decision still goes before it.
        """
        decision, spending = self.parts.ruling.decision, self.parts.spending
        if decision is None:
            raise AssertionError("an answer ends with a decision")
        await self.reply.announce_decision(decision)
        if tail:
            await self.reply.write_text(tail)
        usage = (spending.input_tokens, spending.output_tokens)
        await self.reply.end_reply(ReplyEnd(decision, finish, citations, usage))
