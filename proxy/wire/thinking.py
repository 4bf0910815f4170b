"""Takes thinking out of an answer's text, for upstreams that do not tell the two apart."""

import re

from proxy.wire.upstream_events import Text, Thought

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
_STARTS = re.compile("[" + re.escape("".join({tag[0] for pair in TAGS for tag in pair})) + "]")


class Think:
    """Text in; text and thoughts out. What may begin a tag waits; behind a tag left open nothing is text."""

    def __init__(self) -> None:
        self._held = ""
        self._close = ""

    def feed(self, text: str) -> list[Text | Thought]:
        """Splits `text` behind what was held."""
        if not self._close and not self._held and not _STARTS.search(text):
            return [Text(text)] if text else []
        out: list[Text | Thought] = []
        text, self._held = self._held + text, ""
        while text:
            text = self._inside(text, out) if self._close else self._outside(text, out)
        return out

    def finish(self) -> list[Text | Thought]:
        """What was held after all."""
        held, self._held = self._held, ""
        if not held:
            return []
        return [Thought(held) if self._close else Text(held)]

    def _outside(self, text: str, out: list[Text | Thought]) -> str:
        found = _OPEN.search(text)
        end = found.start() if found else len(text) - _partial(text, tuple(_CLOSE))
        if end:
            out.append(Text(text[:end]))
        if not found:
            self._held = text[end:]
            return ""
        self._close = _CLOSE[found.group().lower()]
        return text[found.end() :]

    def _inside(self, text: str, out: list[Text | Thought]) -> str:
        found = re.search(re.escape(self._close), text, re.IGNORECASE | re.ASCII)
        end = found.start() if found else len(text) - _partial(text, (self._close,))
        if end:
            out.append(Thought(text[:end]))
        if not found:
            self._held = text[end:]
            return ""
        self._close = ""
        return text[found.end() :]


def _partial(text: str, tags: tuple[str, ...]) -> int:
    """Length of the longest end of `text` that begins one of `tags`."""
    longest = max(map(len, tags)) - 1
    tail = text[-longest:].lower()
    for at in _STARTS.finditer(tail):
        begun = tail[at.start() :]
        if any(tag.startswith(begun) for tag in tags):
            return len(begun)
    return 0
