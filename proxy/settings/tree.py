"""Every setting, on one page. `config/fiador.toml` shows each with its default and what it does."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, PrivateAttr, Tag

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=64)]
Fraction = Annotated[float, Field(ge=0, le=1)]
PositiveCount = Annotated[int, Field(ge=1)]
Seconds = Annotated[float, Field(gt=0)]


class Section(BaseModel):
    """A table of the file: unknown keys are errors, values do not change after loading."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=False, str_strip_whitespace=True)


class ServerSettings(Section):
    host: str = "127.0.0.1"
    port: int = Field(default=8080, ge=0, le=65535)
    workers: int = Field(default=1, ge=1, le=64)
    data_dir: Path = Path("data")
    body_bytes_max: PositiveCount = 1_000_000
    question_bytes_max: PositiveCount = 8_000
    turns_max: PositiveCount = 100
    history_bytes_max: PositiveCount = 200_000
    instructions_bytes_max: PositiveCount = 32_000
    first_byte_s: Seconds = 5
    keep_alive_s: Seconds = 10
    idle_s: Seconds = 65
    header_s: Seconds = 10
    shutdown_s: Seconds = 20
    streams_max: PositiveCount = 500
    queue_max: int = Field(default=200, ge=0)
    queue_s: Seconds = 2
    tools: Literal["reject", "drop"] = "reject"
    unknown_fields: Literal["reject", "drop"] = "reject"
    stop_finish: Literal["stop", "content_filter"] = "stop"
    background_tasks: Literal["refuse", "empty"] = "refuse"
    metrics_host: str = "127.0.0.1"
    metrics_port: int = Field(default=0, ge=0, le=65535)


class OpenAuthSettings(Section):
    groups: frozenset[str] = frozenset()
    allow_remote: bool = False


class JwtAuthSettings(Section):
    issuer: str
    audience: str
    jwks: str
    algorithms: tuple[str, ...] = ("RS256", "ES256", "EdDSA")
    groups_claim: str = "groups"
    scopes_claim: str = "scope"
    leeway_s: float = Field(default=30, ge=0, le=300)
    cache_s: Seconds = 300


class AuthSettings(Section):
    mode: Literal["keys", "open", "jwt"] = "keys"
    public_groups: frozenset[str] = frozenset({"public"})
    groups: dict[str, tuple[str, ...]] = {}
    open: OpenAuthSettings = OpenAuthSettings()
    jwt: JwtAuthSettings | None = None


class LimitSettings(Section):
    address_minute: int = Field(default=60, ge=0)
    address_hour: int = Field(default=1_000, ge=0)
    address_day: int = Field(default=5_000, ge=0)
    key_minute: int = Field(default=120, ge=0)
    key_concurrent: int = Field(default=20, ge=0)
    table_max: PositiveCount = 50_000
    trusted_networks: tuple[str, ...] = ()
    join_retries_s: float = Field(default=10, ge=0)


class EmbeddingSettings(Section):
    model: Literal["auto", "off"] | Path = "auto"
    threads: PositiveCount = 1
    cache_max: int = Field(default=2_000, ge=0)
    timeout_s: Seconds = 2


class GroupCapSettings(Section):
    usd_month: float | None = Field(default=None, ge=0)
    usd_day: float | None = Field(default=None, ge=0)


class LedgerSettings(Section):
    usd_month: float = Field(default=50, ge=0)
    usd_day: float | None = Field(default=None, ge=0)
    groups: dict[str, GroupCapSettings] = {}
    time_zone: str = "UTC"
    hold_s: Seconds = 300
    busy_s: Seconds = 2


class LogSettings(Section):
    level: Literal["debug", "info", "warning", "error"] = "info"
    format: Literal["text", "json"] = "text"
    questions: bool = True
    keep_days: int = Field(default=90, ge=1)


class SubjectSettings(Section):
    names: tuple[str, ...] = ()


class OwnTopicSettings(Section):
    phrases: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    answer_patterns: tuple[str, ...] = ()
    match: tuple[str, ...] = ()
    spare: tuple[str, ...] = ()
    texts: dict[str, str] = {}


class TopicsSettings(Section):
    off: frozenset[str] = frozenset()
    own: dict[Name, OwnTopicSettings] = {}


class EvidenceSettings(Section):
    limit: int = Field(default=8, ge=1, le=50)
    candidates: int = Field(default=30, ge=5, le=500)
    languages: Literal["any", "reader"] = "any"
    digest_records: int = Field(default=5, ge=1, le=50)
    overview_records: int = Field(default=20, ge=1, le=100)


