"""Step 8, the sink of one attempt: upstream text in, gated sentences out to the client, all counted."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

from proxy.domain.ports import Reply, Spent
from proxy.domain.types import UpstreamCall, UpstreamEnd, Usage
from proxy.gate import Gate, GateRules
from proxy.gate.cited import append_markers, is_contentless_reply
from proxy.gate.types import GateRule, Release, Stop
from proxy.guards.stop_sequences import StopCut, StopSequences
from proxy.wire import structured

GateFinish = Literal["stop", "length", "cut"]
MomentMarker = Callable[[str], None]
"""Notes the moment of something that has a name in `Trace.timings_ms`."""


class GatedSink:
    """Implements `ports.UpstreamSink`. `push_text` is synchronous: the gate works where the bytes arrive."""

    def __init__(self, call: UpstreamCall, rules: GateRules, reply: Reply, mark_moment: MomentMarker):
        self._call = call
        self._rules = rules
        self._gate = self._open_gate()
        self._bytes_max = (call.output_cap + call.reasoning_cap) * rules.output_bytes_per_token_max
        self._stop_sequences = StopSequences(call.stop)
        self._reply = reply
        self._mark_moment = mark_moment
        self._held: list[Release] = []
        self._free_chars = 0
        """Characters at the beginning of what is held that no stop sequence can reach any more."""
        self._pending = ""
        self._usage = Usage()
        self._received_bytes = 0
        self.released: list[Release] = []
        self.stop: Stop | None = None
        self.has_ended = False
        """A stop sequence of the client ended the answer."""

    @property
    def is_open(self) -> bool:
        """Whether more of the answer may come: neither the gate nor a stop sequence has ended it."""
        return self.stop is None and not self.has_ended

    @property
    def has_heard(self) -> bool:
        """Whether the upstream has said anything at all, released or not."""
        return self._received_bytes > 0

    @property
    def has_released(self) -> bool:
        """Whether any text has been released."""
        return bool(self.released)

    def push_text(self, piece: str) -> bool:
        """Feeds the gate; False once the answer has ended."""
        self._count_piece(piece)
        if self.is_open:
            try:
                outputs = self._gate.feed(piece)
            except Exception as fault:
                outputs = [stop_for_fault(fault)]
            self._take_outputs(outputs)
        return self.is_open

    def push_thought(self, piece: str) -> bool:
        """Counts text that costs but never leaves; False if there was more than was asked for before it."""
        is_above = self._received_bytes > self._bytes_max
        self._count_piece(piece)
        if is_above:
            detail = "more bytes than the caps allow, thinking counted"
            self._take_outputs([Stop(GateRule.CAP, "truncated", detail=detail)])
        return self.is_open

    def push_usage(self, usage: Usage) -> None:
        """Keeps the last word of the upstream on each figure."""
        self._usage = Usage(
            self._usage.input if usage.input is None else usage.input,
            self._usage.output if usage.output is None else usage.output,
        )

    async def flush(self) -> None:
        """Sends what has been released since the last time."""
        if self._pending:
            text, self._pending = self._pending, ""
            self._mark_moment("first_sentence")
            await self._reply.write_text(text)

    async def close(self, end: UpstreamEnd) -> None:
        """Lets the gate judge what is left, as far as the upstream's end allows, and sends it."""
        if self.is_open:
            finish: GateFinish = end.finish if end.finish in ("stop", "length") else "cut"
            try:
                outputs = self._gate.finish(finish)
            except Exception as fault:
                outputs = [stop_for_fault(fault)]
            self._take_outputs(outputs)
        if self.is_open:
            self._free_text(self._stop_sequences.finish())
        await self.flush()

    def count_spent(self, end: UpstreamEnd | None) -> Spent:
        """What this attempt used. `end` None: torn off; once heard, its bytes are booked, else the bound."""
        if end is None:
            return Spent(self._usage, self._received_bytes, outcome_known=self.has_heard)
        if end.finish == "failed" and not self.has_heard:
            return self._count_unheard(end)
        return Spent(self._usage, self._received_bytes)

    def _open_gate(self) -> Gate:
        """A fresh gate: another one than the answer's judges what a stop sequence has left of a sentence."""
        return Gate(self._call.sources, self._call.language, self._rules)

    def _count_piece(self, piece: str) -> None:
        if not self._received_bytes:
            self._mark_moment("first_upstream")
        self._received_bytes += len(piece.encode("utf-8", "replace"))

    def _count_unheard(self, end: UpstreamEnd) -> Spent:
        if end.status is not None and end.status >= 300:
            return Spent(Usage(0, 0), 0)  # an HTTP error or a redirect is an answer: nothing was generated
        return Spent(self._usage, 0, was_sent=end.was_sent, outcome_known=False)

    def _take_outputs(self, outputs: list[Release | Stop]) -> None:
        for output in outputs:
            if isinstance(output, Stop):
                self.stop = output
                self._free_text(self._stop_sequences.finish())
                return
            self._held.append(output)
            self._free_text(self._stop_sequences.feed(output.text))
            if self.has_ended:
                return

    def _free_text(self, cut: StopCut) -> None:
        """Lets out what no stop sequence can reach any more, whole sentences only, and what one has cut."""
        self._free_chars += len(cut.text)
        while self._held and len(self._held[0].text) <= self._free_chars:
            self._free_chars -= len(self._held[0].text)
            self._release(self._held.pop(0))
        if cut.is_stopped:
            self.has_ended = True
            self._release_beginning(self._held)
            self._held = []

    def _release_beginning(self, held: Sequence[Release]) -> None:
        """The beginning of a sentence that a stop sequence has cut: 3 of 350 stands in no source."""
        text = held[0].text[: self._free_chars] if held else ""
        marks = "".join(f"[{number}]" for number in held[0].source_numbers) if held else ""
        if text.strip() and (not marks or is_released_whole(self._open_gate(), f"{text.rstrip()} {marks}")):
            self._release(replace(held[0], text=text))

    def _release(self, release: Release) -> None:
        self.released.append(release)
        self._pending += release.text


