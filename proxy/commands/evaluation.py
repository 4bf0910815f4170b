"""Golden cases through the real pipeline, by default without any model call: for `eval` and `calibrate`."""

import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType

from rich.console import Console

from golden import cases, report
from golden.cases import GoldenCase
from golden.outcome import CaseOutcome, HandedSource
from golden.report import Report
from golden.run import evaluate_cases
from indexes.embedding.embedder import BagOfTokens
from indexes.progress import show_progress
from proxy.app import Deployment, open_deployment
from proxy.app.evidence import ConfiguredEmbedder, load_embedder
from proxy.commands.console import print_json
from proxy.commands.sync import sync_index
from proxy.domain.errors import ConfigError
from proxy.domain.ports import CostBound, Hold, Prices, Settled, Spent, Upstream
from proxy.domain.trace import Trace
from proxy.domain.types import Caller
from proxy.pipeline.context import AnswerContext
from proxy.pipeline.in_process import CapturedAnswer, InProcessQuestion, ask_in_process
from proxy.settings.tree import Settings
from proxy.upstream.scripted import ScriptedUpstream, ScriptScene


@dataclass(frozen=True, slots=True)
class EvaluationTrial:
    """How cases are tried. `embedding`: "configured", "off" or "stand-in"; `live`: ask the real upstreams."""

    embedding: str = "configured"
    live: bool = False


async def run_evaluation(
    settings: Settings, sets: tuple[Path, ...], trial: EvaluationTrial, *, as_json: bool
) -> int:
    """Grades, prints the report, and gives the exit code."""
    graded = await evaluate_sets(settings, sets, trial)
    if as_json:
        print_json(report.build_report_data(graded))
    else:
        Console(highlight=False).print(report.render_report(graded), markup=False, soft_wrap=True)
    return graded.exit_code


async def evaluate_sets(settings: Settings, sets: tuple[Path, ...], trial: EvaluationTrial) -> Report:
    """Grades every case of the sets."""
    async with open_trial_deployment(settings, trial) as deployment:
        return await evaluate_on_deployment(deployment, sets, live=trial.live)


async def evaluate_on_deployment(deployment: Deployment, sets: tuple[Path, ...], *, live: bool) -> Report:
    """Grades the cases of the sets; those that need meaning are left out where no real model embeds."""
    embedder = deployment.evidence.embedder
    has_meaning = embedder is not None and not isinstance(embedder, BagOfTokens)
    selected_cases = cases.select_servable(cases.load_cases(sets), has_meaning=has_meaning)
    done = 0
    with show_progress() as bar:

        def count_case(_: object) -> None:
            nonlocal done
            done += 1
            bar("cases", done / len(selected_cases))

        return await evaluate_cases(selected_cases, _DeploymentRunner(deployment, live=live), count_case)


@asynccontextmanager
async def open_trial_deployment(settings: Settings, trial: EvaluationTrial) -> AsyncIterator[Deployment]:
    """The deployment over an index of its own, so that a trial neither needs nor spoils the one in use."""
    with tempfile.TemporaryDirectory(prefix="fiador-eval-") as folder:
        server = settings.server.model_copy(update={"data_dir": Path(folder)})
        trial_settings = settings.model_copy(update={"server": server})
        async with open_deployment(trial_settings, _choose_embedding(settings, trial)) as deployment:
            await sync_index(trial_settings, deployment.evidence, deployment.packs)
            yield deployment


def _choose_embedding(settings: Settings, trial: EvaluationTrial) -> ConfiguredEmbedder:
    match trial.embedding:
        case "stand-in":
            return ConfiguredEmbedder(BagOfTokens())
        case "off":
            return ConfiguredEmbedder(None)
        case _:
            return load_embedder(settings.embedding)


class _DeploymentRunner:
    """The `golden.run.CaseRunner`: the case's own script is played, otherwise the sources are quoted."""

    def __init__(self, deployment: Deployment, *, live: bool):
        self._deployment = deployment
        self._live = live
        upstreams = (model.upstream for model in deployment.context.models.values())
        self._quoting_upstream = next((u for u in upstreams if u.name == "extractive"), None)

    async def run_case(self, case: GoldenCase) -> CaseOutcome:
        settings = self._deployment.settings
        groups = case.groups if case.groups is not None else settings.auth.public_groups
        question = InProcessQuestion(case.question, case.model, groups, case.history, case.at)
        answer = await ask_in_process(question, self._build_context(case))
        if answer.trace is None or answer.trace.decision is None or answer.end is None:
            raise ConfigError(f"{case.id}: the pipeline left no decision")
        return await self._build_outcome(case, answer, answer.trace, groups)

    def _build_context(self, case: GoldenCase) -> AnswerContext:
        context = self._deployment.context
        if self._live:
            return context
        upstream = self._choose_upstream(case)
        models = {
            alias: replace(model, upstream=upstream or model.upstream)
            for alias, model in context.models.items()
        }
        return replace(context, models=MappingProxyType(models), ledger=_UncappedLedger())

    def _choose_upstream(self, case: GoldenCase) -> Upstream | None:
        """A scripted model for a case with a script; else quoting, which calls nothing."""
        return ScriptedUpstream((ScriptScene("*", case.script),)) if case.script else self._quoting_upstream

    async def _build_outcome(
        self, case: GoldenCase, answer: CapturedAnswer, trace: Trace, groups: frozenset[str]
    ) -> CaseOutcome:
        assert trace.decision is not None
        assert answer.end is not None
        handed = [await self._build_handed_source(source) for source in trace.sources]
        heading = self._find_sources_heading(case, trace.language)
        return CaseOutcome(
            decision=trace.decision,
            answer=answer.text.split(f"\n\n{heading}:\n")[0],
            groups=groups,
            now=case.at or datetime.now(UTC),
            handed=tuple(handed),
            citations=answer.end.citations,
            topic=trace.topic,
            rule=trace.rule,
            layer=trace.layer,
            language=trace.language,
            assistant=self._deployment.context.models[case.model].assistant,
            similarity=trace.best,
            upstream_calls=trace.upstream_calls,
            embedded=trace.embedded,
            mode=trace.mode,
        )

    def _find_sources_heading(self, case: GoldenCase, language: str) -> str:
        assistant = self._deployment.context.models[case.model].assistant
        return self._deployment.context.assistants[assistant].texts.render_text("sources", language)

    async def _build_handed_source(self, source: Mapping[str, object]) -> HandedSource:
        """The source with its groups and validity as the truth has them, not as the pipeline believed."""
        document, id = str(source.get("document", "")), str(source["id"])
        access = await self._deployment.evidence.store.read_access(document or id)
        if access is None:
            raise ConfigError(f"{document or id}: was handed over, and the truth does not know it")
        url = source.get("url")
        return HandedSource(
            id=id,
            title=str(source["title"]),
            access=access,
            document_id=document,
            url=None if url is None else str(url),
            kind="passage" if document else "record",
        )


class _UncappedLedger:
    """A ledger without caps: a trial spends nothing, and what others spent must not stop it."""

    async def reserve(self, caller: Caller, model: str, bound: CostBound, prices: Prices) -> Hold:
        return Hold("trial", bound.nanousd, prices, bound.input_tokens, bound.output_tokens)

    async def settle(self, hold: Hold, spent: Spent) -> Settled:
        return Settled(spent.usage.input or 0, spent.usage.output or 0, 0)