class GateSettings(Section):
    transition_words_max: int = Field(default=6, ge=0, le=20)
    sentence_chars_max: int = Field(default=6_000, ge=200)
    spelled_numbers: Literal["off", "check"] = "check"
    output_bytes_per_token_max: int = Field(default=16, ge=1)


class AnswerSettings(Section):
    sources: Literal["both", "annotations", "list", "none"] = "both"
    mode: Literal["text", "structured"] = "text"


class AssistantSettings(Section):
    subject: SubjectSettings = SubjectSettings()
    about: str = ""
    voice: Literal["third_person", "we"] = "third_person"
    language: Name = "en"
    topics: TopicsSettings = TopicsSettings()
    prompt: Path | None = None
    evidence: EvidenceSettings = EvidenceSettings()
    threshold: Fraction | None = None
    thresholds: dict[Name, Fraction] = {}
    gate: GateSettings = GateSettings()
    answer: AnswerSettings = AnswerSettings()
    texts: dict[Name, dict[str, str]] = {}
    suggestions: tuple[str, ...] = ()
    sources: tuple[Name, ...] = ()
    records: tuple[Name, ...] = ()


class FolderSourceSettings(Section):
    type: Literal["folder"] = "folder"
    path: Path
    title: str = ""
    url_base: str = ""
    front_matter_may_widen: bool = False


class PushSourceSettings(Section):
    type: Literal["push"]
    title: str = ""


def _find_source_type(value: Any) -> str:
    """Which source a table describes: its `type`, a folder where none is said."""
    return str(value.get("type", "folder") if isinstance(value, dict) else value.type)


SourceSettings = Annotated[
    Annotated[FolderSourceSettings, Tag("folder")] | Annotated[PushSourceSettings, Tag("push")],
    Discriminator(_find_source_type),
]


class RecordBookSettings(Section):
    path: Path | None = None
    """None: the book is pushed."""
    title: str = ""


HTTP_PROTOCOLS = ("openai", "anthropic")
"""Those that `proxy.upstream.http_upstream` speaks over a network."""


class UpstreamSettings(Section):
    protocol: Literal["openai", "anthropic", "extractive", "scripted"]
    base_url: str = ""
    key_env: str = ""
    script: Path | None = None
    connect_s: Seconds = 5
    idle_s: Seconds = 30
    total_s: Seconds = 300
    retries: int = Field(default=2, ge=0, le=5)
    connections_max: PositiveCount = 100
    cap_field: Literal["max_tokens", "max_completion_tokens"] = "max_completion_tokens"
    reasoning_efforts: tuple[str, ...] = ()
    verbosities: tuple[str, ...] = ()
    sentences_max: int = Field(default=3, ge=1, le=20)

    @property
    def is_http(self) -> bool:
        """Whether it is a server: then it needs an address, and its models a name of their own there."""
        return self.protocol in HTTP_PROTOCOLS


class PriceSettings(Section):
    input_usd_per_million: float = Field(ge=0)
    output_usd_per_million: float = Field(ge=0)


class ModelSettings(Section):
    assistant: Name
    upstream: Name
    model: str = ""
    output_cap: PositiveCount = 800
    reasoning_cap: int = Field(default=0, ge=0)
    template_tokens: int = Field(default=200, ge=0)
    byte_tokens: float = Field(default=1.0, ge=1)
    prices: PriceSettings


class Settings(Section):
    """The whole file."""

    server: ServerSettings = ServerSettings()
    auth: AuthSettings = AuthSettings()
    limits: LimitSettings = LimitSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    ledger: LedgerSettings = LedgerSettings()
    log: LogSettings = LogSettings()
    assistants: dict[Name, AssistantSettings]
    sources: dict[Name, SourceSettings] = {}
    records: dict[Name, RecordBookSettings] = {}
    upstreams: dict[Name, UpstreamSettings]
    models: dict[Name, ModelSettings]
    _folder: Path = PrivateAttr(default=Path())

    @property
    def folder(self) -> Path:
        """Where the file lies: `load_settings` knows it, the file does not say it."""
        return self._folder

    def copy_with_folder(self, folder: Path) -> "Settings":
        """The same settings, read from a file in `folder`."""
        settings = self.model_copy()
        settings._folder = folder
        return settings
