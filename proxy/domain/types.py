"""The words of a request, each said once and used everywhere."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

Role = Literal["user", "assistant"]
SourceKind = Literal["passage", "record"]


class Decision(StrEnum):
    """What became of a request; the README says when each is given."""

    ANSWERED = "answered"
    REFUSED = "refused"
    NO_EVIDENCE = "no_evidence"
    NOT_IN_SOURCES = "not_in_sources"
    STOPPED = "stopped"
    TRUNCATED = "truncated"
    OVER_BUDGET = "over_budget"
    LEDGER_DOWN = "ledger_down"
    LIMITED = "limited"
    UPSTREAM_FAILED = "upstream_failed"
    LEFT = "left"


class Layer(StrEnum):
    """Which layer of the guard decided, or what stood before them."""

    NONE = ""
    REFUSAL = "1"
    EVIDENCE = "2"
    PROMPT = "3"
    GATE = "4"
    VOICE = "5"
    SPEND = "spend"
    LIMITS = "limits"


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks. `groups` are deployment groups, already mapped; `name` is safe to show in logs."""

    key_id: str
    name: str
    groups: frozenset[str]
    scopes: frozenset[str] = frozenset()
    cap_nanousd_month: int | None = None
    cap_nanousd_day: int | None = None
    address: str = ""
    """The address as the edge proxy saw it."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One earlier message of the conversation."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class Sampling:
    """What a client may tune; None: not said."""

    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    reasoning_effort: str | None = None
    verbosity: str | None = None


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """An allow-listed request: nothing else of the client's body survives parsing."""

    model: str
    question: str
    """All user messages after the last assistant message, joined by a line break."""
    turns: tuple[Turn, ...] = ()
    """The turns before it, oldest first."""
    instructions: str = ""
    """The client's own system text: quoted below our prompt, never above."""
    stream: bool = False
    include_usage: bool = False
    output_cap: int | None = None
    """Tokens; the smaller of max_tokens and max_completion_tokens."""
    stop: tuple[str, ...] = ()
    sampling: Sampling = Sampling()

    @property
    def previous_question(self) -> str:
        """The question before this one; "" in a first turn."""
        texts: list[str] = []
        for turn in reversed(self.turns):
            if turn.role == "user":
                texts.append(turn.text)
            elif texts:
                break
        return "\n".join(reversed(texts))

    @property
    def previous_answer(self) -> str:
        """The assistant's last turn; "" in a first turn."""
        return next((t.text for t in reversed(self.turns) if t.role == "assistant"), "")


@dataclass(frozen=True, slots=True)
class Source:
    """A passage or record handed to the model under `number` (from 1)."""

    number: int
    id: str
    title: str
    text: str
    url: str | None = None
    language: str | None = None
    kind: SourceKind = "passage"
    is_current: bool = False
    """A record marked as current: only then may the answer say "currently"."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of the upstream body."""

    role: Literal["system", "user", "assistant"]
    text: str


def merge_turns(messages: Sequence[Message]) -> tuple[Message, ...]:
    """User and assistant in turn, the user first: many models' templates refuse anything else.

    A question that we answered by a fixed text has no answer here, so it stands before the next one.
    """
    turns: list[Message] = []
    for message in messages:
        if not turns and message.role == "assistant":
            turns.append(Message("user", "…"))
        if turns and turns[-1].role == message.role:
            turns[-1] = Message(message.role, f"{turns[-1].text}\n\n{message.text}")
        else:
            turns.append(message)
    return tuple(turns)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the upstream reported them; None: it did not say."""

    input: int | None = None
    output: int | None = None


@dataclass(frozen=True, slots=True)
class UpstreamCall:
    """One upstream attempt, in our own words; each protocol writes its own body from it."""

    model: str
    """The upstream's name of the model."""
    messages: tuple[Message, ...]
    output_cap: int
    is_client_cap: bool = False
    """`output_cap` is the client's own, below the model's: a cut by it is the client's doing."""
    reasoning_cap: int = 0
    """Allowed on top of `output_cap`: a provider's own cap counts both."""
    sampling: Sampling = Sampling()
    stop: tuple[str, ...] = ()
    """The client's stop sequences: applied to released text, never sent upstream."""
    sources: tuple[Source, ...] = ()
    """For `extractive` and `scripted`, which need no model."""
    question: str = ""
    content_words: tuple[str, ...] = ()
    """Content words of the question as it was read (a follow-up's item, no names of the subject): what
    `extractive` quotes by."""
    language: str = "en"
    is_overview: bool = False
    """The sources are records chosen by rule: all of them answer the question."""
    token: str = ""
    """The fixed token that says: the sources do not cover it."""
    would_release: Callable[[str], bool] = bool
    """Whether the gate of this request would release a text whole: what `extractive` may quote."""
    is_structured: bool = False
    """Ask for `{answer, citations} | {refused, reason}` under a JSON schema."""


UpstreamFinish = Literal["stop", "length", "cut", "failed", "sink_stopped"]


@dataclass(frozen=True, slots=True)
class UpstreamEnd:
    """How an upstream attempt ended.

    `cut`: bytes came, then broke off; `failed`: no byte of an answer came; `sink_stopped`: the sink
    had enough.
    `detail` is for our log only, never for a client.
    """

    finish: UpstreamFinish
    detail: str = ""
    status: int | None = None
    retry_after_s: float | None = None
    was_sent: bool = True
    """False only where it is certain that the upstream got nothing and charges nothing."""
    was_silent: bool = False
    """It failed by saying nothing until our patience was over: asking again would only double the wait."""

    @property
    def explanation(self) -> str:
        """Why it did not end well, for our log: with the status of an HTTP error before its words."""
        refused = self.status is not None and self.status != 200
        return f"HTTP {self.status}: {self.detail}" if refused else self.detail


@dataclass(frozen=True, slots=True)
class Citation:
    """A span of released text (half-open code points) and the source that stands behind it."""

    start: int
    end: int
    title: str
    url: str
