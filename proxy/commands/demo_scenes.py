"""The scenes of the demo: what is asked, what a person sees, and the checks that make it a test."""

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

from proxy.app import build_data_paths
from proxy.commands.console import format_usd, isolate_direction
from proxy.domain.trace import Trace
from proxy.domain.types import Decision
from proxy.gate.types import GateRule
from proxy.observe.decisions import SqliteDecisionLog
from proxy.settings.tree import Settings


@dataclass(frozen=True, slots=True)
class DemoAnswer:
    """One answer as the client saw it, and the row that it left in the decision log."""

    text: str
    links: tuple[str, ...]
    trace: Trace


@dataclass(slots=True)
class DemoStage:
    """Asks as one of the callers, prints, and counts the checks that failed."""

    clients: Mapping[str, OpenAI]
    settings: Settings
    out: Console
    failure_count: int = field(default=0)

    def print_title(self, text: str) -> None:
        """Prints the heading of a scene."""
        self.out.print(f"\n[bold]{escape(text)}[/]")

    def ask_question(self, question: str, model: str = "help", caller: str = "public") -> DemoAnswer:
        """Streams one answer through the OpenAI client, printing each piece when it comes."""
        self.out.print(
            f"[cyan]{escape(caller)} asks {escape(model)}:[/] {escape(isolate_direction(question))}"
        )
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
            for annotation in (getattr(delta, "annotations", None) or []) if delta else []:
                links.append(str(annotation["url_citation"]["url"]))
            if delta and delta.content:
                text += delta.content
                elapsed_ms = (time.perf_counter() - began) * 1000
                shown = indent(escape(isolate_direction(delta.content.strip())), " " * 13).lstrip(" ")
                self.out.print(f"  [dim]{elapsed_ms:6.0f} ms[/]  {shown}" if shown else "")
        trace = asyncio.run(self._read_trace(raw.headers["x-fiador-id"]))
        self._print_trace_line(trace)
        return DemoAnswer(text, tuple(links), trace)

    def check_claim(self, holds: bool, claim: str) -> None:
        """Prints the claim with whether it holds, and counts it if not."""
        self.failure_count += not holds
        self.out.print(f"  [green]✓[/] {escape(claim)}" if holds else f"  [red]✗ {escape(claim)}[/]")

    def check_decision(self, answer: DemoAnswer, decision: Decision) -> None:
        """Claims that the answer ended with this decision."""
        self.check_claim(answer.trace.decision == decision, f"decision: {decision}")

    def check_no_calls(self, answer: DemoAnswer) -> None:
        """Claims that no model was called for the answer."""
        self.check_claim(answer.trace.upstream_calls == 0, "calls to the model: 0")

    async def _read_trace(self, id: str) -> Trace:
        """The request's row, waited for: the proxy writes it when the client has its answer already."""
        async with SqliteDecisionLog(build_data_paths(self.settings).decisions) as log:
            for _ in range(100):
                if (trace := await log.read_trace(id)) is not None:
                    return trace
                await asyncio.sleep(0.05)
        raise RuntimeError(f"the decision log has no row {id}")

    def _print_trace_line(self, trace: Trace) -> None:
        best = (
            ""
            if trace.best is None
            else f", similarity {trace.best:.2f} by {trace.mode} (threshold {trace.threshold})"
        )
        money = f", held {format_usd(trace.hold_nanousd)}, charged {format_usd(trace.cost_nanousd)}"
        self.out.print(f"  [dim]{trace.decision}{best}{money if trace.upstream_calls else ''}[/]")


def play_answer(stage: DemoStage) -> None:
    stage.print_title("1. An answer, sentence by sentence, each with its source")
    answer = stage.ask_question(
        "What does the Basic plan cost a month, and how many tools may I borrow at a time?"
    )
    stage.check_decision(answer, Decision.ANSWERED)
    stage.check_claim("12.50" in answer.text, "the price of the plan is in the answer")
    stage.check_claim(
        "https://tolva.example/plans" in answer.links, "it is cited with a link to the document"
    )
    answer = stage.ask_question("¿Cuánto cuesta al mes el plan Básico?")
    stage.check_decision(answer, Decision.ANSWERED)
    stage.check_claim("12,50 euros al mes" in answer.text, "a question in Spanish is answered in Spanish")
    answer = stage.ask_question("طرح پایه ماهانه چند یورو هزینه دارد؟")
    stage.check_decision(answer, Decision.ANSWERED)


def play_refusals(stage: DemoStage) -> None:
    stage.print_title("2. What must not be answered, and what the documents do not cover: no model is called")
    answer = stage.ask_question("What are Darya Quintanar's rates for a restoration?", "person")
    stage.check_decision(answer, Decision.REFUSED)
    stage.check_claim(not answer.trace.embedded, "nothing was embedded or searched")
    stage.check_no_calls(answer)
    answer = stage.ask_question("What is the capital of Mongolia?")
    stage.check_decision(answer, Decision.NO_EVIDENCE)
    stage.check_no_calls(answer)


def play_lying_model(stage: DemoStage) -> None:
    stage.print_title("3. A model that lies: what is true is released, the altered number never leaves")
    answer = stage.ask_question("What does the Workshop plan cost?", "help-lying")
    stage.check_decision(answer, Decision.STOPPED)
    stage.check_claim("29 euros" in answer.text, "the true sentences were released")
    stage.check_claim("36" not in answer.text, "the altered price was never sent")
    stage.check_claim("coffee" not in answer.text, "the model was cut off: nothing behind it was sent")
    stage.check_claim(
        answer.trace.rule == GateRule.VALUES,
        f"stopped by the rule `values`, because of {answer.trace.offending!r}",
    )
    stage.check_claim(
        answer.trace.cost_nanousd > 0,
        f"what it had said was charged: {format_usd(answer.trace.cost_nanousd)}",
    )


def play_permissions(stage: DemoStage) -> None:
    stage.print_title("4. Only what the asker may see, and only while it is valid")
    question = "What rebate does the supplier contract with Bronsk Tools grant?"
    answer = stage.ask_question(question, caller="finance")
    stage.check_decision(answer, Decision.ANSWERED)
    answer = stage.ask_question(question, caller="public")
    stage.check_claim("17" not in answer.text, "a caller without the group does not learn it")
    documents = [str(source.get("document", "")) for source in answer.trace.sources]
    stage.check_claim(
        not any("/finance/" in id for id in documents), "and nothing of it was handed to the model"
    )
    answer = stage.ask_question("What did the Basic plan cost in 2024 a month?", caller="finance")
    stage.check_claim("9.90" not in answer.text, "the expired price list answers nobody")
    documents = [str(source.get("document", "")) for source in answer.trace.sources]
    stage.check_claim("tolva/prices/plans-2024.md" not in documents, "nothing of it was handed to the model")
    stage.check_claim("tolva/prices/plans.md" in documents, "its successor was")


def play_exhausted_cap(stage: DemoStage) -> None:
    stage.print_title("5. A cap that is used up: a fixed notice, no call")
    answer = stage.ask_question("What does the Basic plan cost a month?", caller="empty")
    stage.check_decision(answer, Decision.OVER_BUDGET)
    stage.check_no_calls(answer)


SCENES = (play_answer, play_refusals, play_lying_model, play_permissions, play_exhausted_cap)
