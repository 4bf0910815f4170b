"""open_deployment(): everything that serving needs, from one configuration; closed in reverse order."""

import secrets
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from proxy.app.assistants import LanguagePacks, build_assistant, load_language_packs
from proxy.app.evidence import ConfiguredEmbedder, EvidenceStores, load_embedder, open_evidence
from proxy.app.paths import build_data_paths
from proxy.app.upstreams import build_models, open_upstreams
from proxy.auth import CallerAuthenticator, KeyStore, build_token_checker
from proxy.ledger.periods import build_caps
from proxy.ledger.sqlite import SqliteLedger
from proxy.limits import LimitStore, MemoryLimitStore, RateLimits
from proxy.limits.sqlite import SqliteLimitStore
from proxy.observe.decisions import SqliteDecisionLog
from proxy.observe.metrics import Metrics
from proxy.observe.recorder import DecisionRecorder
from proxy.pipeline.coalesce import RequestCoalescer
from proxy.pipeline.context import AnswerContext
from proxy.settings import lock, tree
from proxy.settings.lock import ThresholdLock
from proxy.wire.chat_request import RequestPolicy, parse_chat_request


@dataclass(frozen=True, slots=True)
class Deployment:
    """The context that requests are answered in, and what stands behind it."""

    settings: tree.Settings
    context: AnswerContext
    evidence: EvidenceStores
    packs: LanguagePacks
    ledger: SqliteLedger
    decisions: SqliteDecisionLog
    metrics: Metrics
    threshold_lock: ThresholdLock | None
    warnings: tuple[str, ...]
    """What an operator should know of the thresholds."""


@asynccontextmanager
async def open_deployment(
    settings: tree.Settings, embedding: ConfiguredEmbedder | None = None
) -> AsyncIterator[Deployment]:
    """Opens everything that serving needs. `embedding`: another embedder than the configured one.

    Raises `ConfigError` and `StoreError`; what was opened until then is closed.
    """
    async with AsyncExitStack() as stack:
        language_packs = load_language_packs()
        evidence = await open_evidence(
            settings, language_packs.words, embedding or load_embedder(settings.embedding), stack
        )
        embedder_name = evidence.embedder.name if evidence.embedder else ""
        lock_file = lock.read_lock(settings.folder / lock.LOCK_FILE_NAME)
        calibrated = lock_file if lock_file and lock_file.model == embedder_name else None
        spending_ledger = await stack.enter_async_context(make_ledger(settings))
        decisions = await stack.enter_async_context(_make_decision_log(settings))
        keys = await stack.enter_async_context(KeyStore(build_data_paths(settings).keys))
        limits = RateLimits(settings.limits, await _open_limit_store(settings, stack))
        metrics = Metrics()
        _register_counts(metrics, limits, decisions, evidence)
        context = AnswerContext(
            auth=_build_authenticator(settings, keys),
            limits=limits,
            coalescer=RequestCoalescer(settings.limits.join_retries_s),
            parse_request=partial(parse_chat_request, policy=_build_policy(settings.server)),
            models=build_models(settings, await open_upstreams(settings.upstreams, language_packs, stack)),
            assistants={
                name: build_assistant(name, assistant, language_packs, calibrated)
                for name, assistant in settings.assistants.items()
            },
            word_packs=language_packs.words,
            evidence_finder=evidence.search,
            record_finder=evidence.records,
            ledger=spending_ledger,
            decisions=DecisionRecorder(decisions, metrics, keep_questions=settings.log.questions),
            now=lambda: datetime.now(UTC),
            new_id=lambda: secrets.token_hex(12),
            background_tasks=settings.server.background_tasks,
            stop_finish=settings.server.stop_finish,
        )
        yield Deployment(
            settings=settings,
            context=context,
            evidence=evidence,
            packs=language_packs,
            ledger=spending_ledger,
            decisions=decisions,
            metrics=metrics,
            threshold_lock=calibrated,
            warnings=tuple(lock.list_lock_warnings(lock_file, settings, embedder_name)),
        )


def _make_decision_log(settings: tree.Settings) -> SqliteDecisionLog:
    """To be opened by `async with`."""
    log = settings.log
    path = build_data_paths(settings).decisions
    return SqliteDecisionLog(path, keep_questions=log.questions, keep_days=log.keep_days)


def _build_authenticator(settings: tree.Settings, keys: KeyStore) -> CallerAuthenticator:
    trusted = settings.limits.trusted_networks
    return CallerAuthenticator(
        settings.auth, keys=keys, token_checker=build_token_checker(settings.auth), trusted_networks=trusted
    )


async def _open_limit_store(settings: tree.Settings, stack: AsyncExitStack) -> LimitStore:
    """Where limits are counted: one worker remembers, several share a file."""
    table_max = settings.limits.table_max
    if settings.server.workers == 1:
        return MemoryLimitStore(table_max)
    return await stack.enter_async_context(SqliteLimitStore(build_data_paths(settings).limits, table_max))


def _register_counts(
    metrics: Metrics, limits: RateLimits, decisions: SqliteDecisionLog, evidence: EvidenceStores
) -> None:
    """Shows the counts that other parts keep."""
    metrics.register_counter(
        "fiador_limits_failures_total", "Requests let through without limits.", lambda: limits.failure_count
    )
    metrics.register_counter(
        "fiador_decisions_lost_total", "Rows that the decision log lost.", lambda: decisions.lost_count
    )
    metrics.register_counter(
        "fiador_stale_total", "Hits of an index that the truth refused.", lambda: evidence.search.stale_count
    )


def make_ledger(settings: tree.Settings) -> SqliteLedger:
    """The books of a deployment, to be opened by `async with`."""
    ledger_settings = settings.ledger
    return SqliteLedger(
        build_data_paths(settings).ledger,
        build_caps(ledger_settings),
        time_zone=ledger_settings.time_zone,
        hold_s=ledger_settings.hold_s,
        busy_s=ledger_settings.busy_s,
    )


def _build_policy(server: tree.ServerSettings) -> RequestPolicy:
    return RequestPolicy(
        tools=server.tools,
        unknown_fields=server.unknown_fields,
        question_bytes_max=server.question_bytes_max,
        turns_max=server.turns_max,
        history_bytes_max=server.history_bytes_max,
        instructions_bytes_max=server.instructions_bytes_max,
    )
