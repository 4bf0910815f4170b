"""Upstreams and the models over them."""

import os
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import assert_never

from indexes.text.language import detect_language
from proxy.app.assistants import LanguagePacks
from proxy.domain.errors import ConfigError
from proxy.domain.ports import Model, Prices, Upstream
from proxy.gate.endings import SentenceEndDetector
from proxy.gate.lexicon import SentenceLexicons
from proxy.gate.sentences import SentenceScanner
from proxy.ledger.prices import convert_token_price
from proxy.settings import tree
from proxy.upstream import scripted
from proxy.upstream.anthropic import AnthropicUpstream
from proxy.upstream.extractive import ExtractiveUpstream, SentenceSplitter
from proxy.upstream.http_upstream import HttpUpstream
from proxy.upstream.openai import OpenAIUpstream


async def open_upstreams(
    settings: Mapping[str, tree.UpstreamSettings], packs: LanguagePacks, stack: AsyncExitStack
) -> dict[str, Upstream]:
    """Every configured upstream; `stack` closes their connections. Raises `ConfigError` with all faults."""
    upstreams: dict[str, Upstream] = {}
    faults: list[str] = []
    for name, upstream_settings in settings.items():
        try:
            upstreams[name] = _open_upstream(name, upstream_settings, packs, stack)
        except ConfigError as fault:
            faults += fault.faults
    if faults:
        raise ConfigError(*faults)
    return upstreams


def _open_upstream(
    name: str, settings: tree.UpstreamSettings, packs: LanguagePacks, stack: AsyncExitStack
) -> Upstream:
    match settings.protocol:
        case "extractive":
            return ExtractiveUpstream(_make_sentence_splitter(packs), settings.sentences_max)
        case "scripted":
            return _open_script(name, settings)
        case "anthropic":
            return _open_http(AnthropicUpstream(settings, _read_upstream_key(name, settings)), stack)
        case "openai":
            return _open_http(OpenAIUpstream(settings, _read_upstream_key(name, settings)), stack)
        case unknown:
            assert_never(unknown)


def _open_http(upstream: HttpUpstream, stack: AsyncExitStack) -> Upstream:
    stack.push_async_callback(upstream.aclose)
    return upstream


def _open_script(name: str, settings: tree.UpstreamSettings) -> Upstream:
    if settings.script is None:
        raise ConfigError(f"upstreams.{name}.script: want the file that is replayed, got nothing")
    return scripted.ScriptedUpstream(scripted.read_script(settings.script))


def _make_sentence_splitter(packs: LanguagePacks) -> SentenceSplitter:
    """The gate's own scanner: what is quoted must be what the gate takes for a sentence."""
    lexicons = SentenceLexicons(packs.sentences)

    def detect_part_language(part: str, default: str) -> str:
        return detect_language(part, packs.words, default) or default

    def split_sentences(text: str, language: str) -> list[str]:
        scanner = SentenceScanner(SentenceEndDetector(lexicons, language, detect_part_language), len(text))
        return [unit.text for unit in (*scanner.feed(text), *scanner.finish())]

    return split_sentences


def _read_upstream_key(name: str, settings: tree.UpstreamSettings) -> str:
    if not settings.key_env:
        return ""
    key = os.environ.get(settings.key_env, "")
    if not key:
        raise ConfigError(
            f"upstreams.{name}.key_env: want the key in the environment variable {settings.key_env}, "
            "got nothing there"
        )
    return key


def build_models(settings: tree.Settings, upstreams: Mapping[str, Upstream]) -> dict[str, Model]:
    """Every alias that a client may name."""
    return {
        alias: Model(
            alias=alias,
            assistant=model.assistant,
            upstream=upstreams[model.upstream],
            upstream_model=model.model,
            output_cap=model.output_cap,
            reasoning_cap=model.reasoning_cap,
            template_tokens=model.template_tokens,
            tokens_per_byte_max=model.byte_tokens,
            prices=Prices(
                convert_token_price(model.prices.input_usd_per_million),
                convert_token_price(model.prices.output_usd_per_million),
            ),
            retries=settings.upstreams[model.upstream].retries,
        )
        for alias, model in settings.models.items()
    }
