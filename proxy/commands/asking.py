"""`fiador ask`: one question through the real pipeline, on this terminal."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from types import MappingProxyType

import click

from proxy.app import opened
from proxy.commands.explain import explain, fields
from proxy.commands.shown import say_json
from proxy.desk import Desk
from proxy.errors import BusyError, ConfigError
from proxy.inside import Question, Seen, ask
from proxy.services import Model, UpstreamSink
from proxy.settings.tree import Settings
from proxy.types import Call, Ending


@dataclass(frozen=True, slots=True)
class How:
    """As whom and of which model to ask; `told` is "", "explain" or "json"."""

    alias: str
    groups: frozenset[str]
    dry: bool
    told: str


async def once(settings: Settings, text: str, how: How) -> None:
    """Asks and prints the answer as it is released."""
    question = _question(settings, text, how)
    async with opened(settings) as services:
        if how.dry:
            seen = await _rehearsed(question, services.desk)
        else:
            seen = await _asked(question, services.desk, _hush if how.told == "json" else _say)
    if how.told == "json":
        answer = {"answer": seen.text, "trace": fields(seen.trace) if seen.trace else None}
        return say_json(answer)
    if not how.dry:
        click.echo()
    elif seen.trace and not seen.trace.upstream_calls:
        click.echo(f"(dry run: ends before any model, {seen.trace.decision})", err=True)
    if how.told == "explain" and seen.trace:
        click.echo()
        explain(seen.trace)
    return None


def _question(settings: Settings, text: str, how: How) -> Question:
    model = how.alias or next(iter(settings.models))
    if model not in settings.models:
        raise ConfigError(f"--model: want one of {', '.join(settings.models)}, got `{model}`")
    if not text.strip():
        raise ConfigError("QUESTION: want a question, got an empty text")
    return Question(text, model, how.groups | settings.auth.public_groups)


async def _asked(question: Question, desk: Desk, hear: Callable[[str], None]) -> Seen:
    """Asked in earnest: whatever comes of it, `fiador decisions ID` opens it."""
    seen = Seen()
    try:
        return await ask(question, desk, hear, seen)
    finally:
        if seen.trace:
            await desk.decisions.write(seen.trace)


async def _rehearsed(question: Question, desk: Desk) -> Seen:
    """Asked up to the upstream, which fails for not being called; leaves no row, so it has no id."""
    seen = Seen()
    with suppress(BusyError):
        await ask(question, _dry(desk), seen=seen)
    if seen.trace:
        seen.trace.id = ""
    return seen


def _say(piece: str) -> None:
    click.echo(piece, nl=False)


def _hush(piece: str) -> None:
    pass


class _NotCalled:
    """The upstream of a dry run: everything happens up to it, and nothing behind it."""

    name = "dry run"

    def __init__(self, model: Model):
        self._model = model

    def body(self, call: Call) -> bytes:
        return self._model.upstream.body(call)

    async def run(self, call: Call, sink: UpstreamSink) -> Ending:
        size = len(self.body(call))
        upstream = self._model.upstream.name
        click.echo(f"(dry run: {size} bytes, {len(call.sources)} sources would go to `{upstream}`)", err=True)
        return Ending("failed", "dry run", sent=False, silent=True)


def _dry(desk: Desk) -> Desk:
    models = {
        alias: replace(model, upstream=_NotCalled(model), retries=0) for alias, model in desk.models.items()
    }
    return replace(desk, models=MappingProxyType(models))
