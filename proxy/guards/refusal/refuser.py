"""Layer 1: what must never be answered is refused by patterns, before anything is searched or embedded."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import regex

from proxy.domain.errors import ConfigError
from proxy.guards.refusal.disguise import DisguiseRemover
from proxy.guards.refusal.pack import TOPICS, OwnTopic, RefusePack
from proxy.guards.refusal.padding import BREAK, SUBJECT, fold_and_pad, pad_text
from proxy.guards.refusal.patterns import Pattern, PatternRule, PatternSet, compile_rule, prove_rules
from proxy.guards.refusal.phrases import PhraseLexicon
from proxy.guards.refusal.subject_names import SubjectNames

_WRAPPED = regex.compile(r"(?<=[\p{L}\p{M}\p{N},،，][^\S\n]*)\n[^\S\n]*(?=[\p{Ll}\p{Lo}])")


@dataclass(frozen=True, slots=True)
class TopicSelection:
    """Which topics are off, and which the operator added, by name."""

    off: frozenset[str] = frozenset()
    own: Mapping[str, OwnTopic] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a question is refused: the topic, whose pattern, and the folded words it hit."""

    topic: str
    language: str
    pattern: str
    piece: str


class AnswerTopicPatterns:
    """Topics that an answer may not touch: what the gate asks about each sentence."""

    def __init__(self, patterns: PatternSet, names: SubjectNames):
        self._patterns = patterns
        self._names = names

    def find_topic(self, folded: str) -> str:
        """The topic that a folded sentence of the answer touches, or ""."""
        line = pad_text(folded)
        for text in dict.fromkeys((line, self._names.replace_with_subject(line))):
            if hits := self._patterns.find_hits(text):
                return hits[0].topic
        return ""


class QuestionRefuser:
    """Finds what is refused. Raises `ConfigError` at once for patterns that cannot be trusted."""

    def __init__(
        self,
        packs: Mapping[str, RefusePack],
        topics: TopicSelection,
        names: Sequence[str],
        is_contentless: Callable[[str], bool] = lambda question: False,
    ):
        """`is_contentless`: whether a question has no content word of its own ("and for me?")."""
        self.names = SubjectNames(names, packs.values())
        self._is_contentless = is_contentless
        self._patterns = _build_question_patterns(packs, topics)
        self._disguise_remover = DisguiseRemover(self._patterns.literals)
        self.answer_topics = AnswerTopicPatterns(_build_answer_patterns(packs, topics), self.names)

    def find_refusal(self, question: str, previous: str = "") -> Refusal | None:
        """Why `question`, asked alone or as a follow-up to `previous`, is refused; None: it is not."""
        line = fold_and_pad(question)
        readings = dict.fromkeys(self.names.list_readings(line))
        if "\n" in question:
            readings |= dict.fromkeys(self.names.list_readings(fold_and_pad(_join_wrapped_lines(question))))
        if (plain := self._disguise_remover.remove_disguises(question)) != question:
            readings |= dict.fromkeys(self.names.list_readings(fold_and_pad(plain)))
        hits = ((self._patterns.find_first_hit(text), text) for text in readings)
        refusal = next((_build_refusal(hit, text) for hit, text in hits if hit), None)
        return refusal or (self._find_followup_refusal(line, question, previous) if previous else None)

    def _find_followup_refusal(self, line: str, question: str, previous: str) -> Refusal | None:
        """A hit that reaches into `question` counts; one that ends before it only if it says nothing itself.

        What hits the previous question alone is its own affair: an open end (`write me *`) would reach into
        any question, and one refusal would refuse all that follows.
        """
        before = fold_and_pad(previous).removesuffix(". ")
        is_bare = self._is_contentless(question)
        pairs = zip(self.names.list_readings(before), self.names.list_readings(line), strict=True)
        for first, second in dict.fromkeys(pairs):
            boundary = len(first)
            text = first + second.removeprefix(BREAK)
            own_hits = self._patterns.find_hits(f"{first}. ")
            if is_bare and own_hits:  # its end may be part of what hit: joined it has none
                return _build_refusal(own_hits[0], f"{first}. ")
            for pattern in self._patterns.find_hits(text):
                for span in pattern.iterate_spans(text) if pattern not in own_hits else ():
                    if is_bare or span[1] > boundary + 1:
                        return _build_refusal(pattern, text, span)
        return None


def _join_wrapped_lines(question: str) -> str:
    """Lines of one sentence joined: a mail breaks it anywhere, and to patterns a break ends a sentence."""
    return _WRAPPED.sub(" ", question)


def _build_refusal(pattern: Pattern, text: str, span: tuple[int, int] | None = None) -> Refusal:
    start, end = span or pattern.search(text) or (0, 0)
    return Refusal(
        pattern.topic,
        pattern.language,
        pattern.source,
        text[start:end].strip(" .").replace(SUBJECT, "(name)"),
    )


def _rank_topic(pattern: Pattern) -> int:
    """The operator's own topics first, then in the order of `TOPICS`."""
    return TOPICS.index(pattern.topic) if pattern.topic in TOPICS else -1


def _build_question_patterns(packs: Mapping[str, RefusePack], topics: TopicSelection) -> PatternSet:
    """The patterns of all languages and of the operator's own topics, in the order in which they refuse.

    Each is proven among those of its own pack or topic.
    """
    if unknown := topics.off - set(TOPICS) - set(topics.own):
        raise ConfigError(f"topics.off: want one of {', '.join(TOPICS)}, got {', '.join(sorted(unknown))}")
    own = [
        prove_rules((topic.build_rule(name),), topic.language, PhraseLexicon(), f"topics.own.{name}")
        for name, topic in topics.own.items()
        if name not in topics.off
    ]
    packed = [prove_rules(pack.refuse, tag, pack, f"{tag}/refuse.toml") for tag, pack in packs.items()]
    return PatternSet(sorted(_select_enabled(own + packed, topics), key=_rank_topic))


def _build_answer_patterns(packs: Mapping[str, RefusePack], topics: TopicSelection) -> PatternSet:
    """What an answer may not touch; an operator's answer patterns have no examples of their own."""
    own = [
        pattern
        for name, topic in topics.own.items()
        if name not in topics.off
        for pattern in compile_rule(
            PatternRule(name, topic.answer_patterns), "*", PhraseLexicon(), f"topics.own.{name}"
        )
    ]
    packed = [prove_rules(pack.answer, tag, pack, f"{tag}/refuse.toml") for tag, pack in packs.items()]
    return PatternSet([*own, *_select_enabled(packed, topics)])


def _select_enabled(groups: Sequence[Sequence[Pattern]], topics: TopicSelection) -> list[Pattern]:
    """The patterns whose topic is not off: proven with the others, since what is proven once is shared."""
    return [pattern for group in groups for pattern in group if pattern.topic not in topics.off]
