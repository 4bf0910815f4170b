"""Upstreams and the models over them."""

import os
from collections.abc import Mapping
from contextlib import AsyncExitStack

from indexes.text.language import detect_language
from proxy.app.assistants import Packs
from proxy.domain.errors import ConfigError
from proxy.domain.ports import Model, Prices, Upstream
from proxy.gate.endings import Ends
from proxy.gate.lexicon import Lexicons
from proxy.gate.sentences import Scanner
from proxy.ledger.prices import usd
from proxy.settings import tree
from proxy.upstream import scripted
from proxy.upstream.anthropic import AnthropicUpstream
from proxy.upstream.extractive import Extractive, Split
from proxy.upstream.openai import OpenAIUpstream


async def upstreams(
    settings: Mapping[str, tree.Upstream], packs: Packs, stack: AsyncExitStack
) -> dict[str, Upstream]:
    """Every configured upstream; `stack` closes their connections. Raises `ConfigError` with all faults."""
    made: dict[str, Upstream] = {}
    faults: list[str] = []
    for name, one in settings.items():
        try:
            made[name] = _upstream(name, one, packs, stack)
        except ConfigError as fault:
            faults += fault.faults
    if faults:
        raise ConfigError(*faults)
    return made


def _upstream(name: str, settings: tree.Upstream, packs: Packs, stack: AsyncExitStack) -> Upstream:
    match settings.protocol:
        case "extractive":
            return Extractive(_split(packs), settings.sentences_max)
        case "scripted" if settings.script:
            return scripted.Scripted(scripted.read(settings.script))
        case "anthropic":
            anthropic = AnthropicUpstream(settings, _key(name, settings))
            stack.push_async_callback(anthropic.aclose)
            return anthropic
        case _:
            openai = OpenAIUpstream(settings, _key(name, settings))
            stack.push_async_callback(openai.aclose)
            return openai


def _split(packs: Packs) -> Split:
    lexicons = Lexicons(packs.sentences)

    def split(text: str, language: str) -> list[str]:
        ends = Ends(
            lexicons, language, lambda part, default: detect_language(part, packs.words, default) or default
        )
        scanner = Scanner(ends, len(text))
        return [unit.text for unit in (*scanner.feed(text), *scanner.finish())]

    return split


def _key(name: str, settings: tree.Upstream) -> str:
    if not settings.key_env:
        return ""
    key = os.environ.get(settings.key_env, "")
    if not key:
        raise ConfigError(
            f"upstreams.{name}.key_env: want the key in the environment variable {settings.key_env}, "
            "got nothing there"
        )
    return key


def models(settings: tree.Settings, made: Mapping[str, Upstream]) -> dict[str, Model]:
    """Every alias that a client may name."""
    return {
        alias: Model(
            alias=alias,
            assistant=one.assistant,
            upstream=made[one.upstream],
            upstream_model=one.model,
            output_cap=one.output_cap,
            reasoning_cap=one.reasoning_cap,
            template_tokens=one.template_tokens,
            tokens_per_byte_max=one.byte_tokens,
            prices=Prices(usd(one.prices.input_usd_per_million), usd(one.prices.output_usd_per_million)),
            retries=settings.upstreams[one.upstream].retries,
        )
        for alias, one in settings.models.items()
    }
