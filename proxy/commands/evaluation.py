"""Golden cases through the real pipeline, without any model call: what `eval` and `calibrate` share."""

import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType

from rich.console import Console

from golden import cases, report
from golden.cases import Case
from golden.outcome import Handed, Outcome
from golden.report import Report
from golden.run import evaluate
from indexes.embedding.embedder import BagOfTokens
from indexes.progress import show_progress
from proxy.app import Services, open_deployment
from proxy.app.evidence import Embedding, embedding
from proxy.commands.console import say_json
from proxy.commands.sync import synced
from proxy.domain.errors import ConfigError
from proxy.domain.ports import CostBound, Hold, Prices, Settled, Spent, Upstream
from proxy.domain.trace import Trace
from proxy.domain.types import Caller
from proxy.pipeline.context import AnswerContext
from proxy.pipeline.in_process import CapturedAnswer, InProcessQuestion, ask_in_process
from proxy.settings.tree import Settings
from proxy.upstream.scripted import Scene, Scripted


@dataclass(frozen=True, slots=True)
class Trial:
    """How cases are tried. `embedding`: "configured", "off" or "stand-in"; `live`: ask the real upstreams."""

    embedding: str = "configured"
    live: bool = False


async def judge(settings: Settings, sets: tuple[Path, ...], trial: Trial, *, as_json: bool) -> int:
    """Evaluates, prints, and gives the exit code."""
    found = await evaluated(settings, sets, trial)
    if as_json:
        say_json(report.data(found))
    else:
        Console(highlight=False).print(report.text(found), markup=False, soft_wrap=True)
    return found.exit_code


async def evaluated(settings: Settings, sets: tuple[Path, ...], trial: Trial) -> Report:
    """Grades every case of the sets."""
    async with _services(settings, trial) as services:
        return await _evaluated(services, sets, live=trial.live)


async def _evaluated(services: Services, sets: tuple[Path, ...], *, live: bool) -> Report:
    embedder = services.evidence.embedder
    meaning = embedder is not None and not isinstance(embedder, BagOfTokens)
    asked = cases.servable(cases.load(sets), meaning=meaning)
    done = 0
    with show_progress() as bar:

        def seen(_: object) -> None:
            nonlocal done
            done += 1
            bar("cases", done / len(asked))

        return await evaluate(asked, _Runner(services, live=live), seen)


@asynccontextmanager
async def _services(settings: Settings, trial: Trial) -> AsyncIterator[Services]:
    """The deployment over an index of its own, so that a trial neither needs nor spoils the one in use."""
    with tempfile.TemporaryDirectory(prefix="fiador-eval-") as folder:
        server = settings.server.model_copy(update={"data_dir": Path(folder)})
        own = settings.model_copy(update={"server": server})
        async with open_deployment(own, _embedding(settings, trial)) as services:
            await synced(own, services.evidence, services.packs)
            yield services


def _embedding(settings: Settings, trial: Trial) -> Embedding:
    match trial.embedding:
        case "stand-in":
            return Embedding(BagOfTokens())
        case "off":
            return Embedding(None)
        case _:
            return embedding(settings.embedding)


class _Runner:
    """Implements `golden.run.Runner`: the case's own script is played, otherwise the sources are quoted."""

    def __init__(self, services: Services, *, live: bool):
        self._services = services
        self._live = live
        quoting = next(
            (m.upstream for m in services.desk.models.values() if m.upstream.name == "extractive"), None
        )
        self._quoting = quoting

    async def run(self, case: Case) -> Outcome:
        settings = self._services.settings
        groups = case.groups if case.groups is not None else settings.auth.public_groups
        question = InProcessQuestion(case.question, case.model, groups, case.history, case.at)
        seen = await ask_in_process(question, self._desk(case))
        if seen.trace is None or seen.trace.decision is None or seen.end is None:
            raise ConfigError(f"{case.id}: the pipeline left no decision")
        return await self._outcome(case, seen, seen.trace, groups)

    def _desk(self, case: Case) -> AnswerContext:
        desk = self._services.desk
        if self._live:
            return desk
        speaker = self._speaker(case)
        models = {
            alias: replace(model, upstream=speaker or model.upstream) for alias, model in desk.models.items()
        }
        return replace(desk, models=MappingProxyType(models), ledger=_Free())

    def _speaker(self, case: Case) -> Upstream | None:
        """A scripted model for a case with a script; else quoting, which calls nothing."""
        return Scripted((Scene("*", case.script),)) if case.script else self._quoting

    async def _outcome(
        self, case: Case, seen: CapturedAnswer, trace: Trace, groups: frozenset[str]
    ) -> Outcome:
        assert trace.decision is not None
        assert seen.end is not None
        handed = [await self._handed(source) for source in trace.sources]
        heading = self._heading(case, trace.language)
        return Outcome(
            decision=trace.decision,
            answer=seen.text.split(f"\n\n{heading}:\n")[0],
            groups=groups,
            now=case.at or datetime.now(UTC),
            handed=tuple(handed),
            citations=seen.end.citations,
            topic=trace.topic,
            rule=trace.rule,
            layer=trace.layer,
            language=trace.language,
            assistant=self._services.desk.models[case.model].assistant,
            similarity=trace.best,
            upstream_calls=trace.upstream_calls,
            embedded=trace.embedded,
            mode=trace.mode,
        )

    def _heading(self, case: Case, language: str) -> str:
        assistant = self._services.desk.models[case.model].assistant
        return self._services.desk.assistants[assistant].texts.render_text("sources", language)

    async def _handed(self, source: Mapping[str, object]) -> Handed:
        """The source with its groups and validity as the truth has them, not as the pipeline believed."""
        document, id = str(source.get("document", "")), str(source["id"])
        access = await self._services.evidence.store.read_access(document or id)
        if access is None:
            raise ConfigError(f"{document or id}: was handed over, and the truth does not know it")
        url = source.get("url")
        return Handed(
            id=id,
            title=str(source["title"]),
            access=access,
            document_id=document,
            url=None if url is None else str(url),
            kind="passage" if document else "record",
        )


class _Free:
    """A ledger without caps: a trial spends nothing, and what others spent must not stop it."""

    async def reserve(self, caller: Caller, model: str, bound: CostBound, prices: Prices) -> Hold:
        return Hold("trial", bound.nanousd, prices, bound.input_tokens, bound.output_tokens)

    async def settle(self, hold: Hold, spent: Spent) -> Settled:
        return Settled(spent.usage.input or 0, spent.usage.output or 0, 0)
