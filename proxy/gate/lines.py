"""Lines of an answer: which are prose, code, fences or rows of a table (CommonMark and GFM, line by line)."""

from typing import Literal

import regex

LineKind = Literal["text", "fence", "code", "head", "rule", "row"]
"""`head`: a table's header row, `rule`: the row of dashes below it, `row`: a row of its body."""

_FENCE = regex.compile(r"[ \t>]*(`{3,}|~{3,})")
_INDENTED = regex.compile(r"(?: {4}| {0,3}\t)[ \t]*\S")
_LIST = regex.compile(r"[ \t>]*(?:[-*+•]|\(?\p{Nd}{1,3}[.)、．])(?:[^\S\r\n]|$)")
_PIPE = regex.compile(r"[ \t>]*\|")
_RULE = regex.compile(r"[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*+\|?[ \t]*")


class LineClassifier:
    """Follows an answer line by line; a line's kind is known at its first stop, or else at its end."""

    def __init__(self) -> None:
        self._fence = ""
        """The run of signs that opened the block under way; "" outside of one."""
        self._last_kind: LineKind = "text"
        self._is_after_blank = False
        self._is_in_list = False

    def classify_start(self, start: str) -> LineKind:
        """Kind of the line that begins with `start`; of `fence` and `rule` only `close_line` is certain."""
        if self._fence:
            return "code"
        if _FENCE.match(start):
            return "fence"
        if (
            (self._is_after_blank or self._last_kind == "code")
            and not self._is_in_list
            and _INDENTED.match(start)
        ):
            return "code"
        is_in_table = self._last_kind in ("head", "rule", "row") and not self._is_after_blank
        if _PIPE.match(start) or (is_in_table and self._last_kind != "head" and "|" in start):
            return "row" if is_in_table else "head"
        return "text"

    def close_line(self, kind: LineKind, line: str) -> LineKind:
        """The line is over: remembers what it opens or closes and says its final kind."""
        if kind in ("fence", "code"):
            kind = self._close_code_line(kind, line)
        elif "-" in line and "|" in line and _RULE.fullmatch(line):
            kind = "rule"
        if kind == "text":
            is_indented = line[:1].isspace()
            self._is_in_list = bool(_LIST.match(line)) or (
                self._is_in_list and (is_indented or not self._is_after_blank)
            )
        self._last_kind, self._is_after_blank = kind, False
        return kind

    def mark_blank_line(self) -> None:
        """A blank line: ends a table, may open an indented block."""
        self._is_after_blank = True

    def _close_code_line(self, kind: LineKind, line: str) -> LineKind:
        fence = _FENCE.match(line)
        if self._fence:
            if fence and fence[1].startswith(self._fence) and not line[fence.end() :].strip():
                self._fence = ""
                return "fence"
            return "code"
        if kind == "code" or not fence:
            return kind
        if fence[1][0] == "`" and "`" in line[fence.end() :]:
            return "code"  # code within a line: it opens nothing, and must stand in a source as code must
        self._fence = fence[1]
        return "fence"