class StructuredSink(GatedSink):
    """The same for an upstream that was asked for JSON: nothing leaves before all of it has passed.

    Citations must be there and point only at sources handed over; the answer's sentences then pass the gate
    against those sources, as if each bore their markers. One that fails makes the whole a refusal.
    """

    def __init__(self, call: UpstreamCall, rules: GateRules, reply: Reply, mark_moment: MomentMarker):
        super().__init__(call, rules, reply, mark_moment)
        self._text: list[str] = []
        self._bytes_left = call.output_cap * rules.output_bytes_per_token_max

    def push_text(self, piece: str) -> bool:
        """Keeps the piece; False above the cap."""
        self._count_piece(piece)
        self._bytes_left -= len(piece.encode("utf-8", "replace"))
        if self._bytes_left < 0:
            self.stop = Stop(GateRule.CAP, "truncated", detail="a longer answer than the cap allows")
            return False
        self._text.append(piece)
        return True

    async def close(self, end: UpstreamEnd) -> None:
        """Reads the JSON and lets the gate judge the answer in it."""
        if self.stop is None and end.finish == "stop":
            try:
                outputs = self._judge_whole()
            except Exception as fault:
                outputs = [stop_for_fault(fault)]
            self._take_outputs(outputs)
            self._free_text(self._stop_sequences.finish())
        elif self.stop is None:
            self.stop = Stop(GateRule.LENGTH, "truncated", detail=f"the upstream ended by {end.finish}")
        await self.flush()

    def _judge_whole(self) -> list[Release | Stop]:
        reply = structured.parse_structured_reply("".join(self._text))
        if isinstance(reply, structured.StructuredRefusal):
            # The model's own words, so not the `detail`: the log keeps a piece only where it may keep words.
            return [Stop(GateRule.TOKEN, "not_in_sources", reply.reason)]
        numbers = {source.number for source in self._call.sources}
        if reply is None or not numbers.issuperset(reply.citations):
            return [Stop(GateRule.UNCITED, "not_in_sources", detail="no answer with valid citations")]
        sources = [source for source in self._call.sources if source.number in reply.citations]
        rules, language = self._rules.copy_with_cap(None), self._call.language
        if is_contentless_reply(reply.text, sources, rules, language):
            detail = "says nothing that is in a source"
            return [Stop(GateRule.UNCITED, "not_in_sources", reply.text, detail=detail)]
        text = append_markers(reply.text, reply.citations, rules, language)
        gate = Gate(sources, language, rules)
        outputs = [*gate.feed(text), *gate.finish()]
        stop = next((output for output in outputs if isinstance(output, Stop)), None)
        return [replace(stop, kind="not_in_sources")] if stop else outputs


def stop_for_fault(fault: Exception) -> Stop:
    """A gate that fails lets nothing more through."""
    return Stop(GateRule.FAULT, "stopped", detail=f"{type(fault).__name__}: {fault}")


def open_sink(call: UpstreamCall, rules: GateRules, reply: Reply, mark_moment: MomentMarker) -> GatedSink:
    """The sink of one attempt: for text or for JSON, as the upstream is asked."""
    sink_class = StructuredSink if call.is_structured else GatedSink
    return sink_class(call, rules, reply, mark_moment)


def is_released_whole(gate: Gate, text: str) -> bool:
    """Whether a fresh gate lets `text` out whole, as one answer."""
    return all(isinstance(output, Release) for output in (*gate.feed(text), *gate.finish()))
