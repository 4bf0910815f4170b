"""Follow-ups: what a short turn points back to, read without guessing or not at all."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import regex

from proxy.domain.types import ChatRequest
from proxy.guards.refusal.pack import RefusePack
from proxy.guards.refusal.padding import fold_and_pad
from proxy.guards.refusal.patterns import Pattern, PatternRule, PatternSet, compile_rule

BEGINNING_CHARS_MAX = 300
"""As much of the previous answer as is joined where the item cannot be read."""
EARLIER_CHARS_MAX = 8_000
"""As much of an earlier turn as is read: more than anybody types, and no client can make reading it slow."""
LINES_MAX, ITEM_CHARS_MAX = 50, 300
"""A list of more lines, or an item that is longer, is none that somebody points into by a position."""
ContentWordFinder = Callable[[str], Sequence[str]]
"""The content words of a text (stop words and the subject's names are none)."""

_QUOTATION = regex.compile(
    r"«([^«»\n]+)»|“([^“”\n]+)”|„([^„“”\n]+)[“”]|\"([^\"\n]+)\"|「([^」\n]+)」|『([^』\n]+)』|《([^》\n]+)》"
)
_LIST_LINE = regex.compile(r"^\s*(?:[-*•–]|\p{Nd}{1,2}[.)、．])\s*(?=\S)")


@dataclass(frozen=True, slots=True)
class Followup:
    """How a question is searched. `texts` each count for the threshold."""

    texts: tuple[str, ...]
    item: str = ""
    """The list item that a position points at; "" where none can be read without doubt."""
    is_bare: bool = False
    """The question says nothing of its own: "yes", "and the second?"."""
    previous: str = ""
    """The earlier question that it was joined to."""


class FollowupReader:
    """Reads follow-ups in every language at once. Raises `ConfigError` for a pack that cannot be read."""

    def __init__(self, packs: Mapping[str, RefusePack]):
        self._positions = PatternSet(
            [p for tag, pack in packs.items() for p in _build_position_patterns(tag, pack)]
        )
        self._ordinals = PatternSet(
            [p for tag, pack in packs.items() for p in _build_ordinal_patterns(tag, pack)]
        )
        self._more_wishes = frozenset(
            fold_and_pad(text) for pack in packs.values() for text in pack.followup.more
        )
        self._fillers = frozenset(
            _strip_padding(word) for pack in packs.values() for word in pack.followup.fillers
        )

    def read_followup(
        self, request: ChatRequest, titles: Sequence[str], find_content_words: ContentWordFinder
    ) -> Followup:
        """How the question of `request` is searched, with what it points back to.

        `titles`: titles and names of the site's own that the caller may see.
        """
        question = request.question
        if not request.turns:
            return Followup((question,))
        previous = _find_contentful_question(request, find_content_words)
        line = fold_and_pad(question)
        if line in self._more_wishes:
            return Followup((previous or question,), is_bare=True, previous=previous)
        hits = self._positions.find_hits(line)
        if not hits:
            return Followup(
                _join_questions(question, previous),
                is_bare=not find_content_words(question),
                previous=previous,
            )
        is_bare = self._is_bare(question, line, hits[0], find_content_words)
        item = self._find_item(hits[0].topic, request, titles) if self._is_unambiguous(line, hits) else ""
        return _build_position_followup(request, previous, item, is_bare)

    def find_previous_question(self, request: ChatRequest, find_content_words: ContentWordFinder) -> str:
        """What a question follows: the previous one, or, where that was a mere "yes", the one before it."""
        previous = request.previous_question
        return (
            previous
            if find_content_words(previous[-EARLIER_CHARS_MAX:])
            else _find_contentful_question(request, find_content_words)
        )

    def is_contentless(self, question: str, find_content_words: ContentWordFinder) -> bool:
        """Whether a question says nothing of its own ("and for me?"), so that the one before it speaks on."""
        return fold_and_pad(question) in self._more_wishes or not find_content_words(question)

    def _is_bare(
        self, question: str, line: str, position: Pattern, find_content_words: ContentWordFinder
    ) -> bool:
        """Whether nothing but a position and a wish to hear more is said.

        Taken word by word, and, for scripts without word gaps, with the position cut out of the line.
        """
        start, end = position.search(line) or (0, 0)
        spoken_words = self._fillers | set(line[start:end].split())
        return set(map(_strip_padding, find_content_words(question))) <= spoken_words or (
            set(map(_strip_padding, find_content_words(f"{line[:start]} {line[end:]}"))) <= self._fillers
        )

    def _is_unambiguous(self, line: str, hits: Sequence[Pattern]) -> bool:
        """Whether one position is named, and no other ordinal beside it."""
        return len({hit.topic for hit in (*hits, *self._ordinals.find_hits(line))}) == 1

    def _find_item(self, position: str, request: ChatRequest, titles: Sequence[str]) -> str:
        """The item of the nearest list in the last two answers; "" where in doubt."""
        answers = [turn.text[:EARLIER_CHARS_MAX] for turn in request.turns if turn.role == "assistant"]
        nearest = answers[-1:-3:-1]
        items = next((items for text in nearest if len(items := list_items(text, titles)) > 1), [])
        return _pick_other_item(items, request) if position == "other" else _pick_item_at(items, position)


def list_items(answer: str, titles: Sequence[str]) -> list[str]:
    """The items that an answer lists, in order: the site's own titles in it, else what it quotes.

    Where the answer has list lines, each must name its item; otherwise counting them would be guessing.
    """
    names = _index_titles(titles)
    lines = [line for line in answer.splitlines() if _LIST_LINE.match(line)]
    if len(lines) < 2:
        return _find_titles(answer, names) or _find_quotations(answer)
    if len(lines) > LINES_MAX:
        return []
    firsts = [(_find_titles(line, names) or _find_quotations(line))[:1] for line in lines]
    return [item for first in firsts for item in first] if all(firsts) else []


def cut_beginning(answer: str) -> str:
    """The first words of an answer, cut at a space."""
    return answer if len(answer) <= BEGINNING_CHARS_MAX else answer[:BEGINNING_CHARS_MAX].rpartition(" ")[0]


def _build_position_patterns(tag: str, pack: RefusePack) -> list[Pattern]:
    """Every ordinal in every frame, and the phrases of "the other one"."""
    other = PatternRule("other", pack.followup.other, ())
    return _build_ordinal_patterns(tag, pack, pack.followup.frames) + compile_rule(
        other, tag, pack, f"{tag}/refuse.toml"
    )


def _build_ordinal_patterns(tag: str, pack: RefusePack, frames: Sequence[str] = ("#",)) -> list[Pattern]:
    return [
        pattern
        for topic, words in pack.followup.ordinals.items()
        for pattern in compile_rule(
            PatternRule(topic, tuple(frame.replace("#", f"({'|'.join(words)})") for frame in frames), ()),
            tag,
            pack,
            f"{tag}/refuse.toml: followup",
        )
    ]


def _find_contentful_question(request: ChatRequest, find_content_words: ContentWordFinder) -> str:
    """The nearest earlier question with a content word of its own, else the previous one."""
    questions = (turn.text[-EARLIER_CHARS_MAX:] for turn in reversed(request.turns) if turn.role == "user")
    return next(
        (text for text in questions if find_content_words(text)),
        request.previous_question[-EARLIER_CHARS_MAX:],
    )


def _join_questions(question: str, *before: str) -> tuple[str, ...]:
    """The question, and the question behind what it follows."""
    parts = [part for part in before if part]
    return (question, "\n".join((*parts, question))) if parts else (question,)


def _build_position_followup(request: ChatRequest, previous: str, item: str, is_bare: bool) -> Followup:
    """A question with a position: joined to its item, or to the beginning of the answer before it."""
    joined = _join_questions(request.question, previous, item or cut_beginning(request.previous_answer))
    # A bare position has no content words: the item's own title is what coverage can be taken of.
    texts = (item, *joined[1:]) if item and is_bare else joined
    return Followup(texts, item, is_bare, previous)


def _strip_padding(word: str) -> str:
    """A word as it stands in padded text."""
    return fold_and_pad(word).strip(" .")


def _index_titles(titles: Sequence[str]) -> dict[str, str]:
    """Titles, the longest first, with what to look for in padded text."""
    plain = {title: _strip_padding(title) for title in sorted(set(titles), key=len, reverse=True)}
    return {title: f" {name} " for title, name in plain.items() if name}


def _find_titles(text: str, names: Mapping[str, str]) -> list[str]:
    """Titles in `text` in order of first mention; a title inside a longer one is no mention of it."""
    line = fold_and_pad(text)
    starts: dict[str, int] = {}
    for title, name in names.items():
        start = line.find(name)
        if start >= 0:
            starts[title] = start
            line = line.replace(name, " " * len(name))
    return sorted(starts, key=lambda title: starts[title])


def _find_quotations(text: str) -> list[str]:
    """What `text` puts in quotation marks, in order, each once.

    Nothing where one of them is too long for a name: counting without it would point at the wrong item.
    """
    quotes = (next(filter(None, match.groups())).strip() for match in _QUOTATION.finditer(text))
    items = list(dict.fromkeys(quotes))
    return items if all(len(item) <= ITEM_CHARS_MAX for item in items) else []


def _pick_item_at(items: Sequence[str], position: str) -> str:
    """The item at `position` (`1` … `5` or `last`); "" where the list ends before it."""
    index = -1 if position == "last" else int(position) - 1
    return items[index] if index < len(items) and items else ""


def _pick_other_item(items: Sequence[str], request: ChatRequest) -> str:
    """The one of two that the last exchange did not speak of; "" unless that is plain."""
    if len(items) != 2:
        return ""
    last = f"{request.previous_question[-EARLIER_CHARS_MAX:]}\n{request.previous_answer[:EARLIER_CHARS_MAX]}"
    mentioned = _find_titles(last, _index_titles(items))
    left = [item for item in items if item not in mentioned]
    return left[0] if len(left) == 1 else ""
