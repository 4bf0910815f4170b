"""proxy.upstream.scripted: the script is played word by word, or refused with its line."""

from pathlib import Path

import pytest

from proxy.domain.errors import ConfigError
from proxy.domain.types import Source, UpstreamCall, Usage
from proxy.upstream.scripted import ScriptedUpstream, ScriptScene, ScriptUsage, read_script


class LimitedSink:
    """A sink that remembers; it has enough after `limit` pieces."""

    def __init__(self, limit: int = 99) -> None:
        self.texts: list[str] = []
        self.limit = limit
        self.reported: Usage | None = None

    def push_text(self, piece: str) -> bool:
        self.texts.append(piece)
        return len(self.texts) < self.limit

    def push_thought(self, piece: str) -> bool:
        raise AssertionError("a script bills nothing silently")

    def push_usage(self, usage: Usage) -> None:
        self.reported = usage

    async def flush(self) -> None:
        return None


def make_call(question: str) -> UpstreamCall:
    sources = (Source(1, "a", "Plans", "x"), Source(2, "b", "Hours", "y"))
    return UpstreamCall("m", (), 10, sources=sources, question=question)


SCENES = (
    ScriptScene("price", ("It costs 3 {n:Hours}. ", "And {n:None}."), usage=ScriptUsage(5, 7)),
    ScriptScene("broken", ("Half",), finish="cut"),
)


async def test_the_first_scene_that_matches_the_folded_question_plays() -> None:
    sink = LimitedSink()
    ending = await ScriptedUpstream(SCENES).run(make_call("What PRICE?"), sink)
    assert (ending.finish, sink.reported) == ("stop", Usage(5, 7))
    assert sink.texts == ["It costs 3 [2]. ", "And [99]."]


async def test_a_sink_that_has_enough_cancels() -> None:
    upstream = ScriptedUpstream(SCENES)
    ending = await upstream.run(make_call("price"), LimitedSink(limit=1))
    assert (ending.finish, upstream.cancelled_count, upstream.call_count) == ("sink_stopped", 1, 1)


async def test_no_matching_scene_is_an_upstream_that_failed_and_cost_nothing() -> None:
    ending = await ScriptedUpstream(SCENES).run(make_call("weather"), LimitedSink())
    assert (ending.finish, ending.was_sent) == ("failed", False)


def test_a_broken_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "script.jsonl"
    path.write_text('{"match": "*", "pieces": ["ok"]}\n{"match": "*"}\n', "utf-8")
    with pytest.raises(ConfigError, match=r"script\.jsonl:2"):
        read_script(path)


def test_an_empty_script_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "script.jsonl"
    path.write_text("\n", "utf-8")
    with pytest.raises(ConfigError, match="at least one scene"):
        read_script(path)
