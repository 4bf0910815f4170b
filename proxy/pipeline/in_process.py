"""One question through the real pipeline without HTTP: for `fiador ask`, `fiador eval` and the demo."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime

import orjson

from proxy.domain.ports import HttpRequest, ReplyEnd
from proxy.domain.types import Caller, Decision, Trace, Turn
from proxy.pipeline.answer import answer
from proxy.pipeline.coalesce import RequestCoalescer
from proxy.pipeline.context import AnswerContext


@dataclass(frozen=True, slots=True)
class InProcessQuestion:
    """What is asked, as whom, and when. `groups` are deployment groups, public ones included."""

    text: str
    model: str
    groups: frozenset[str]
    history: tuple[Turn, ...] = ()
    at: datetime | None = None
    """Aware; None: now."""


@dataclass(slots=True)
class CapturedAnswer:
    """What came back: the reply as a client would have got it, and the trace."""

    text: str = ""
    outcome: ReplyEnd | None = None
    trace: Trace | None = None


async def ask_in_process(
    question: InProcessQuestion,
    desk: AnswerContext,
    hear: Callable[[str], None] = lambda text: None,
    seen: CapturedAnswer | None = None,
) -> CapturedAnswer:
    """Asks; `hear` gets released text as it comes. Raises `FiadorError` where HTTP would answer an error.

    `seen` is filled and returned, and holds the trace even where this raises.
    """
    seen = seen or CapturedAnswer()
    inside = replace(
        desk,
        auth=_Known(Caller("inside", "inside", question.groups)),
        limits=_Unlimited(),
        coalescer=RequestCoalescer(0),
        decisions=_Kept(seen),
        now=_clock(question.at, desk),
    )
    await answer(
        HttpRequest({}, "127.0.0.1", _body(question)), inside, lambda request, id: _Heard(seen, hear)
    )
    return seen


def _clock(at: datetime | None, desk: AnswerContext) -> Callable[[], datetime]:
    return desk.now if at is None else lambda: at


def _body(question: InProcessQuestion) -> bytes:
    turns = [{"role": turn.role, "content": turn.text} for turn in question.history]
    messages = [*turns, {"role": "user", "content": question.text}]
    return orjson.dumps({"model": question.model, "messages": messages, "stream": True})


@dataclass(frozen=True, slots=True)
class _Known:
    caller: Caller

    async def authenticate(self, headers: Mapping[str, str], peer: str) -> Caller:
        return self.caller


class _Unlimited:
    @asynccontextmanager
    async def enter(self, caller: Caller, address: str) -> AsyncIterator[None]:
        yield


@dataclass(frozen=True, slots=True)
class _Kept:
    seen: CapturedAnswer

    async def write(self, trace: Trace) -> None:
        self.seen.trace = trace


@dataclass(slots=True)
class _Heard:
    """A reply that keeps the text."""

    seen: CapturedAnswer
    hear: Callable[[str], None]
    decision: Decision | None = field(default=None)

    async def announce_decision(self, decision: Decision) -> None:
        self.decision = decision

    async def write_text(self, released: str) -> None:
        self.seen.text += released
        self.hear(released)

    async def end_reply(self, done: ReplyEnd) -> None:
        self.seen.outcome = done
