"""Cuts a Markdown document into passages: by headings, between blocks, rows, lines or sentences. Pure.

A table is cut between its rows, each part with the header; code between its lines, each part in a fence of
its own. Nothing of the text is lost but HTML comments and white space between blocks.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.token import Token

CHARS_MAX = 900
"""Of a passage's text: about 200 tokens, within the window of small embedding models."""

VERSION = 1
"""Of this cutting: another version cuts every document again."""

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_SENTENCE = re.compile(r"(?<=[.!?؟।॥۔…])[ \t\n]+|(?<=[。！？｡])|\n+")
_SPACE = re.compile(r"\s+")
_CONTAINERS = ("bullet_list_open", "ordered_list_open", "list_item_open", "blockquote_open")

Kind = Literal["heading", "prose", "code", "table"]


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage before it is stored. `key` is unique within a document and follows from headings and text."""

    headings: tuple[str, ...]
    text: str
    key: str


@dataclass(frozen=True, slots=True)
class _Block:
    kind: Kind
    text: str
    detail: str = ""
    """Language of code; words of a heading."""
    depth: int = 0


def cut(text: str, chars_max: int = CHARS_MAX) -> tuple[Chunk, ...]:
    """Passages of at most `chars_max` characters; only a single longer table row exceeds it."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    seen: Counter[str] = Counter()
    return tuple(
        Chunk(headings, body, _key(headings, body, seen))
        for headings, blocks in _sections(_blocks(text, chars_max))
        for body in _packed((piece for block in blocks for piece in _pieces(block, chars_max)), chars_max)
    )


def _key(headings: tuple[str, ...], text: str, seen: Counter[str]) -> str:
    digest = hashlib.sha256(json.dumps([headings, text]).encode()).hexdigest()[:24]
    seen[digest] += 1
    return digest if seen[digest] == 1 else f"{digest}-{seen[digest]}"


def _blocks(text: str, chars_max: int) -> Iterator[_Block]:
    """The document's blocks in order; lines that belong to none (link definitions) are prose."""
    lines = text.split("\n")
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    done = 0
    for start, end, block in _leaves(tokens, lines, chars_max):
        yield from _prose("\n".join(lines[done:start]))
        done = max(done, end)
        if block is not None:
            yield block
    yield from _prose("\n".join(lines[done:]))


def _leaves(
    tokens: Sequence[Token], lines: list[str], chars_max: int
) -> Iterator[tuple[int, int, _Block | None]]:
    """Line ranges with their block: containers that fit are one block, longer ones are opened."""
    skip_to = 0
    for at, token in enumerate(tokens):
        if token.map is None or token.nesting < 0 or token.type == "inline" or at < skip_to:
            continue
        start, end = token.map
        raw = "\n".join(lines[start:end])
        if token.type in _CONTAINERS and len(raw) > chars_max:
            continue
        skip_to = _closing(tokens, at) + 1
        yield start, end, _leaf(token, tokens[at + 1 : skip_to], raw)


def _closing(tokens: Sequence[Token], at: int) -> int:
    """Where the block opened at `at` ends."""
    if tokens[at].nesting == 0:
        return at
    level = tokens[at].level
    return next(i for i in range(at + 1, len(tokens)) if tokens[i].level == level and tokens[i].nesting < 0)


def _leaf(token: Token, inside: Sequence[Token], raw: str) -> _Block | None:
    match token.type:
        case "heading_open":
            words = " ".join(_words(t) for t in inside if t.type == "inline")
            return _Block("heading", raw.strip(), words.strip(), int(token.tag[1:]))
        case "fence" | "code_block":
            return _Block("code", token.content, token.info.strip())
        case "table_open":
            return _Block("table", raw.strip("\n"))
        case "hr":
            return None
    return next(_prose(raw), None)


def _words(inline: Token) -> str:
    """The text of an inline token without its markup."""
    parts = (" " if child.type.endswith("break") else child.content for child in inline.children or ())
    return _SPACE.sub(" ", "".join(parts))


def _prose(raw: str) -> Iterator[_Block]:
    text = _COMMENT.sub("", raw).strip("\n").rstrip()
    if text:
        yield _Block("prose", text)


def _sections(blocks: Iterable[_Block]) -> Iterator[tuple[tuple[str, ...], list[_Block]]]:
    """Blocks under one path of headings. A heading that has nothing below it is its own text."""
    path: list[_Block] = []
    body: list[_Block] = []
    for block in blocks:
        if block.kind != "heading":
            body.append(block)
            continue
        childless = not body and path and block.depth <= path[-1].depth
        if body or childless:
            yield _section(path, body)
        path = [h for h in path if h.depth < block.depth] + [block]
        body = []
    if body or path:
        yield _section(path, body)


def _section(path: list[_Block], body: list[_Block]) -> tuple[tuple[str, ...], list[_Block]]:
    headings = tuple(h.detail for h in path if h.detail)
    alone = [_Block("prose", path[-1].detail)] if path and path[-1].detail else []
    return headings, body or alone


def _pieces(block: _Block, chars_max: int) -> Iterator[str]:
    """A block whole if it fits, else in parts that each stand alone."""
    if block.kind == "code":
        yield from _code(block, chars_max)
    elif len(block.text) <= chars_max:
        yield block.text
    elif block.kind == "table":
        yield from _table(block.text, chars_max)
    else:
        yield from _sentences(block.text, chars_max)


def _code(block: _Block, chars_max: int) -> Iterator[str]:
    fence = "`" * max(3, 1 + max(map(len, re.findall(r"`+", block.text)), default=0))
    head, tail = f"{fence}{block.detail}\n", f"\n{fence}"
    room = max(chars_max - len(head) - len(tail), chars_max // 2)
    lines = [part for line in block.text.rstrip("\n").split("\n") for part in _hard(line, room)]
    for part in _packed(lines, room, glue="\n"):
        yield head + part + tail


def _table(text: str, chars_max: int) -> Iterator[str]:
    lines = text.split("\n")
    head = "\n".join(lines[:2]) + "\n"
    for rows in _packed(lines[2:], max(chars_max - len(head), 1), glue="\n"):
        yield head + rows


def _sentences(text: str, chars_max: int) -> Iterator[str]:
    """Runs of whole sentences; a longer sentence is cut between words, a longer word where it must be."""
    start = previous = 0
    ends = [match.end() for match in _SENTENCE.finditer(text)] + [len(text)]
    for end in ends:
        if len(text[start:end].rstrip()) > chars_max:
            if text[start:previous].strip():
                yield text[start:previous].strip()
            start = previous
        while len(text[start:end].rstrip()) > chars_max:
            at = _gap(text, start, start + chars_max)
            yield text[start:at].strip()
            start = at
        previous = end
    if text[start:].strip():
        yield text[start:].strip()


def _gap(text: str, start: int, stop: int) -> int:
    """The last white space before `stop`, or `stop` where there is none near."""
    at = max(text.rfind(" ", start + 1, stop), text.rfind("\n", start + 1, stop))
    return at if at > start + (stop - start) // 2 else stop


def _hard(line: str, chars_max: int) -> list[str]:
    return [line[i : i + chars_max] for i in range(0, len(line), chars_max)] or [""]


def _packed(pieces: Iterable[str], chars_max: int, glue: str = "\n\n") -> Iterator[str]:
    """Neighbours together as long as they fit."""
    pack: str | None = None
    for piece in pieces:
        if pack is None:
            pack = piece
        elif len(pack) + len(glue) + len(piece) <= chars_max:
            pack += glue + piece
        else:
            yield pack
            pack = piece
    if pack is not None:
        yield pack
