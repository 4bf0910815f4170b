"""open_deployment(): everything that serving needs, from one configuration; closed in reverse order."""

import secrets
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from proxy.app.assistants import Packs, packs, persona
from proxy.app.evidence import Embedding, Evidence, embedding, evidence
from proxy.app.paths import paths
from proxy.app.upstreams import models, upstreams
from proxy.auth import Door, Keys, checker
from proxy.ledger.periods import caps
from proxy.ledger.sqlite import SqliteLedger
from proxy.limits import Limits, MemoryStore, Store
from proxy.limits.sqlite import SqliteStore
from proxy.observe.decisions import Decisions
from proxy.observe.metrics import Metrics
from proxy.observe.recorder import Recorder
from proxy.pipeline.coalesce import RequestCoalescer
from proxy.pipeline.context import AnswerContext
from proxy.settings import lock, tree
from proxy.settings.lock import Lock
from proxy.wire.request import RequestPolicy, parse_chat_request


@dataclass(frozen=True, slots=True)
class Services:
    """The desk that requests are answered at, and what stands behind it."""

    settings: tree.Settings
    desk: AnswerContext
    evidence: Evidence
    packs: Packs
    ledger: SqliteLedger
    decisions: Decisions
    metrics: Metrics
    lock: Lock | None
    warnings: tuple[str, ...]
    """What an operator should know of the thresholds."""


@asynccontextmanager
async def open_deployment(settings: tree.Settings, made: Embedding | None = None) -> AsyncIterator[Services]:
    """Opens every service. `made`: an embedder of one's own instead of the configured one.

    Raises `ConfigError` and `StoreError`; what was opened until then is closed.
    """
    async with AsyncExitStack() as stack:
        where = paths(settings)
        known = packs()
        behind = await evidence(settings, known.words, made or embedding(settings.embedding), stack)
        name = behind.embedder.name if behind.embedder else ""
        found = lock.read(settings.folder / lock.NAME)
        calibrated = found if found and found.model == name else None
        books = await stack.enter_async_context(ledger(settings))
        log = settings.log
        decisions = await stack.enter_async_context(
            Decisions(where.decisions, questions=log.questions, keep_days=log.keep_days)
        )
        keys = await stack.enter_async_context(Keys(where.keys))
        limits = Limits(settings.limits, await _counts(settings, stack))
        metrics = Metrics()
        _read(metrics, limits, decisions, behind)
        desk = AnswerContext(
            auth=_door(settings, keys),
            limits=limits,
            coalescer=RequestCoalescer(settings.limits.join_retries_s),
            parse_request=partial(parse_chat_request, policy=_policy(settings.server)),
            models=models(settings, await upstreams(settings.upstreams, known, stack)),
            assistants={
                name: persona(name, one, known, calibrated) for name, one in settings.assistants.items()
            },
            word_packs=known.words,
            finder=behind.search,
            book=behind.records,
            ledger=books,
            decisions=Recorder(decisions, metrics, questions=log.questions),
            now=lambda: datetime.now(UTC),
            new_id=lambda: secrets.token_hex(12),
            background_tasks=settings.server.background_tasks,
            stop_finish=settings.server.stop_finish,
        )
        yield Services(
            settings=settings,
            desk=desk,
            evidence=behind,
            packs=known,
            ledger=books,
            decisions=decisions,
            metrics=metrics,
            lock=calibrated,
            warnings=tuple(lock.warnings(found, settings, name)),
        )


def _door(settings: tree.Settings, keys: Keys) -> Door:
    trusted = settings.limits.trusted_networks
    return Door(settings.auth, keys=keys, tokens=checker(settings.auth), trusted=trusted)


async def _counts(settings: tree.Settings, stack: AsyncExitStack) -> Store:
    """Where limits are counted: one worker remembers, several share a file."""
    table_max = settings.limits.table_max
    if settings.server.workers == 1:
        return MemoryStore(table_max)
    return await stack.enter_async_context(SqliteStore(paths(settings).limits, table_max))


def _read(metrics: Metrics, limits: Limits, decisions: Decisions, behind: Evidence) -> None:
    """Shows the counts that other parts keep."""
    metrics.total(
        "fiador_limits_failures_total", "Requests let through without limits.", lambda: limits.failures
    )
    metrics.total("fiador_decisions_lost_total", "Rows that the decision log lost.", lambda: decisions.lost)
    metrics.total(
        "fiador_stale_total", "Hits of an index that the truth refused.", lambda: behind.search.stale_count
    )


def ledger(settings: tree.Settings) -> SqliteLedger:
    """The books of a deployment, to be opened by `async with`."""
    said = settings.ledger
    return SqliteLedger(
        paths(settings).ledger,
        caps(said),
        time_zone=said.time_zone,
        hold_s=said.hold_s,
        busy_s=said.busy_s,
    )


def _policy(server: tree.Server) -> RequestPolicy:
    return RequestPolicy(
        tools=server.tools,
        unknown_fields=server.unknown_fields,
        question_bytes_max=server.question_bytes_max,
        turns_max=server.turns_max,
        history_bytes_max=server.history_bytes_max,
        instructions_bytes_max=server.instructions_bytes_max,
    )
