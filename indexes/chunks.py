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

CHUNKING_VERSION = 1
"""Of this cutting: another version cuts every document again."""

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_SENTENCE = re.compile(r"(?<=[.!?؟।॥۔…])[ \t\n]+|(?<=[。！？｡])|\n+")
_SPACE = re.compile(r"\s+")
_CONTAINERS = ("bullet_list_open", "ordered_list_open", "list_item_open", "blockquote_open")

BlockKind = Literal["heading", "prose", "code", "table"]


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage before it is stored. `key` is unique within a document and follows from headings and text."""

    headings: tuple[str, ...]
    text: str
    key: str


@dataclass(frozen=True, slots=True)
class _MarkdownBlock:
    kind: BlockKind
    text: str
    detail: str = ""
    """Language of code; words of a heading."""
    depth: int = 0


def cut_document(text: str, chars_max: int = CHARS_MAX) -> tuple[Chunk, ...]:
    """Passages of at most `chars_max` characters; only a single longer table row exceeds it."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    seen: Counter[str] = Counter()
    return tuple(
        Chunk(headings, body, _make_chunk_key(headings, body, seen))
        for headings, blocks in _group_sections(_parse_blocks(text, chars_max))
        for body in _pack_pieces(
            (piece for block in blocks for piece in _split_block(block, chars_max)), chars_max
        )
    )


def _make_chunk_key(headings: tuple[str, ...], text: str, seen: Counter[str]) -> str:
    digest = hashlib.sha256(json.dumps([headings, text]).encode()).hexdigest()[:24]
    seen[digest] += 1
    return digest if seen[digest] == 1 else f"{digest}-{seen[digest]}"


def _parse_blocks(text: str, chars_max: int) -> Iterator[_MarkdownBlock]:
    """The document's blocks in order; lines that belong to none (link definitions) are prose."""
    lines = text.split("\n")
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    done = 0
    for start, end, block in _iterate_leaves(tokens, lines, chars_max):
        yield from _parse_prose("\n".join(lines[done:start]))
        done = max(done, end)
        if block is not None:
            yield block
    yield from _parse_prose("\n".join(lines[done:]))


def _iterate_leaves(
    tokens: Sequence[Token], lines: list[str], chars_max: int
) -> Iterator[tuple[int, int, _MarkdownBlock | None]]:
    """Line ranges with their block: containers that fit are one block, longer ones are opened."""
    skip_to = 0
    for i, token in enumerate(tokens):
        if token.map is None or token.nesting < 0 or token.type == "inline" or i < skip_to:
            continue
        start, end = token.map
        raw = "\n".join(lines[start:end])
        if token.type in _CONTAINERS and len(raw) > chars_max:
            continue
        skip_to = _find_closing(tokens, i) + 1
        yield start, end, _parse_leaf(token, tokens[i + 1 : skip_to], raw)


def _find_closing(tokens: Sequence[Token], start: int) -> int:
    """The index of the token that closes the block opened by `tokens[start]`."""
    if tokens[start].nesting == 0:
        return start
    level = tokens[start].level
    return next(
        i for i in range(start + 1, len(tokens)) if tokens[i].level == level and tokens[i].nesting < 0
    )


def _parse_leaf(token: Token, inside: Sequence[Token], raw: str) -> _MarkdownBlock | None:
    match token.type:
        case "heading_open":
            words = " ".join(_read_inline_text(t) for t in inside if t.type == "inline")
            return _MarkdownBlock("heading", raw.strip(), words.strip(), int(token.tag[1:]))
        case "fence" | "code_block":
            return _MarkdownBlock("code", token.content, token.info.strip())
        case "table_open":
            return _MarkdownBlock("table", raw.strip("\n"))
        case "hr":
            return None
    return next(_parse_prose(raw), None)


def _read_inline_text(inline: Token) -> str:
    """The text of an inline token without its markup."""
    parts = (" " if child.type.endswith("break") else child.content for child in inline.children or ())
    return _SPACE.sub(" ", "".join(parts))


def _parse_prose(raw: str) -> Iterator[_MarkdownBlock]:
    text = _COMMENT.sub("", raw).strip("\n").rstrip()
    if text:
        yield _MarkdownBlock("prose", text)


def _group_sections(
    blocks: Iterable[_MarkdownBlock],
) -> Iterator[tuple[tuple[str, ...], list[_MarkdownBlock]]]:
    """Blocks under one path of headings. A heading that has nothing below it is its own text."""
    path: list[_MarkdownBlock] = []
    body: list[_MarkdownBlock] = []
    for block in blocks:
        if block.kind != "heading":
            body.append(block)
            continue
        childless = not body and path and block.depth <= path[-1].depth
        if body or childless:
            yield _make_section(path, body)
        path = [h for h in path if h.depth < block.depth] + [block]
        body = []
    if body or path:
        yield _make_section(path, body)


def _make_section(
    path: list[_MarkdownBlock], body: list[_MarkdownBlock]
) -> tuple[tuple[str, ...], list[_MarkdownBlock]]:
    headings = tuple(h.detail for h in path if h.detail)
    own_text = [_MarkdownBlock("prose", path[-1].detail)] if path and path[-1].detail else []
    return headings, body or own_text


def _split_block(block: _MarkdownBlock, chars_max: int) -> Iterator[str]:
    """A block whole if it fits, else in parts that each stand alone."""
    if block.kind == "code":
        yield from _split_code(block, chars_max)
    elif len(block.text) <= chars_max:
        yield block.text
    elif block.kind == "table":
        yield from _split_table(block.text, chars_max)
    else:
        yield from _split_sentences(block.text, chars_max)


def _split_code(block: _MarkdownBlock, chars_max: int) -> Iterator[str]:
    fence = "`" * max(3, 1 + max(map(len, re.findall(r"`+", block.text)), default=0))
    head, tail = f"{fence}{block.detail}\n", f"\n{fence}"
    room = max(chars_max - len(head) - len(tail), chars_max // 2)
    lines = [part for line in block.text.rstrip("\n").split("\n") for part in _split_line(line, room)]
    for part in _pack_pieces(lines, room, glue="\n"):
        yield head + part + tail


def _split_table(text: str, chars_max: int) -> Iterator[str]:
    lines = text.split("\n")
    head = "\n".join(lines[:2]) + "\n"
    for rows in _pack_pieces(lines[2:], max(chars_max - len(head), 1), glue="\n"):
        yield head + rows


def _split_sentences(text: str, chars_max: int) -> Iterator[str]:
    """Runs of whole sentences; a longer sentence is cut between words, a longer word where it must be."""
    start = previous = 0
    ends = [match.end() for match in _SENTENCE.finditer(text)] + [len(text)]
    for end in ends:
        if len(text[start:end].rstrip()) > chars_max:
            if text[start:previous].strip():
                yield text[start:previous].strip()
            start = previous
        while len(text[start:end].rstrip()) > chars_max:
            gap = _find_gap(text, start, start + chars_max)
            yield text[start:gap].strip()
            start = gap
        previous = end
    if text[start:].strip():
        yield text[start:].strip()


def _find_gap(text: str, start: int, stop: int) -> int:
    """The last white space before `stop`, or `stop` where there is none near."""
    gap = max(text.rfind(" ", start + 1, stop), text.rfind("\n", start + 1, stop))
    return gap if gap > start + (stop - start) // 2 else stop


def _split_line(line: str, chars_max: int) -> list[str]:
    return [line[i : i + chars_max] for i in range(0, len(line), chars_max)] or [""]


def _pack_pieces(pieces: Iterable[str], chars_max: int, glue: str = "\n\n") -> Iterator[str]:
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
