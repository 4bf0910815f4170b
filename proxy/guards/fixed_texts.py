"""Fixed texts: every refusal and notice, per language, never written by a model."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields

from proxy.guards.placeholders import fill_placeholders
from proxy.guards.refusal.pack import TOPICS

DEFAULT_LANGUAGE = "en"
REFUSAL_TOPICS = (*TOPICS, "own")
"""Each built-in topic has a refusal of its own in every language; `own` is the general one."""
SETTING_NAMES = {"withheld_rest": "stopped", "withheld_all": "withheld"}
"""How an operator's configuration names a text, where that is not its key here."""


@dataclass(frozen=True, slots=True)
class TextPack:
    """`texts.toml` of one language. No text holds a digit or a bracket: it could pass for a marker."""

    refused: Mapping[str, str]
    """By topic; `own` for topics of the operator without a text of their own."""
    no_evidence: str
    looked_in: str
    """Where it looked: `{sources}` stands for the names."""
    not_in_sources: str
    withheld_rest: str
    """Behind released sentences: the rest could not be supported."""
    withheld_all: str
    """The same where nothing had been released before."""
    truncated: str
    over_budget: str
    upstream_failed: str
    background: str
    """Answers a client's background request (a title, tags) when those are refused."""
    sources: str
    """Heading of the list of links."""

    def flatten_texts(self) -> dict[str, str]:
        """Every text by its key: `withheld_rest`, `refused.terms`, …"""
        single = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "refused"}
        return single | {f"refused.{topic}": text for topic, text in self.refused.items()}


def list_text_keys(own_topics: Iterable[str]) -> tuple[str, ...]:
    """The keys that a text can stand under in a configuration, with the refusals of `own_topics`."""
    single = tuple(SETTING_NAMES.get(f.name, f.name) for f in fields(TextPack) if f.name != "refused")
    return (*single, *(f"refused.{topic}" for topic in dict.fromkeys((*REFUSAL_TOPICS, *own_topics))))


class FixedTexts:
    """Every text in every language, put together once: the operator's wording before the pack's.

    Of a topic of the operator's own: its text in the language, else in English, else the general refusal.
    """

    def __init__(
        self,
        packs: Mapping[str, TextPack],
        overrides: Mapping[str, Mapping[str, str]] = {},
        own_topics: Iterable[str] = (),
    ):
        """`overrides`: language → key, as a configuration names it → text."""
        keys_by_name = {name: key for key, name in SETTING_NAMES.items()}
        wording = {
            tag: {keys_by_name.get(name, name): text for name, text in overrides.get(tag, {}).items()}
            for tag in packs
        }
        english = wording.get(DEFAULT_LANGUAGE, {})
        self._texts: dict[str, dict[str, str]] = {}
        for tag, pack in packs.items():
            texts = pack.flatten_texts() | wording[tag]
            for key in (f"refused.{topic}" for topic in own_topics):
                texts.setdefault(key, english.get(key) or texts["refused.own"])
            self._texts[tag] = texts

    def render_text(self, key: str, language: str, **values: str) -> str:
        """The text of `key`; `values` fill its placeholders.

        Raises KeyError for a key or language that is not there: no other text is a stand-in.
        """
        return fill_placeholders(self._texts[language][key], values)

    def list_text_forms(self) -> frozenset[str]:
        """Every text as `neutralize.strip_fixed_texts` takes it out of earlier turns."""
        plain = {text for texts in self._texts.values() for key, text in texts.items() if key != "sources"}
        headings = {texts["sources"] for texts in self._texts.values()}
        return frozenset(plain | {f"{heading}:\n{{links}}" for heading in headings})
