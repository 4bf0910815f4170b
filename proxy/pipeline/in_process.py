"""One question through the real pipeline without HTTP: for `fiador ask`, `fiador eval` and the demo."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

import orjson

from proxy.domain.ports import HttpRequest, ReplyEnd
from proxy.domain.trace import Trace
from proxy.domain.types import Caller, Decision, Turn
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
    asked_at: datetime | None = None
    """Aware; None: now."""


@dataclass(slots=True)
class CapturedAnswer:
    """What came back: the reply as a client would have got it, and the trace."""

    text: str = ""
    end: ReplyEnd | None = None
    trace: Trace | None = None


async def ask_in_process(
    question: InProcessQuestion,
    context: AnswerContext,
    on_text: Callable[[str], None] = lambda text: None,
    captured: CapturedAnswer | None = None,
) -> CapturedAnswer:
    """Asks; `on_text` gets released text as it comes. Raises `FiadorError` where HTTP would answer an error.

    `captured` is filled and returned, and holds the trace even where this raises.
    """
    captured = captured or CapturedAnswer()
    own_context = replace(
        context,
        auth=FixedAuthenticator(Caller("inside", "inside", question.groups)),
        limits=NoLimits(),
        coalescer=RequestCoalescer(0),
        decisions=TraceCapture(captured),
        now=context.now if question.asked_at is None else partial(return_fixed_time, question.asked_at),
    )
    request = HttpRequest({}, "127.0.0.1", encode_question(question))
    await answer(request, lambda *_: CapturingReply(captured, on_text), own_context)
    return captured


def return_fixed_time(moment: datetime) -> datetime:
    """The clock of a question that is asked at another time than now."""
    return moment


def encode_question(question: InProcessQuestion) -> bytes:
    """The question as a chat request."""
    turns = [{"role": turn.role, "content": turn.text} for turn in question.history]
    messages = [*turns, {"role": "user", "content": question.text}]
    return orjson.dumps({"model": question.model, "messages": messages, "stream": True})


@dataclass(frozen=True, slots=True)
class FixedAuthenticator:
    """An authenticator that knows one caller."""

    caller: Caller

    async def authenticate(self, headers: Mapping[str, str], peer: str) -> Caller:
        """See `Authenticator`."""
        return self.caller


class NoLimits:
    """A limiter that lets everything in."""

    @asynccontextmanager
    async def enter(self, caller: Caller, address: str) -> AsyncIterator[None]:
        """See `Limiter`."""
        yield


@dataclass(frozen=True, slots=True)
class TraceCapture:
    """A decision log that hands the trace to whoever asked."""

    captured: CapturedAnswer

    async def write(self, trace: Trace) -> None:
        """See `DecisionLog`."""
        self.captured.trace = trace


@dataclass(slots=True)
class CapturingReply:
    """A reply that keeps the text."""

    captured: CapturedAnswer
    on_text: Callable[[str], None]

    async def announce_decision(self, decision: Decision) -> None:
        """The trace says it too."""

    async def write_text(self, released: str) -> None:
        """See `Reply`."""
        self.captured.text += released
        self.on_text(released)

    async def end_reply(self, end: ReplyEnd) -> None:
        """See `Reply`."""
        self.captured.end = end
