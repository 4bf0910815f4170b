"""What a request needs, as Protocols: only `proxy.app` constructs what stands behind them."""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from proxy.domain.trace import Trace
from proxy.domain.types import Caller, ChatRequest, Citation, Decision, UpstreamCall, UpstreamEnd, Usage


class Authenticator(Protocol):
    """Who asks: raises `AuthError`."""

    async def authenticate(self, headers: Mapping[str, str], peer: str) -> Caller: ...


class Limiter(Protocol):
    """How often and how many at once: raises `LimitError`."""

    def enter(self, caller: Caller, address: str) -> AbstractAsyncContextManager[None]: ...


class UpstreamSink(Protocol):
    """Takes what an upstream says, where the bytes arrive."""

    def push_text(self, piece: str) -> bool:
        """One content event of the answer. False: enough, cancel the upstream now."""
        ...

    def push_thought(self, piece: str) -> bool:
        """Text that costs but never leaves: reasoning and its like. False: enough, as for `push_text`."""
        ...

    def push_usage(self, usage: Usage) -> None:
        """Reported usage; the last word counts, it is never added up."""
        ...

    async def flush(self) -> None:
        """After each network read: what the gate has released goes out now."""
        ...


class Upstream(Protocol):
    """Runs one attempt and pushes into the sink. Cancelling the task closes the connection at once."""

    name: str

    def encode_body(self, call: UpstreamCall) -> bytes:
        """The exact bytes that would be sent: what the bound of the cost is taken from."""
        ...

    async def run(self, call: UpstreamCall, sink: UpstreamSink) -> UpstreamEnd:
        """One attempt. Upstream faults are an `UpstreamEnd`, not an exception."""
        ...


@dataclass(frozen=True, slots=True)
class Prices:
    """Nano-dollars per token, at the highest tier that can apply."""

    input_nanousd: int
    output_nanousd: int


@dataclass(frozen=True, slots=True)
class CostBound:
    """Upper bound of one attempt: tokens in, tokens out, and what they can cost at most."""

    input_tokens: int
    output_tokens: int
    nanousd: int


@dataclass(frozen=True, slots=True)
class Hold:
    """Money set aside. `id` is unique over all processes."""

    id: str
    nanousd: int
    prices: Prices
    input_tokens: int = 0
    output_tokens: int = 0
    """The bound's tokens: what gaps in the reported usage are filled up to."""


@dataclass(frozen=True, slots=True)
class Denial:
    """Why no money could be set aside: `over_budget` or `ledger_down`. `detail` for the log."""

    decision: Decision
    detail: str


@dataclass(frozen=True, slots=True)
class Spent:
    """What an attempt used, for settling.

    `usage` as reported (explicit zeros are zeros); gaps are filled with one token per UTF-8 byte of every
    character received (`received_bytes`), input with the bound, both capped at the hold.
    """

    usage: Usage
    received_bytes: int
    was_sent: bool = True
    """False: the upstream certainly got nothing, so the hold is given back whole."""
    outcome_known: bool = True
    """False: the body went out and what became of it is unknown: settles at the bound."""


@dataclass(frozen=True, slots=True)
class Settled:
    """The booked cost."""

    input_tokens: int
    output_tokens: int
    nanousd: int


class Ledger(Protocol):
    """Two-phase spending. Fails closed: any doubt is a `Denial`."""

    async def reserve(self, caller: Caller, model: str, bound: CostBound, prices: Prices) -> Hold | Denial:
        """Sets the bound aside in one transaction over every cap that applies."""
        ...

    async def settle(self, hold: Hold, spent: Spent) -> Settled:
        """Replaces the hold by the real cost. Never raises: what cannot be written is kept and retried."""
        ...


class Reply(Protocol):
    """The way back to one client: SSE or one JSON body. Raises `ClientGone` when nobody listens."""

    async def announce_decision(self, decision: Decision) -> None:
        """Says the decision in the headers, if they have not gone out yet."""
        ...

    async def write_text(self, released: str) -> None:
        """Sends released text or a fixed text."""
        ...

    async def end_reply(self, end: "ReplyEnd") -> None:
        """Annotations, finish, usage, [DONE] — or the whole JSON body — and closes."""
        ...


ReplyOpener = Callable[[ChatRequest, str], Reply]
"""(the request, its new id) → the way back to its client."""


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One HTTP request as it came: header names in lower case, `peer` the address of the other end."""

    headers: Mapping[str, str]
    peer: str
    body: bytes


class ClientGone(Exception):
    """The client closed its connection."""


@dataclass(frozen=True, slots=True)
class ReplyEnd:
    """How an answer ended, for the last chunk of the reply."""

    decision: Decision
    finish: str
    """"stop" or "length"."""
    citations: tuple[Citation, ...] = ()
    usage: tuple[int, int] = (0, 0)
    """Prompt and completion tokens as booked."""


class DecisionLog(Protocol):
    """Keeps one row a request."""

    async def write(self, trace: Trace) -> None:
        """Never raises: a log that cannot be written is counted, not fatal."""
        ...


@dataclass(frozen=True, slots=True)
class Model:
    """One alias a client may name: an assistant over an upstream, with its caps and prices."""

    alias: str
    assistant: str
    upstream: Upstream
    upstream_model: str
    output_cap: int
    reasoning_cap: int
    template_tokens: int
    tokens_per_byte_max: float
    """Tokens per UTF-8 byte at most: 1 for byte-level tokenizers, an explicit factor for others."""
    prices: Prices
    retries: int = 0
    """Further attempts before a first byte, each with a hold of its own."""
