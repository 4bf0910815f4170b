"""What one request has at hand: stores and guards, assistants and models, made once by `proxy.app`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from indexes.text.language import WordPack, detect_language
from indexes.types import EvidenceFinder, RecordFinder
from proxy.domain.errors import RequestError
from proxy.domain.ports import Authenticator, DecisionLog, Ledger, Limiter, Model
from proxy.domain.types import Caller, ChatRequest
from proxy.gate import GateRules
from proxy.guards.fixed_texts import FixedTexts
from proxy.guards.followup import FollowupReader
from proxy.guards.prompt import Prompt
from proxy.guards.refusal.refuser import QuestionRefuser
from proxy.guards.route import OverviewRouter
from proxy.pipeline.coalesce import RequestCoalescer
from proxy.settings.tree import AnswerSettings, EvidenceSettings


@dataclass(frozen=True, slots=True)
class Assistant:
    """One configured assistant, ready to serve."""

    name: str
    language: str
    """Of the fixed texts where the question's own is not known."""
    names: tuple[str, ...]
    """The subject's names in all their spellings."""
    name_words: frozenset[str]
    """Their folded words: never content words."""
    refuser: QuestionRefuser
    router: OverviewRouter
    followup_reader: FollowupReader
    find_content_words: Callable[[str], Sequence[str]]
    """Content words of a question."""
    prompt: Prompt
    gate_rules_for: Callable[[str], GateRules]
    """The gate's rules for answers in a language."""
    texts: FixedTexts
    threshold_for: Callable[[str], float]
    """The similarity that evidence must reach, by language."""
    evidence_settings: EvidenceSettings
    answer_settings: AnswerSettings
    sources: frozenset[str]
    records: frozenset[str]


@dataclass(frozen=True, slots=True)
class AnswerContext:
    """Everything `answer` may touch."""

    auth: Authenticator
    limits: Limiter
    coalescer: RequestCoalescer
    parse_request: Callable[[bytes], ChatRequest]
    models: Mapping[str, Model]
    assistants: Mapping[str, Assistant]
    word_packs: Mapping[str, WordPack]
    evidence_finder: EvidenceFinder
    record_finder: RecordFinder
    ledger: Ledger
    decisions: DecisionLog
    now: Callable[[], datetime]
    new_id: Callable[[], str]
    background_tasks: str = "refuse"
    stop_finish: str = "stop"

    def choose_model(self, alias: str) -> Model:
        """The model a client named. Raises `RequestError` 404 naming those there are."""
        try:
            return self.models[alias]
        except KeyError:
            aliases = ", ".join(sorted(self.models))
            raise RequestError(
                f"The model `{alias:.80}` does not exist. Models here: {aliases}.",
                code="model_not_found",
                param="model",
                status=404,
            ) from None

    def choose_language(self, request: ChatRequest, default: str) -> str:
        """Of the question; unknown: of the previous one; else the assistant's own."""
        for text in (request.question, request.previous_question):
            if language := detect_language(text, self.word_packs):
                return language
        return default


@dataclass(frozen=True, slots=True)
class ServedRequest:
    """One request with what serves it: what every step from the second on is given."""

    request: ChatRequest
    """Without our own fixed texts in its earlier turns."""
    caller: Caller
    model: Model
    assistant: Assistant
    language: str
