"""Follow-ups: what a short turn points back to, read without guessing or not at all."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import regex

from proxy.domain.types import ChatRequest
from proxy.guards.refusal.pack import RefusePack
from proxy.guards.refusal.patterns import Pattern, Patterns, Rule, compiled
from proxy.guards.refusal.phrases import prepared

BEGINNING_CHARS = 300
"""As much of the previous answer as is joined where the item cannot be read."""
EARLIER_CHARS = 8_000
"""As much of an earlier turn as is read: more than anybody types, and no client can make reading it slow."""
LINES_MAX, ITEM_CHARS_MAX = 50, 300
"""A list of more lines, or an item that is longer, is none that somebody points into by a position."""
Content = Callable[[str], Sequence[str]]
"""The content words of a text (stop words and the subject's names are none)."""

_QUOTED = regex.compile(
    r"«([^«»\n]+)»|“([^“”\n]+)”|„([^„“”\n]+)[“”]|\"([^\"\n]+)\"|「([^」\n]+)」|『([^』\n]+)』|《([^》\n]+)》"
)
_LIST_LINE = regex.compile(r"^\s*(?:[-*•–]|\p{Nd}{1,2}[.)、．])\s*(?=\S)")


@dataclass(frozen=True, slots=True)
class Followup:
    """How a question is searched. `texts` each count for the threshold."""

    texts: tuple[str, ...]
    item: str = ""
    """The list item that a position points at; "" where none can be read without doubt."""
    bare: bool = False
    """The question says nothing of its own: "yes", "and the second?"."""
    previous: str = ""
    """The earlier question that it was joined to."""


class Reader:
    """Reads follow-ups in every language at once. Raises `ConfigError` for a pack that cannot be read."""

    def __init__(self, packs: Mapping[str, RefusePack]):
        self._positions = Patterns([p for tag, pack in packs.items() for p in _positions(tag, pack)])
        self._ordinals = Patterns([p for tag, pack in packs.items() for p in _ordinals(tag, pack)])
        self._more = frozenset(prepared(text) for pack in packs.values() for text in pack.followup.more)
        self._fillers = frozenset(_plain(word) for pack in packs.values() for word in pack.followup.fillers)

    def read(self, request: ChatRequest, titles: Sequence[str], content: Content) -> Followup:
        """`titles`: titles and names of the site's own that the caller may see."""
        question = request.question
        if not request.turns:
            return Followup((question,))
        previous = _contentful(request, content)
        line = prepared(question)
        if line in self._more:
            return Followup((previous or question,), bare=True, previous=previous)
        hits = self._positions.find(line)
        if not hits:
            return Followup(_joined(question, previous), bare=not content(question), previous=previous)
        bare = self._bare(question, line, hits[0], content)
        item = self._item(hits[0].topic, request, titles) if self._sure(line, hits) else ""
        return _pointed(request, previous, item, bare)

    def before(self, request: ChatRequest, content: Content) -> str:
        """What a question follows: the previous one, or, where that was a mere "yes", the one before it."""
        previous = request.previous_question
        return previous if content(previous[-EARLIER_CHARS:]) else _contentful(request, content)

    def contentless(self, question: str, content: Content) -> bool:
        """Whether a question says nothing of its own ("and for me?"), so that the one before it speaks on."""
        return prepared(question) in self._more or not content(question)

    def _bare(self, question: str, line: str, position: Pattern, content: Content) -> bool:
        """Whether nothing but a position and a wish to hear more is said.

        Taken word by word, and, for scripts without word gaps, with the position cut out of the line.
        """
        start, end = position.search(line) or (0, 0)
        said = self._fillers | set(line[start:end].split())
        return set(map(_plain, content(question))) <= said or (
            set(map(_plain, content(f"{line[:start]} {line[end:]}"))) <= self._fillers
        )

    def _sure(self, line: str, hits: Sequence[Pattern]) -> bool:
        """Whether one position is named, and no other ordinal beside it."""
        return len({hit.topic for hit in (*hits, *self._ordinals.find(line))}) == 1

    def _item(self, position: str, request: ChatRequest, titles: Sequence[str]) -> str:
        """The item of the nearest list in the last two answers; "" where in doubt."""
        answers = [turn.text[:EARLIER_CHARS] for turn in request.turns if turn.role == "assistant"]
        nearest = answers[-1:-3:-1]
        found = next((found for text in nearest if len(found := items(text, titles)) > 1), [])
        return _other(found, request) if position == "other" else _at(found, position)


def items(answer: str, titles: Sequence[str]) -> list[str]:
    """The items that an answer lists, in order: the site's own titles in it, else what it quotes.

    Where the answer has list lines, each must name its item; otherwise counting them would be guessing.
    """
    names = _names(titles)
    lines = [line for line in answer.splitlines() if _LIST_LINE.match(line)]
    if len(lines) < 2:
        return _named(answer, names) or _quoted(answer)
    if len(lines) > LINES_MAX:
        return []
    firsts = [(_named(line, names) or _quoted(line))[:1] for line in lines]
    return [item for first in firsts for item in first] if all(firsts) else []


def beginning(answer: str) -> str:
    """The first words of an answer, cut at a space."""
    return answer if len(answer) <= BEGINNING_CHARS else answer[:BEGINNING_CHARS].rpartition(" ")[0]


def _positions(tag: str, pack: RefusePack) -> list[Pattern]:
    """Every ordinal in every frame, and the phrases of "the other one"."""
    other = Rule("other", pack.followup.other, ())
    return _ordinals(tag, pack, pack.followup.frames) + compiled(other, tag, pack, f"{tag}/refuse.toml")


def _ordinals(tag: str, pack: RefusePack, frames: Sequence[str] = ("#",)) -> list[Pattern]:
    return [
        pattern
        for topic, words in pack.followup.ordinals.items()
        for pattern in compiled(
            Rule(topic, tuple(frame.replace("#", f"({'|'.join(words)})") for frame in frames), ()),
            tag,
            pack,
            f"{tag}/refuse.toml: followup",
        )
    ]


def _contentful(request: ChatRequest, content: Content) -> str:
    """The nearest earlier question with a content word of its own, else the previous one."""
    asked = (turn.text[-EARLIER_CHARS:] for turn in reversed(request.turns) if turn.role == "user")
    return next((text for text in asked if content(text)), request.previous_question[-EARLIER_CHARS:])


def _joined(question: str, *before: str) -> tuple[str, ...]:
    """The question, and the question behind what it follows."""
    parts = [part for part in before if part]
    return (question, "\n".join((*parts, question))) if parts else (question,)


def _pointed(request: ChatRequest, previous: str, item: str, bare: bool) -> Followup:
    """A question with a position: joined to its item, or to the beginning of the answer before it."""
    joined = _joined(request.question, previous, item or beginning(request.previous_answer))
    # A bare position has no content words: the item's own title is what coverage can be taken of.
    texts = (item, *joined[1:]) if item and bare else joined
    return Followup(texts, item, bare, previous)


def _plain(word: str) -> str:
    """A word as it stands in padded text."""
    return prepared(word).strip(" .")


def _names(titles: Sequence[str]) -> dict[str, str]:
    """Titles, the longest first, with what to look for in padded text."""
    plain = {title: _plain(title) for title in sorted(set(titles), key=len, reverse=True)}
    return {title: f" {name} " for title, name in plain.items() if name}


def _named(text: str, names: Mapping[str, str]) -> list[str]:
    """Titles in `text` in order of first mention; a title inside a longer one is no mention of it."""
    line = prepared(text)
    found: dict[str, int] = {}
    for title, name in names.items():
        at = line.find(name)
        if at >= 0:
            found[title] = at
            line = line.replace(name, " " * len(name))
    return sorted(found, key=lambda title: found[title])


def _quoted(text: str) -> list[str]:
    """What `text` puts in quotation marks, in order, each once."""
    quotes = (next(filter(None, match.groups())).strip() for match in _QUOTED.finditer(text))
    found = list(dict.fromkeys(quotes))
    return found if all(len(item) <= ITEM_CHARS_MAX for item in found) else []


def _at(found: Sequence[str], position: str) -> str:
    index = -1 if position == "last" else int(position) - 1
    return found[index] if index < len(found) and found else ""


def _other(found: Sequence[str], request: ChatRequest) -> str:
    """The one of two that the last exchange did not speak of; "" unless that is plain."""
    if len(found) != 2:
        return ""
    last = f"{request.previous_question[-EARLIER_CHARS:]}\n{request.previous_answer[:EARLIER_CHARS]}"
    spoken = _named(last, _names(found))
    left = [item for item in found if item not in spoken]
    return left[0] if len(left) == 1 else ""
