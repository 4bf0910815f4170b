"""Replays a file instead of asking a model: for trying a configuration against one that lies.

The script holds one JSON object a line; the first whose `match` stands in the question plays (`*`: any):
`{"match": "…", "pieces": ["…"], "finish": "stop", "usage": {"input": 1, "output": 2}, "delay_ms": 5}`.
`{n:TITLE}` in a piece becomes the marker of the source with that title, `[99]` where none has it.
"""

import asyncio
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import orjson
from pydantic import TypeAdapter, ValidationError

from indexes.text.folding import fold_text
from proxy.domain.errors import ConfigError
from proxy.domain.ports import UpstreamSink
from proxy.domain.types import Source, UpstreamCall, UpstreamEnd, Usage

_TITLE_FIELD = re.compile(r"\{n:([^}]*)\}")


@dataclass(frozen=True, slots=True)
class ScriptUsage:
    input: int | None = None
    output: int | None = None


@dataclass(frozen=True, slots=True)
class ScriptScene:
    """One line of the script."""

    match: str
    pieces: tuple[str, ...]
    finish: Literal["stop", "length", "cut", "failed"] = "stop"
    usage: ScriptUsage = ScriptUsage()
    delay_ms: float = 0


def read_script(path: Path) -> tuple[ScriptScene, ...]:
    """The scenes of a script. Raises `ConfigError` naming file and line."""
    scenes = []
    try:
        lines = path.read_bytes().splitlines()
    except OSError as fault:
        raise ConfigError(f"{path}: cannot be read: {fault.strerror}") from fault
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            scenes.append(TypeAdapter(ScriptScene).validate_python(orjson.loads(line)))
        except (orjson.JSONDecodeError, ValidationError) as fault:
            raise ConfigError(f"{path}:{number}: want a scene of the script, got {fault}") from fault
    if not scenes:
        raise ConfigError(f"{path}: want at least one scene, got none")
    return tuple(scenes)


class ScriptedUpstream:
    """An upstream that says what its script says, piece by piece."""

    name = "scripted"

    def __init__(self, scenes: tuple[ScriptScene, ...]):
        self._scenes = scenes
        self.call_count = 0
        self.cancelled_count = 0

    def encode_body(self, call: UpstreamCall) -> bytes:
        """The messages as one JSON list: what a real upstream of this size would be sent."""
        return orjson.dumps([(m.role, m.text) for m in call.messages])

    async def run(self, call: UpstreamCall, sink: UpstreamSink) -> UpstreamEnd:
        """Plays the first scene that matches; none: an upstream that failed."""
        self.call_count += 1
        question = fold_text(call.question)
        scene = next((s for s in self._scenes if s.match == "*" or fold_text(s.match) in question), None)
        if scene is None:
            return UpstreamEnd("failed", "no scene of the script matches the question", was_sent=False)
        try:
            return await self._play_scene(scene, call, sink)
        except asyncio.CancelledError:
            self.cancelled_count += 1
            raise

    async def _play_scene(self, scene: ScriptScene, call: UpstreamCall, sink: UpstreamSink) -> UpstreamEnd:
        for piece in scene.pieces:
            await asyncio.sleep(scene.delay_ms / 1000)
            more = sink.push_text(_number_markers(piece, call.sources))
            await sink.flush()
            if not more:
                self.cancelled_count += 1
                return UpstreamEnd("sink_stopped")
        sink.push_usage(Usage(scene.usage.input, scene.usage.output))
        return UpstreamEnd(scene.finish)


def _number_markers(piece: str, sources: tuple[Source, ...]) -> str:
    numbers = {source.title: source.number for source in reversed(sources)}
    return _TITLE_FIELD.sub(lambda field: f"[{numbers.get(field[1], 99)}]", piece)
