"""A stop where it stands: the word before it and what follows, read no further than the window goes."""

from dataclasses import dataclass

import regex

from proxy.gate.lookahead import WAIT, Lookahead, Wait

WORD = regex.compile(r"[\p{L}\p{M}\p{N}]++")
_WORD_BEFORE = regex.compile(r"(?r)([\p{L}\p{M}\p{N}]{1,40}+)[^\p{L}\p{M}\p{N}\r\n]{1,3}")
_NUMBER_BEFORE = regex.compile(r"(?r)\p{Nd}[^\S\r\n]?|/")


@dataclass(slots=True)  # not frozen: made at every stop, for a fourth of the price
class StopContext:
    """A single stop in its text: the word before it and where the next one begins."""

    text: str
    token: str
    ahead: Lookahead
    content_start: int
    """The next letter, digit or sign: opening brackets and quotes passed over."""

    @property
    def following(self) -> str:
        """The character there; "" if the window ends before it."""
        return (
            self.text[self.content_start : self.content_start + 1]
            if self.content_start < self.ahead.limit
            else ""
        )

    @property
    def has_marker(self) -> bool:
        """Whether a marker follows the stop."""
        return self.ahead.end > self.ahead.closers_end

    @property
    def has_number_before(self) -> bool:
        """Whether the token stands right after a number or a stroke, as a unit does: `5 с.`, `км/ч.`."""
        return _NUMBER_BEFORE.match(self.text, 0, self.ahead.at - len(self.token)) is not None

    def read_next_word(self) -> str | Wait:
        """The whole next word; WAIT until its end has come."""
        m = WORD.match(self.text, self.content_start, self.ahead.limit)
        if m is None:
            return ""
        return WAIT if self.ahead.can_grow and m.end() == self.ahead.limit else m.group()

    def read_word_before(self) -> str:
        """The word before the token."""
        end = self.ahead.at - len(self.token)
        m = _WORD_BEFORE.match(self.text, max(0, end - 44), end)
        return m[1] if m else ""
