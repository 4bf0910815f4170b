"""`refuse.toml` of one language as values, checked against its own examples."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from proxy.guards.refusal.patterns import PatternRule

RECORD_KINDS = (
    "now",
    "recently",
    "career",
    "projects",
    "research",
    "writing",
    "education",
    "skills",
    "services",
)
"""Kinds of records an overview question may ask for."""
TOPICS = ("instructions", "private", "terms", "speculation", "tasks")
"""The built-in topics. Where several hit, the first one is the reason given."""


@dataclass(frozen=True, slots=True)
class FollowupPack:
    """How a language says the short turns that point back."""

    ordinals: Mapping[str, tuple[str, ...]]
    """`1` … `5` and `last`: how each is said."""
    frames: tuple[str, ...]
    """Where an ordinal (`#`) points at an item of a list, and not at a second world war."""
    other: tuple[str, ...]
    """The other one of two."""
    more: tuple[str, ...]
    """Bare wishes for more of the same ("yes", "go on")."""
    fillers: tuple[str, ...]
    """Words that say nothing of their own beside a position ("tell me more about the … one")."""


@dataclass(frozen=True, slots=True, eq=False)
class RefusePack:
    """What layer 1, the overview route and follow-ups read of one language."""

    refuse: tuple[PatternRule, ...]
    answer: tuple[PatternRule, ...]
    """Topics that an answer may not touch, whatever its sources say."""
    overview: tuple[PatternRule, ...]
    """`topic` is a kind of records, or `all`."""
    about: tuple[str, ...]
    """Third-person pronouns that never mean "you": they may point at the subject."""
    followup: FollowupPack
    classes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    pronouns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Classes that also match where a name of the subject stands."""
    requests: tuple[str, ...] = ()
    """What turns the verb behind it into a request, anywhere in a sentence ("could you")."""
    leads: tuple[str, ...] = ()
    """What may stand between the start of a sentence and its verb ("now", "then")."""
    prefixes: tuple[str, ...] = ()
    """What may be glued to the front of a name ("و", "ل")."""
    polite: tuple[str, ...] = ()
    """Words that mean "you" by their capital alone ("Sie")."""
    suffixes: tuple[str, ...] = ()
    """What a name may carry at its end (" s", case endings)."""


@dataclass(frozen=True, slots=True)
class OwnTopic:
    """A topic of the operator's own: `phrases` for people, `patterns` in RE2."""

    phrases: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    answer_patterns: tuple[str, ...] = ()
    must_match: tuple[str, ...] = ()
    must_not_match: tuple[str, ...] = ()
    language: str = "*"

    def build_rule(self, topic: str) -> PatternRule:
        """Its patterns over questions."""
        expert = tuple(f"regex:{pattern}" for pattern in self.patterns)
        return PatternRule(topic, (*self.phrases, *expert), self.must_match, self.must_not_match)
