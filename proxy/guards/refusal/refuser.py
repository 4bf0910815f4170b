"""Layer 1: what must never be answered is refused by patterns, before anything is searched or embedded."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import regex

from proxy.domain.errors import ConfigError
from proxy.guards.refusal.disguise import Disguises
from proxy.guards.refusal.pack import TOPICS, OwnTopic, RefusePack
from proxy.guards.refusal.patterns import Pattern, Patterns, Rule, compiled, prove
from proxy.guards.refusal.phrases import BREAK, SUBJECT, Lexicon, padded, prepared
from proxy.guards.refusal.subject_names import Names

_WRAPPED = regex.compile(r"(?<=[\p{L}\p{M}\p{N},،，][^\S\n]*)\n[^\S\n]*(?=[\p{Ll}\p{Lo}])")


@dataclass(frozen=True, slots=True)
class Topics:
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


class AnswerTopics:
    """Topics that an answer may not touch: what the gate asks about each sentence."""

    def __init__(self, patterns: Patterns, names: Names):
        self._patterns = patterns
        self._names = names

    def find(self, folded: str) -> str:
        """The topic that a folded sentence of the answer touches, or ""."""
        line = padded(folded)
        for text in dict.fromkeys((line, self._names.as_subject(line))):
            if hits := self._patterns.find(text):
                return hits[0].topic
        return ""


class Refuser:
    """Finds what is refused. Raises `ConfigError` at once for patterns that cannot be trusted."""

    def __init__(
        self,
        packs: Mapping[str, RefusePack],
        topics: Topics,
        names: Sequence[str],
        contentless: Callable[[str], bool] = lambda question: False,
    ):
        """`contentless`: whether a question has no content word of its own ("and for me?")."""
        self.names = Names(names, packs.values())
        self._contentless = contentless
        self._patterns = _questions(packs, topics)
        self._disguises = Disguises(self._patterns.literals)
        self.answers = AnswerTopics(_answers(packs, topics), self.names)

    def find(self, question: str, previous: str = "") -> Refusal | None:
        """Why `question`, asked alone or as a follow-up to `previous`, is refused; None: it is not."""
        line = prepared(question)
        readings = dict.fromkeys(self.names.readings(line))
        if "\n" in question:
            readings |= dict.fromkeys(self.names.readings(prepared(_unwrapped(question))))
        if (plain := self._disguises.plain(question)) != question:
            readings |= dict.fromkeys(self.names.readings(prepared(plain)))
        hits = ((self._patterns.first(text), text) for text in readings)
        refusal = next((_refusal(hit, text) for hit, text in hits if hit), None)
        return refusal or (self._joined(line, question, previous) if previous else None)

    def _joined(self, line: str, question: str, previous: str) -> Refusal | None:
        """A hit over the seam counts; one before it only if the question says nothing itself.

        What hits the previous question alone is its own affair: an open end (`write me *`) would reach over
        any seam, and one refusal would refuse all that follows.
        """
        before = prepared(previous).removesuffix(". ")
        bare = self._contentless(question)
        pairs = zip(self.names.readings(before), self.names.readings(line), strict=True)
        for first, second in dict.fromkeys(pairs):
            seam = len(first)
            text = first + second.removeprefix(BREAK)
            own = self._hits(f"{first}. ")
            if bare and own:  # its end may be part of what hit: joined it has none
                return _refusal(own[0], f"{first}. ")
            for pattern in self._hits(text):
                for span in pattern.spans(text) if pattern not in own else ():
                    if bare or span[1] > seam + 1:
                        return _refusal(pattern, text, span)
        return None

    def _hits(self, text: str) -> list[Pattern]:
        """Every pattern that hits; the operator's own topics first, then in the order of `TOPICS`."""
        return self._patterns.find(text)


def _unwrapped(question: str) -> str:
    """Lines of one sentence joined: a mail breaks it anywhere, and to patterns a break ends a sentence."""
    return _WRAPPED.sub(" ", question)


def _refusal(pattern: Pattern, text: str, span: tuple[int, int] | None = None) -> Refusal:
    start, end = span or pattern.search(text) or (0, 0)
    return Refusal(
        pattern.topic,
        pattern.language,
        pattern.source,
        text[start:end].strip(" .").replace(SUBJECT, "(name)"),
    )


def _order(pattern: Pattern) -> int:
    return TOPICS.index(pattern.topic) if pattern.topic in TOPICS else -1


def _questions(packs: Mapping[str, RefusePack], topics: Topics) -> Patterns:
    """The patterns of all languages and of the topics of one's own, each proven beside its own."""
    if unknown := topics.off - set(TOPICS) - set(topics.own):
        raise ConfigError(f"topics.off: want one of {', '.join(TOPICS)}, got {', '.join(sorted(unknown))}")
    own = [
        prove((topic.rule(name),), topic.language, Lexicon(), f"topics.own.{name}")
        for name, topic in topics.own.items()
        if name not in topics.off
    ]
    packed = [prove(pack.refuse, tag, pack, f"{tag}/refuse.toml") for tag, pack in packs.items()]
    return Patterns(sorted(_on(own + packed, topics), key=_order))


def _answers(packs: Mapping[str, RefusePack], topics: Topics) -> Patterns:
    """What an answer may not touch; an operator's answer patterns have no examples of their own."""
    own = [
        pattern
        for name, topic in topics.own.items()
        if name not in topics.off
        for pattern in compiled(Rule(name, topic.answer_patterns), "*", Lexicon(), f"topics.own.{name}")
    ]
    packed = [prove(pack.answer, tag, pack, f"{tag}/refuse.toml") for tag, pack in packs.items()]
    return Patterns([*own, *_on(packed, topics)])


def _on(groups: Sequence[Sequence[Pattern]], topics: Topics) -> list[Pattern]:
    """The patterns whose topic is not off: proven with the others, since what is proven once is shared."""
    return [pattern for group in groups for pattern in group if pattern.topic not in topics.off]
