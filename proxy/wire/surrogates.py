"""Joins surrogate pairs that an upstream cut between two events; a half without its other half is U+FFFD."""

import re

_SURROGATE = re.compile("[\ud800-\udfff]")


def join_surrogates(text: str) -> str:
    """`text`, which is whole, without surrogates."""
    halves = SurrogateJoiner()
    return halves.feed(text) + halves.finish()


class SurrogateJoiner:
    """Text in, text without surrogates out; a high half at the end waits for the next piece."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, text: str) -> str:
        """What of the held half and `text` is whole."""
        if not self._held and not _SURROGATE.search(text):
            return text
        text, self._held = self._held + text, ""
        if "\ud800" <= text[-1:] <= "\udbff":
            text, self._held = text[:-1], text[-1]
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")

    def finish(self) -> str:
        """A half that nothing followed."""
        held, self._held = self._held, ""
        return "\ufffd" if held else ""
