"""Assistants as they are configured, each with its packs, patterns, prompt and threshold, ready to serve."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

from indexes.text.language import WordPack, detect_language
from indexes.text.words import find_content_words, split_words
from proxy.domain.errors import ConfigError
from proxy.gate import GateRules
from proxy.gate.lexicon import SentencePack
from proxy.gate.values import ValuePack
from proxy.gate.voice import VoicePack
from proxy.guards import prompt, threshold
from proxy.guards.fixed_texts import FixedTexts, TextPack
from proxy.guards.followup import FollowupReader
from proxy.guards.refusal.pack import OwnTopic, RefusePack
from proxy.guards.refusal.refuser import QuestionRefuser, TopicSelection
from proxy.guards.route import OverviewRouter
from proxy.pipeline.context import Assistant
from proxy.settings import tree
from proxy.settings.languages import LANGUAGE_TAGS, load_packs
from proxy.settings.lock import ThresholdLock


@dataclass(frozen=True, slots=True)
class LanguagePacks:
    """The packs of every language, by tag."""

    words: Mapping[str, WordPack]
    sentences: Mapping[str, SentencePack]
    values: Mapping[str, ValuePack]
    voices: Mapping[str, VoicePack]
    refusals: Mapping[str, RefusePack]
    texts: Mapping[str, TextPack]
    followup_reader: FollowupReader
    """Of follow-ups, in all languages at once."""


@cache
def load_language_packs() -> LanguagePacks:
    """Reads them all, once: they are part of the program. Raises `ConfigError` naming file and key."""
    refuse_packs = load_packs("refuse", RefusePack)
    return LanguagePacks(
        words=load_packs("words", WordPack),
        sentences=load_packs("sentences", SentencePack),
        values=load_packs("values", ValuePack),
        voices=load_packs("voice", VoicePack),
        refusals=refuse_packs,
        texts=load_packs("texts", TextPack),
        followup_reader=FollowupReader(refuse_packs),
    )


def build_assistant(
    name: str, settings: tree.AssistantSettings, packs: LanguagePacks, lock: ThresholdLock | None
) -> Assistant:
    """One assistant made ready. Raises `ConfigError` for a prompt or patterns that cannot be used."""
    names = settings.subject.names
    name_words = frozenset(word for spelling in names for word in split_words(spelling))
    find_words = _make_word_finder(packs.words, name_words, settings.language)
    router = OverviewRouter(packs.refusals, names)
    refuser = QuestionRefuser(
        packs.refusals,
        _build_topics(settings.topics),
        names,
        lambda question: packs.followup_reader.is_contentless(question, find_words),
    )
    calibrated, system_prompt = _collect_calibrated_thresholds(name, lock), _load_prompt(name, settings)
    return Assistant(
        name=name,
        language=settings.language,
        names=names,
        name_words=name_words,
        refuser=refuser,
        router=router,
        followup_reader=packs.followup_reader,
        find_content_words=find_words,
        prompt=system_prompt,
        gate_rules_for=_build_gate_rules(settings, packs, refuser, system_prompt),
        texts=FixedTexts(packs.texts, _collect_overrides(settings), settings.topics.own),
        threshold_for=lambda language: threshold.choose_threshold(
            settings.threshold, settings.thresholds, language, calibrated
        ),
        evidence_settings=settings.evidence,
        answer_settings=settings.answer,
        sources=frozenset(settings.sources),
        records=frozenset(settings.records),
    )


def _make_word_finder(
    packs: Mapping[str, WordPack], name_words: frozenset[str], default: str
) -> Callable[[str], Sequence[str]]:
    """Content words by the stop words of the text's own language; `default` where that is not known."""

    def find_words(text: str) -> Sequence[str]:
        pack = packs[detect_language(text, packs, default) or default]
        return find_content_words(text, pack.stop, name_words)

    return find_words


def _build_topics(settings: tree.TopicsSettings) -> TopicSelection:
    own = {
        name: OwnTopic(topic.phrases, topic.patterns, topic.answer_patterns, topic.match, topic.spare)
        for name, topic in settings.own.items()
    }
    return TopicSelection(settings.off, own)


def _collect_overrides(settings: tree.AssistantSettings) -> dict[str, dict[str, str]]:
    """The operator's own wording: of fixed texts, and of the refusals of own topics."""
    texts = {tag: dict(own) for tag, own in settings.texts.items()}
    for name, topic in settings.topics.own.items():
        for tag, text in topic.texts.items():
            texts.setdefault(tag, {})[f"refused.{name}"] = text
    return texts


def _load_prompt(name: str, settings: tree.AssistantSettings) -> prompt.Prompt:
    path = settings.prompt or files("config") / "prompts" / "system.md"
    subject = settings.subject.names[0] if settings.subject.names else ""
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        reason = fault.strerror if isinstance(fault, OSError) else fault
        raise ConfigError(
            f"assistants.{name}.prompt: want a file of UTF-8 text, got {path}: {reason}"
        ) from fault
    return prompt.Prompt(text, prompt.Voice(subject, settings.about, settings.voice))


def _build_gate_rules(
    settings: tree.AssistantSettings,
    packs: LanguagePacks,
    refuser: QuestionRefuser,
    system_prompt: prompt.Prompt,
) -> Callable[[str], GateRules]:
    """The gate's rules by language: they differ in the prompt of which nothing may be quoted."""
    gate = settings.gate
    base = GateRules(
        sentences=packs.sentences,
        values=packs.values,
        voices=packs.voices,
        words=packs.words,
        token=prompt.NOT_IN_SOURCES_TOKEN,
        topics=refuser.answer_topics,
        voice=settings.voice == "third_person",
        spelled_numbers=gate.spelled_numbers,
        transition_words_max=gate.transition_words_max,
        sentence_chars_max=gate.sentence_chars_max,
        output_bytes_per_token_max=gate.output_bytes_per_token_max,
    )
    return cache(lambda language: replace(base, prompt=system_prompt.render_own_text(language)))


def _collect_calibrated_thresholds(name: str, lock: ThresholdLock | None) -> dict[str, float]:
    """The calibrated thresholds of one assistant, by language; none where nothing was calibrated."""
    if lock is None:
        return {}
    return {tag: value for tag in LANGUAGE_TAGS if (value := lock.find_threshold(name, tag)) is not None}
