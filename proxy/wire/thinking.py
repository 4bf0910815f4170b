"""Takes thinking out of an answer's text, for upstreams that do not tell the two apart."""

import re

from proxy.wire.upstream_events import AnswerText, ThoughtText

TAGS = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reason>", "</reason>"),
    ("<reasoning>", "</reasoning>"),
    ("<seed:think>", "</seed:think>"),
    ("[think]", "[/think]"),
    ("◁think▷", "◁/think▷"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|start_thinking|>", "<|end_thinking|>"),
    ("<|inner_prefix|>", "<|inner_suffix|>"),
    ("<|channel>thought", "<channel|>"),
    ("<|channel|>analysis", "<|channel|>final<|message|>"),
    ("<|channel|>commentary", "<|channel|>final<|message|>"),
)
"""As families of models write them, in lower case; the last two hold all before the final channel."""

_CLOSE = dict(TAGS)
_OPEN = re.compile("|".join(re.escape(tag) for tag in _CLOSE), re.IGNORECASE | re.ASCII)
_TAG_START = re.compile("[" + re.escape("".join({tag[0] for pair in TAGS for tag in pair})) + "]")


class ThinkingSplitter:
    """Text in; text and thoughts out. What may begin a tag waits; behind a tag left open nothing is text."""

    def __init__(self) -> None:
        self._held = ""
        self._closing_tag = ""

    def feed(self, text: str) -> list[AnswerText | ThoughtText]:
        """Splits `text` behind what was held."""
        if not self._closing_tag and not self._held and not _TAG_START.search(text):
            return [AnswerText(text)] if text else []
        out: list[AnswerText | ThoughtText] = []
        text, self._held = self._held + text, ""
        while text:
            text = (
                self._split_inside_tag(text, out) if self._closing_tag else self._split_outside_tag(text, out)
            )
        return out

    def finish(self) -> list[AnswerText | ThoughtText]:
        """What was held after all."""
        held, self._held = self._held, ""
        if not held:
            return []
        return [ThoughtText(held) if self._closing_tag else AnswerText(held)]

    def _split_outside_tag(self, text: str, out: list[AnswerText | ThoughtText]) -> str:
        """Appends the answer's text before the next opening tag to `out`; returns what is behind the tag."""
        tag = _OPEN.search(text)
        end = tag.start() if tag else len(text) - _measure_partial_tag(text, tuple(_CLOSE))
        if end:
            out.append(AnswerText(text[:end]))
        if not tag:
            self._held = text[end:]
            return ""
        self._closing_tag = _CLOSE[tag.group().lower()]
        return text[tag.end() :]

    def _split_inside_tag(self, text: str, out: list[AnswerText | ThoughtText]) -> str:
        """Appends the thought before the closing tag to `out`; returns what is behind the tag."""
        tag = re.search(re.escape(self._closing_tag), text, re.IGNORECASE | re.ASCII)
        end = tag.start() if tag else len(text) - _measure_partial_tag(text, (self._closing_tag,))
        if end:
            out.append(ThoughtText(text[:end]))
        if not tag:
            self._held = text[end:]
            return ""
        self._closing_tag = ""
        return text[tag.end() :]


def _measure_partial_tag(text: str, tags: tuple[str, ...]) -> int:
    """Length of the longest end of `text` that begins one of `tags`."""
    longest = max(map(len, tags)) - 1
    tail = text[-longest:].lower()
    for first in _TAG_START.finditer(tail):
        beginning = tail[first.start() :]
        if any(tag.startswith(beginning) for tag in tags):
            return len(beginning)
    return 0
