"""proxy.pipeline.sink: what an attempt lets out, and what it says it has spent."""

from dataclasses import dataclass, field, replace

import pytest

from proxy.app.assistants import load_language_packs
from proxy.domain.ports import ReplyEnd
from proxy.domain.types import Decision, Source, UpstreamCall, UpstreamEnd, Usage
from proxy.gate import GateRules
from proxy.pipeline.sink import GatedSink, open_sink

SOURCES = (
    Source(1, "a", "Hours", "The reading room opens at 9:30.", language="en"),
    Source(2, "b", "Seats", "The reading room has 40 seats.", language="en"),
)
CALL = UpstreamCall("m", (), 50, sources=SOURCES)
JSON = replace(CALL, is_structured=True)


@pytest.fixture(name="rules", scope="module")
def _build_gate_rules() -> GateRules:
    packs = load_language_packs()
    return GateRules(sentences=packs.sentences, values=packs.values, voices=packs.voices, words=packs.words)


@dataclass
class CollectingReply:
    """A reply that remembers."""

    texts: list[str] = field(default_factory=list)
    moments: list[str] = field(default_factory=list)

    async def announce_decision(self, decision: Decision) -> None:
        raise AssertionError("a sink says no decision")

    async def write_text(self, released: str) -> None:
        self.texts.append(released)

    async def end_reply(self, done: ReplyEnd) -> None:
        raise AssertionError("a sink ends no reply")


def open_collecting_sink(
    call: UpstreamCall, rules: GateRules, reply: CollectingReply | None = None
) -> GatedSink:
    reply = reply or CollectingReply()
    return open_sink(call, rules, reply, reply.moments.append)


async def release_pieces(
    call: UpstreamCall, rules: GateRules, *pieces: str, finish: str = "stop"
) -> tuple[GatedSink, str]:
    reply = CollectingReply()
    sink = open_collecting_sink(call, rules, reply)
    for piece in pieces:
        sink.push_text(piece)
        await sink.flush()
    await sink.close(UpstreamEnd(finish))  # type: ignore[arg-type]
    return sink, "".join(reply.texts)


async def test_sentences_leave_one_by_one_and_the_failing_one_never(rules: GateRules) -> None:
    sink, text = await release_pieces(CALL, rules, "It opens at 9:30 [1]. ", "It has 41 seats [2]. ", "More.")
    assert text == "It opens at 9:30."
    assert sink.stop
    assert sink.stop.rule == "values"


async def test_a_structured_answer_leaves_only_whole(rules: GateRules) -> None:
    good = '{"answer": "It opens at 9:30. It has 40 seats.", "citations": [1, 2]}'
    sink, text = await release_pieces(JSON, rules, good[:20], good[20:])
    assert text == "It opens at 9:30. It has 40 seats."
    assert sink.released[0].source_numbers == (1, 2)


@pytest.mark.parametrize("answer", ["The reading room.", "Yes, it opens.", "Sure! It has 40 seats."])
async def test_a_short_structured_answer_needs_a_word_or_value_of_its_sources(
    rules: GateRules, answer: str
) -> None:
    _, text = await release_pieces(JSON, rules, f'{{"answer": "{answer}", "citations": [1, 2]}}')
    assert text == answer


@pytest.mark.parametrize(
    ("reply", "rule"),
    [
        ('{"answer": "It opens at 9:30. It has 41 seats.", "citations": [1, 2]}', "values"),
        ('{"answer": "It has 40 seats.", "citations": [1]}', "values"),
        ('{"answer": "I open at 9:30.", "citations": [1]}', "voice"),
        ('{"answer": "It opens at 9:30 [2].", "citations": [1]}', "range"),
        ('{"answer": "It opens at 9:30.", "citations": [3]}', "uncited"),
        ('{"answer": "It opens at 9:30.", "citations": []}', "uncited"),
        ('{"answer": "Aj", "citations": [1]}', "uncited"),
        ('{"answer": "refused", "citations": [1, 2]}', "uncited"),
        ('{"answer": "Yes. He is available.", "citations": [1]}', "uncited"),
        ("It opens at 9:30 [1].", "uncited"),
        ('{"refused": true, "reason": "not there"}', "token"),
    ],
)
async def test_a_structured_answer_that_fails_anywhere_is_the_refusal(
    rules: GateRules, reply: str, rule: str
) -> None:
    sink, text = await release_pieces(JSON, rules, reply)
    assert text == ""
    assert sink.stop
    assert (sink.stop.rule, sink.stop.kind) == (rule, "not_in_sources")


async def test_a_structured_answer_that_breaks_off_lets_nothing_out(rules: GateRules) -> None:
    whole = '{"answer": "It opens at 9:30.", "citations": [1]}'
    sink, text = await release_pieces(JSON, rules, whole, finish="cut")
    assert (text, sink.has_released) == ("", False)


async def test_a_structured_answer_above_the_cap_is_cut(rules: GateRules) -> None:
    sink, text = await release_pieces(JSON, rules, "x" * (50 * 16 + 1))
    assert sink.stop
    assert (sink.stop.rule, text) == ("cap", "")


@pytest.mark.parametrize("call", [CALL, JSON])
async def test_thinking_beyond_what_was_asked_for_is_not_waited_for(
    call: UpstreamCall, rules: GateRules
) -> None:
    """An upstream that minds no cap would charge for it without end."""
    sink = open_collecting_sink(replace(call, reasoning_cap=10), rules)
    assert sink.push_thought("é" * (60 * 16 // 2))
    assert sink.push_thought("x")
    assert not sink.push_thought("x")
    await sink.close(UpstreamEnd("sink_stopped"))
    assert sink.stop
    assert (sink.stop.rule, sink.stop.kind, sink.released) == ("cap", "truncated", [])


async def test_the_last_word_on_usage_counts_and_is_never_added(rules: GateRules) -> None:
    sink = open_collecting_sink(CALL, rules)
    sink.push_usage(Usage(10, 1))
    sink.push_usage(Usage(None, 7))
    assert sink.count_spent(UpstreamEnd("stop")).usage == Usage(10, 7)


async def test_what_was_heard_is_what_is_charged_for_where_usage_is_missing(rules: GateRules) -> None:
    sink, _ = await release_pieces(CALL, rules, "It opens at 9:30 [1].", "é")
    sink.push_thought("thinking")
    assert sink.count_spent(None).received_bytes == len("It opens at 9:30 [1].") + 2 + 8


@pytest.mark.parametrize(
    ("ending", "sent", "known"),
    [
        (UpstreamEnd("failed", was_sent=False), False, False),
        (UpstreamEnd("failed"), True, False),
        (UpstreamEnd("failed", status=500), True, True),
        (UpstreamEnd("failed", status=308), True, True),
        (UpstreamEnd("failed", status=204), True, False),
    ],
)
async def test_an_attempt_without_a_word_is_charged_by_what_is_known(
    rules: GateRules, ending: UpstreamEnd, sent: bool, known: bool
) -> None:
    spent = open_collecting_sink(CALL, rules).count_spent(ending)
    assert (spent.was_sent, spent.outcome_known) == (sent, known)


async def test_why_a_model_refuses_is_kept_only_where_words_are_kept(rules: GateRules) -> None:
    """`detail` goes to every log line; what was asked and said only where the operator allows it."""
    sink, _ = await release_pieces(JSON, rules, '{"refused": true, "reason": "Ada asks for her pay"}')
    assert sink.stop
    assert (sink.stop.piece, sink.stop.detail) == ("Ada asks for her pay", "")
