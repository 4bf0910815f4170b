"""Lines of an answer: which are prose, code, fences or rows of a table (CommonMark and GFM, line by line)."""

from typing import Literal

import regex

Kind = Literal["text", "fence", "code", "head", "rule", "row"]
"""`head`: a table's header row, `rule`: the row of dashes below it, `row`: a row of its body."""

_FENCE = regex.compile(r"[ \t>]*(`{3,}|~{3,})")
_INDENTED = regex.compile(r"(?: {4}| {0,3}\t)[ \t]*\S")
_LIST = regex.compile(r"[ \t>]*(?:[-*+•]|\(?\p{Nd}{1,3}[.)、．])(?:[^\S\r\n]|$)")
_PIPE = regex.compile(r"[ \t>]*\|")
_RULE = regex.compile(r"[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*+\|?[ \t]*")


class Lines:
    """Follows an answer line by line; a line's kind is known at its first stop, or else at its end."""

    def __init__(self) -> None:
        self._fence = ""
        self._last: Kind = "text"
        self._blank = False
        self._list = False

    def kind(self, start: str) -> Kind:
        """Kind of the line that begins with `start`; of `fence` and `rule` only `close` is certain."""
        if self._fence:
            return "code"
        if _FENCE.match(start):
            return "fence"
        if (self._blank or self._last == "code") and not self._list and _INDENTED.match(start):
            return "code"
        table = self._last in ("head", "rule", "row") and not self._blank
        if _PIPE.match(start) or (table and self._last != "head" and "|" in start):
            return "row" if table else "head"
        return "text"

    def close(self, kind: Kind, line: str) -> Kind:
        """The line is over: remembers what it opens or closes and says its final kind."""
        if kind in ("fence", "code"):
            kind = self._close_code(kind, line)
        elif "-" in line and "|" in line and _RULE.fullmatch(line):
            kind = "rule"
        if kind == "text":
            indented = line[:1].isspace()
            self._list = bool(_LIST.match(line)) or (self._list and (indented or not self._blank))
        self._last, self._blank = kind, False
        return kind

    def blank(self) -> None:
        """A blank line: ends a table, may open an indented block."""
        self._blank = True

    def _close_code(self, kind: Kind, line: str) -> Kind:
        found = _FENCE.match(line)
        if self._fence:
            if found and found[1].startswith(self._fence) and not line[found.end() :].strip():
                self._fence = ""
                return "fence"
            return "code"
        if kind == "code" or not found:
            return kind
        if found[1][0] == "`" and "`" in line[found.end() :]:
            return "code"  # code within a line: it opens nothing, and must stand in a source as code must
        self._fence = found[1]
        return "fence"
