"""What a sentence must pass, one function a rule; `CHECKS` is their order.

Each gives None, or the `Stop` with the offending piece and what to tell the log.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import regex

from indexes.text.words import count_words
from proxy.gate import markers
from proxy.gate.boundary import find_unsupported_value, join_across_boundary, read_crossing_values
from proxy.gate.evidence import SourceText
from proxy.gate.lines import LineKind
from proxy.gate.rules import GateRules
from proxy.gate.types import GateRule, Stop
from proxy.gate.values import TextValues, find_missing_value, read_values, render_text, unwrap_links
from proxy.gate.voice import find_first_person

_FENCE_LINE = regex.compile(r"[\s>]*(?:`+|~+)[ \t]*(?:[A-Za-z][A-Za-z+#_-]{0,20})?[ \t]*")

_HYPHEN_PART = regex.compile(r"[\p{L}\p{M}\p{N}'’\u200c\u200d]+")
HYPHENS_MAX = 4
"""How many hyphens a short sentence may have: state-of-the-art."""

_ADDRESS = regex.compile(r"(?:://|www\.|\]\()[!-~]*")
"""What an address says is no one's voice (`?day=mon`); it is checked whole as a value."""


@dataclass(eq=False)  # not frozen: made at every sentence, for a fourth of the price
class AnswerSentence:
    """A unit of the answer with all that the checks ask of it."""

    text: str
    """Without markers: what would be released."""
    kind: LineKind
    source_numbers: tuple[int, ...]
    """Numbers that it points at; a line of code: those of the line that leads in."""
    sources: tuple[SourceText, ...]
    language: str
    unnumbered_text: str
    """`text` without its list number."""
    values: TextValues
    """Of `unnumbered_text`; none of a line of code, which must stand in a source as it is."""
    folded: str
    """Its matching form."""
    words: Sequence[str]
    """The last words of the answer before it, then its own."""
    own_start: int
    """Where its own begin in `words`."""
    tail: str
    """The characters right before it, if no white space parts them."""
    rules: GateRules

    @cached_property
    def word_count(self) -> int:
        """Words, the list number not counted; words joined to one by hyphens or blanks are still words."""
        return max(
            count_words(self.unnumbered_text), len(_HYPHEN_PART.findall(self.unnumbered_text)) - HYPHENS_MAX
        )

    def build_stop(self, rule: GateRule, piece: str, detail: str) -> Stop:
        """The stop that `piece` of this sentence is under `rule`."""
        return Stop(rule, "stopped", piece, self.source_numbers, detail)


def read_sentence_values(text: str, language: str, rules: GateRules) -> TextValues:
    """The values of a sentence without its list number; a bracketed number that is no marker is left over."""
    spelled = rules.spelled_numbers == "check"

    def read_rendered(text: str) -> TextValues:
        return read_values(render_text(text), language, rules.values, spelled=spelled, is_line_start=False)

    values = read_rendered(text)
    # Read twice: as written for the addresses, and as a reader sees it for 45 [thousand](…).
    if (unwrapped_text := unwrap_links(text)) != text:
        link_values = read_rendered(unwrapped_text)
        values = replace(
            values,
            items=(*values.items, *link_values.items),
            leftover=values.leftover or link_values.leftover,
        )
    leftover = values.leftover or markers.find_stray_number(text)
    return values if leftover == values.leftover else replace(values, leftover=leftover)


SentenceCheck = Callable[[AnswerSentence], Stop | None]


def check_code(sentence: AnswerSentence) -> Stop | None:
    """A line of code stands in a source that the line before it cites; a fence names a language at most."""
    line = sentence.text.strip()
    if sentence.kind == "fence" and not _FENCE_LINE.fullmatch(sentence.text):
        return sentence.build_stop(GateRule.CODE, line, "a fence may name a language, nothing else")
    if sentence.kind != "code" or not line or any(source.has_line(line) for source in sentence.sources):
        return None
    return sentence.build_stop(
        GateRule.CODE, line, "no source cited by the line that leads in holds this line"
    )


def check_boundary(sentence: AnswerSentence) -> Stop | None:
    """Nothing arises where it meets the sentence before: `1.` and `500`, `!` and `[x](…)`."""
    run, at = join_across_boundary(sentence.tail, sentence.text)
    if not run:
        return None
    values = read_crossing_values(run, at, sentence.language, sentence.rules)
    if values.markup:
        return sentence.build_stop(GateRule.MARKUP, run, "arises where two sentences meet")
    unsupported = find_unsupported_value(values, sentence.sources)
    return (
        sentence.build_stop(GateRule.VALUES, unsupported, "arises where two sentences meet")
        if unsupported
        else None
    )


def check_markup(sentence: AnswerSentence) -> Stop | None:
    """No image, raw HTML or link of a scheme that is not allowed."""
    if not sentence.values.markup:
        return None
    return sentence.build_stop(
        GateRule.MARKUP, sentence.values.markup, "images, raw HTML and other schemes are never released"
    )


def check_marker_present(sentence: AnswerSentence) -> Stop | None:
    """A sentence with content has a marker; short ones without a value need none, rows of a table do."""
    if sentence.source_numbers or not sentence.word_count:
        return None
    values = sentence.values
    if values.items or values.leftover:
        piece = values.items[0].text if values.items else values.leftover
        return sentence.build_stop(GateRule.PRESENT, piece, "a value, and no marker")
    if sentence.kind == "row" or sentence.word_count > sentence.rules.transition_words_max:
        return sentence.build_stop(
            GateRule.PRESENT, sentence.text.strip(), f"{sentence.word_count} words, and no marker"
        )
    return None


def check_values(sentence: AnswerSentence) -> Stop | None:
    """Every value stands in a cited source, and nothing that looks like one is left over."""
    values = sentence.values
    if values.leftover:
        return sentence.build_stop(
            GateRule.VALUES, values.leftover, "belongs to no value that can be checked"
        )
    missing_value = find_missing_value(values, [source.values for source in sentence.sources])
    return (
        sentence.build_stop(GateRule.VALUES, missing_value.text, f"no cited source holds {missing_value.key}")
        if missing_value
        else None
    )


def check_voice(sentence: AnswerSentence) -> Stop | None:
    """No first person, unless the assistant may say "we"."""
    rules = sentence.rules
    if not rules.voice:
        return None
    text = _ADDRESS.sub(" ", sentence.text) if "/" in sentence.text else sentence.text
    piece = find_first_person(
        render_text(text), sentence.language, rules.voices, [source.text for source in sentence.sources]
    )
    return sentence.build_stop(GateRule.VOICE, piece, "first person") if piece else None


def check_echo(sentence: AnswerSentence) -> Stop | None:
    """No run of our own prompt."""
    echo = sentence.rules.echo
    padded_sources = (source.padded_words for source in sentence.sources)
    piece = echo.find_run(sentence.words, sentence.own_start, padded_sources)
    return sentence.build_stop(GateRule.ECHO, piece, "our own instructions") if piece else None


def check_topic(sentence: AnswerSentence) -> Stop | None:
    """No answer pattern of a refusal topic."""
    topics = sentence.rules.topics
    topic = topics.find_topic(sentence.folded) if topics else ""
    return sentence.build_stop(GateRule.TOPIC, sentence.text.strip(), topic) if topic else None


CODE_CHECKS: tuple[SentenceCheck, ...] = (check_code, check_echo, check_topic)
CHECKS: tuple[SentenceCheck, ...] = (
    check_boundary,
    check_markup,
    check_marker_present,
    check_values,
    check_voice,
    check_echo,
    check_topic,
)
