"""Fixed texts: every refusal and notice, per language, never written by a model."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields

DEFAULT_LANGUAGE = "en"
TOPIC_TEXTS = ("terms", "private", "speculation", "instructions", "tasks", "own")


@dataclass(frozen=True, slots=True)
class TextPack:
    """`texts.toml` of one language. No text holds a digit or a bracket: it could pass for a marker."""

    refused: Mapping[str, str]
    """By topic; `own` for topics of the operator without a text of their own."""
    no_evidence: str
    looked_in: str
    """Where it looked: `{sources}` stands for the names."""
    not_in_sources: str
    stopped: str
    withheld: str
    """The same where nothing had been released before."""
    truncated: str
    over_budget: str
    upstream_failed: str
    background: str
    """Answers a client's background request (a title, tags) when those are refused."""
    sources: str
    """Heading of the list of links."""

    def flatten_texts(self) -> dict[str, str]:
        """Every text by its key: `stopped`, `refused.terms`, …"""
        single = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "refused"}
        return single | {f"refused.{topic}": text for topic, text in self.refused.items()}


def list_text_keys(own_topics: Iterable[str]) -> tuple[str, ...]:
    """The keys that a text can stand under, with those of the refusals of an operator's `own` topics."""
    single = tuple(f.name for f in fields(TextPack) if f.name != "refused")
    return (*single, *(f"refused.{topic}" for topic in dict.fromkeys((*TOPIC_TEXTS, *own_topics))))


class FixedTexts:
    """Looks a text up: the operator's wording, the language's, English."""

    def __init__(self, packs: Mapping[str, TextPack], overrides: Mapping[str, Mapping[str, str]] = {}):
        """`overrides`: language → key → text."""
        own = {tag: pack.flatten_texts() for tag, pack in packs.items()}
        self._texts = {tag: own.get(tag, {}) | dict(overrides.get(tag, {})) for tag in {*own, *overrides}}

    def render_text(self, key: str, language: str, **values: str) -> str:
        """The text of `key`; an own topic without one gets the general refusal. `values` fill its places."""
        for tag in (language, DEFAULT_LANGUAGE):
            text = self._texts.get(tag, {}).get(key)
            if text:
                return _fill_placeholders(text, values)
        if key.startswith("refused.") and key != "refused.own":
            return self.render_text("refused.own", language, **values)
        raise KeyError(key)

    def list_text_forms(self) -> frozenset[str]:
        """Every text as `defuse.strip_own` takes it out of earlier turns."""
        plain = {text for own in self._texts.values() for key, text in own.items() if key != "sources"}
        headings = {own["sources"] for own in self._texts.values() if "sources" in own}
        return frozenset(plain | {f"{heading}:\n{{links}}" for heading in headings})


def _fill_placeholders(text: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", value)
    return text
