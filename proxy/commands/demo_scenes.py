"""The acts of the demo: what is asked, what a person sees, and the checks that make it a test."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from textwrap import indent
from typing import cast

from openai import OpenAI, Stream
from openai.types.chat import ChatCompletionChunk
from rich.console import Console
from rich.markup import escape

from proxy.app import paths
from proxy.commands.console import directed, money
from proxy.domain.trace import Trace
from proxy.domain.types import Decision
from proxy.observe.decisions import Decisions
from proxy.settings.tree import Settings


@dataclass(frozen=True, slots=True)
class Shown:
    """One answer as the client saw it, and the row that it left in the decision log."""

    text: str
    links: tuple[str, ...]
    trace: Trace


@dataclass(slots=True)
class Stage:
    """Asks as one of the callers, prints, and counts the checks that failed."""

    clients: Mapping[str, OpenAI]
    settings: Settings
    out: Console
    failed: int = field(default=0)

    def title(self, text: str) -> None:
        self.out.print(f"\n[bold]{escape(text)}[/]")

    def ask(self, question: str, model: str = "help", caller: str = "public") -> Shown:
        """Streams one answer through the OpenAI client, printing each piece when it comes."""
        self.out.print(f"[cyan]{escape(caller)} asks {escape(model)}:[/] {escape(directed(question))}")
        began = time.perf_counter()
        messages = [{"role": "user", "content": question}]
        raw = self.clients[caller].chat.completions.with_raw_response.create(
            model=model,
            messages=messages,  # type: ignore[arg-type]
            stream=True,
        )
        text, links = "", []
        chunks = cast(Stream[ChatCompletionChunk], raw.parse())
        for chunk in chunks:
            delta = chunk.choices[0].delta if chunk.choices else None
            for cited in (getattr(delta, "annotations", None) or []) if delta else []:
                links.append(str(cited["url_citation"]["url"]))
            if delta and delta.content:
                text += delta.content
                spent_ms = (time.perf_counter() - began) * 1000
                shown = indent(escape(directed(delta.content.strip())), " " * 13).lstrip(" ")
                self.out.print(f"  [dim]{spent_ms:6.0f} ms[/]  {shown}" if shown else "")
        trace = asyncio.run(self._trace(raw.headers["x-fiador-id"]))
        self._told(trace)
        return Shown(text, tuple(links), trace)

    def check(self, holds: bool, claim: str) -> None:
        self.failed += not holds
        self.out.print(f"  [green]✓[/] {escape(claim)}" if holds else f"  [red]✗ {escape(claim)}[/]")

    def decided(self, shown: Shown, decision: Decision) -> None:
        self.check(shown.trace.decision == decision, f"decision: {decision}")

    def uncalled(self, shown: Shown) -> None:
        self.check(shown.trace.upstream_calls == 0, "calls to the model: 0")

    async def _trace(self, id: str) -> Trace:
        async with Decisions(paths(self.settings).decisions) as log:
            for _ in range(100):
                if (trace := await log.read(id)) is not None:
                    return trace
                await asyncio.sleep(0.05)
        raise RuntimeError(f"the decision log has no row {id}")

    def _told(self, trace: Trace) -> None:
        best = (
            ""
            if trace.best is None
            else f", similarity {trace.best:.2f} by {trace.mode} (threshold {trace.threshold})"
        )
        spent = f", held {money(trace.hold_nanousd)}, charged {money(trace.cost_nanousd)}"
        self.out.print(f"  [dim]{trace.decision}{best}{spent if trace.upstream_calls else ''}[/]")


def answered(stage: Stage) -> None:
    stage.title("1. An answer, sentence by sentence, each with its source")
    shown = stage.ask("What does the Basic plan cost a month, and how many tools may I borrow at a time?")
    stage.decided(shown, Decision.ANSWERED)
    stage.check("12.50" in shown.text, "the price of the plan is in the answer")
    stage.check("https://tolva.example/plans" in shown.links, "it is cited with a link to the document")
    shown = stage.ask("¿Cuánto cuesta al mes el plan Básico?")
    stage.decided(shown, Decision.ANSWERED)
    stage.check("12,50 euros al mes" in shown.text, "a question in Spanish is answered in Spanish")
    shown = stage.ask("طرح پایه ماهانه چند یورو هزینه دارد؟")
    stage.decided(shown, Decision.ANSWERED)


def refused(stage: Stage) -> None:
    stage.title("2. What must not be answered, and what the documents do not cover: no model is called")
    shown = stage.ask("What are Darya Quintanar's rates for a restoration?", "person")
    stage.decided(shown, Decision.REFUSED)
    stage.check(not shown.trace.embedded, "nothing was embedded or searched")
    stage.uncalled(shown)
    shown = stage.ask("What is the capital of Mongolia?")
    stage.decided(shown, Decision.NO_EVIDENCE)
    stage.uncalled(shown)


def lied(stage: Stage) -> None:
    stage.title("3. A model that lies: what is true is released, the altered number never leaves")
    shown = stage.ask("What does the Workshop plan cost?", "help-lying")
    stage.decided(shown, Decision.STOPPED)
    stage.check("29 euros" in shown.text, "the true sentences were released")
    stage.check("36" not in shown.text, "the altered price was never sent")
    stage.check("coffee" not in shown.text, "the model was cut off: nothing behind it was sent")
    stage.check(
        shown.trace.rule == "values", f"stopped by the rule `values`, because of {shown.trace.offending!r}"
    )
    stage.check(
        shown.trace.cost_nanousd > 0, f"what it had said was charged: {money(shown.trace.cost_nanousd)}"
    )


def permitted(stage: Stage) -> None:
    stage.title("4. Only what the asker may see, and only while it is valid")
    question = "What rebate does the supplier contract with Bronsk Tools grant?"
    shown = stage.ask(question, caller="finance")
    stage.decided(shown, Decision.ANSWERED)
    shown = stage.ask(question, caller="public")
    stage.check("17" not in shown.text, "a caller without the group does not learn it")
    handed = [str(source.get("document", "")) for source in shown.trace.sources]
    stage.check(not any("/finance/" in id for id in handed), "and nothing of it was handed to the model")
    shown = stage.ask("What did the Basic plan cost in 2024 a month?", caller="finance")
    stage.check("9.90" not in shown.text, "the expired price list answers nobody")
    handed = [str(source.get("document", "")) for source in shown.trace.sources]
    stage.check("tolva/prices/plans-2024.md" not in handed, "nothing of it was handed to the model")
    stage.check("tolva/prices/plans.md" in handed, "its successor was")


def spent(stage: Stage) -> None:
    stage.title("5. A cap that is used up: a fixed notice, no call")
    shown = stage.ask("What does the Basic plan cost a month?", caller="empty")
    stage.decided(shown, Decision.OVER_BUDGET)
    stage.uncalled(shown)


ACTS = (answered, refused, lied, permitted, spent)
