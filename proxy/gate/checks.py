"""What a sentence must pass, one function a rule; `CHECKS` is their order.

Each gets the sentence and the rules and says "" or the offending piece, with what to tell the log.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import regex

from indexes.text.words import count_words
from proxy.gate import markers
from proxy.gate.boundary import arisen, fused, unheld
from proxy.gate.evidence import Evidence
from proxy.gate.lines import Kind
from proxy.gate.rules import Rules
from proxy.gate.types import Stop
from proxy.gate.values import Values, missing, read, rendered, unlinked
from proxy.gate.voice import first_person

_INFO = regex.compile(r"[\s>]*(?:`+|~+)[ \t]*(?:[A-Za-z][A-Za-z+#_-]{0,20})?[ \t]*")

_JOINED = regex.compile(r"[\p{L}\p{M}\p{N}'’\u200c\u200d]+")
JOINED_MAX = 4
"""How many hyphens a short sentence may have: state-of-the-art."""

_ADDRESS = regex.compile(r"(?:://|www\.|\]\()[!-~]*")
"""What an address says is no one's voice (`?day=mon`); it is checked whole as a value."""


@dataclass(eq=False)  # not frozen: made at every sentence, for a fourth of the price
class Sentence:
    """A unit of the answer with all that the checks ask of it."""

    text: str
    """Without markers: what would be released."""
    kind: Kind
    cites: tuple[int, ...]
    """Numbers that it points at; a line of code: those of the line that leads in."""
    cited: tuple[Evidence, ...]
    language: str
    listed: str
    """`text` without its list number."""
    values: Values
    """Of `listed`; none of a line of code, which must stand in a source as it is."""
    folded: str
    """Its matching form."""
    said: Sequence[str]
    """The last words said before it, then its own."""
    new: int
    """Where its own begin in `said`."""
    tail: str
    """The characters right before it, if no white space parts them."""
    rules: Rules

    @cached_property
    def length(self) -> int:
        """Words, the list number not counted; words joined to one by hyphens or blanks are still words."""
        return max(count_words(self.listed), len(_JOINED.findall(self.listed)) - JOINED_MAX)

    def stop(self, rule: str, piece: str, detail: str) -> Stop:
        """This sentence's verdict under `rule`."""
        return Stop(rule, "stopped", piece, self.cites, detail)


def valued(listed: str, language: str, rules: Rules) -> Values:
    """The values of a sentence without its list number; a bracketed number that is no marker is left over."""
    spelled = rules.spelled_numbers == "check"

    def said(text: str) -> Values:
        return read(rendered(text), language, rules.values, spelled=spelled, line_start=False)

    values = said(listed)
    if (shown := unlinked(listed)) != listed:
        seen = said(shown)
        values = replace(
            values, items=(*values.items, *seen.items), leftover=values.leftover or seen.leftover
        )
    left = values.leftover or markers.stray(listed)
    return values if left == values.leftover else replace(values, leftover=left)


Check = Callable[[Sentence], Stop | None]


def in_code(sentence: Sentence) -> Stop | None:
    """A line of code stands in a source that the line before it cites; a fence names a language at most."""
    line = sentence.text.strip()
    if sentence.kind == "fence" and not _INFO.fullmatch(sentence.text):
        return sentence.stop("code", line, "a fence may name a language, nothing else")
    if sentence.kind != "code" or not line or any(e.has_line(line) for e in sentence.cited):
        return None
    return sentence.stop("code", line, "no source cited by the line that leads in holds this line")


def at_seam(sentence: Sentence) -> Stop | None:
    """Nothing arises where it meets the sentence before: `1.` and `500`, `!` and `[x](…)`."""
    run, at = fused(sentence.tail, sentence.text)
    if not run:
        return None
    values = arisen(run, at, sentence.language, sentence.rules)
    if values.markup:
        return sentence.stop("markup", run, "arises where two sentences meet")
    lost = unheld(values, sentence.cited)
    return sentence.stop("values", lost, "arises where two sentences meet") if lost else None


def in_markup(sentence: Sentence) -> Stop | None:
    """No image, raw HTML or link of a scheme that is not allowed."""
    if not sentence.values.markup:
        return None
    return sentence.stop(
        "markup", sentence.values.markup, "images, raw HTML and other schemes are never released"
    )


def present(sentence: Sentence) -> Stop | None:
    """A sentence with content has a marker; short ones without a value need none, rows of a table do."""
    if sentence.cites or not sentence.length:
        return None
    values = sentence.values
    if values.items or values.leftover:
        piece = values.items[0].text if values.items else values.leftover
        return sentence.stop("present", piece, "a value, and no marker")
    if sentence.kind == "row" or sentence.length > sentence.rules.transition_words_max:
        return sentence.stop("present", sentence.text.strip(), f"{sentence.length} words, and no marker")
    return None


def in_values(sentence: Sentence) -> Stop | None:
    """Every value stands in a cited source, and nothing that looks like one is left over."""
    values = sentence.values
    if values.leftover:
        return sentence.stop("values", values.leftover, "belongs to no value that can be checked")
    lost = missing(values, [e.values for e in sentence.cited])
    return sentence.stop("values", lost.text, f"no cited source holds {lost.key}") if lost else None


def in_voice(sentence: Sentence) -> Stop | None:
    """No first person, unless the assistant may say "we"."""
    rules = sentence.rules
    if not rules.voice:
        return None
    text = _ADDRESS.sub(" ", sentence.text) if "/" in sentence.text else sentence.text
    piece = first_person(rendered(text), sentence.language, rules.voices, [e.text for e in sentence.cited])
    return sentence.stop("voice", piece, "first person") if piece else None


def in_echo(sentence: Sentence) -> Stop | None:
    """No run of our own prompt."""
    echo = sentence.rules.echo
    piece = echo.find(sentence.said, sentence.new, (e.words for e in sentence.cited))
    return sentence.stop("echo", piece, "our own instructions") if piece else None


def in_topic(sentence: Sentence) -> Stop | None:
    """No answer pattern of a refusal topic."""
    topics = sentence.rules.topics
    topic = topics.find(sentence.folded) if topics else ""
    return sentence.stop("topic", sentence.text.strip(), topic) if topic else None


CODE_CHECKS: tuple[Check, ...] = (in_code, in_echo, in_topic)
CHECKS: tuple[Check, ...] = (at_seam, in_markup, present, in_values, in_voice, in_echo, in_topic)
