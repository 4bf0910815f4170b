"""One attempt against a fake upstream, and a sink that keeps all that comes."""

import asyncio

from proxy.domain.types import Message, UpstreamCall, UpstreamEnd, Usage
from proxy.settings import tree
from proxy.upstream.openai import OpenAIUpstream
from tests.fake_upstream import FakeUpstream, ResponseScript

CALL = UpstreamCall(model="m", messages=(Message("user", "Who?"),), output_cap=100)


class CollectingSink:
    """A sink that keeps everything; `enough` is the number of text events after which it wants no more."""

    def __init__(self, enough: int = 10**9) -> None:
        self.texts: list[str] = []
        self.thoughts: list[str] = []
        self.last = Usage()
        self.flushes = 0
        self.enough = enough
        self.arrived = asyncio.Event()

    def push_text(self, piece: str) -> bool:
        self.texts.append(piece)
        self.arrived.set()
        return len(self.texts) < self.enough

    def push_thought(self, piece: str) -> bool:
        self.thoughts.append(piece)
        return len(self.thoughts) < self.enough

    def push_usage(self, usage: Usage) -> None:
        self.last = usage

    async def flush(self) -> None:
        self.flushes += 1


def make_upstream(url: str, **settings: object) -> OpenAIUpstream:
    fields = {"protocol": "openai", "base_url": url, "idle_s": 60, "total_s": 90, "connect_s": 60} | settings
    return OpenAIUpstream(tree.UpstreamSettings.model_validate(fields), key="sk-test")


async def attempt_once(
    play: ResponseScript, sink: CollectingSink | None = None, **settings: object
) -> tuple[UpstreamEnd, CollectingSink]:
    """One attempt against a fake that plays `play`."""
    sink = sink or CollectingSink()
    async with FakeUpstream(play) as fake:
        model = make_upstream(fake.url, **settings)
        try:
            return await model.run(CALL, sink), sink
        finally:
            await model.aclose()
