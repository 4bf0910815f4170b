"""HTML → Markdown: headings, paragraphs, lists, tables, code, link addresses; nothing unseen.

Scripts, styles, navigation and hidden elements are left out: text that nobody sees is a way to slip words to
a model.
"""

import re
from html.parser import HTMLParser

from indexes.sources.readers.types import Content


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_UNSEEN = _names("script style template noscript nav svg math iframe object select textarea")
_VOID = _names("area base br col embed hr img input link meta source track wbr")
_BLOCKS = _names(
    "address article aside blockquote body dd details div dl dt fieldset figcaption figure footer form"
    " h1 h2 h3 h4 h5 h6 header hr li main ol p pre section summary table ul"
)
_UNCLOSED = _names("p li dd dt td th tr")
"""Elements whose end tag may be left out."""
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_SPACES = re.compile(r"[ \t\n\f\r]+")
_BLANK = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")
_SAFE = ("http://", "https://", "mailto:", "tel:")


def read_html(body: str) -> Content:
    """The visible text of a page as Markdown; its `<title>`, or first `<h1>`, and its `lang`."""
    parser = _Parser()
    parser.feed(body)
    parser.close()
    parser.finish()
    text = _BLANK.sub("\n\n", "".join(parser.out)).strip()
    return Content(text, parser.title or parser.first.strip() or None, parser.language)


class _Parser(HTMLParser):
    """Pushes Markdown into `out` as the tags pass. Tags that are never closed do no harm."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.out: list[str] = []
        self.title = ""
        self.first = ""
        self.language: str | None = None
        self._unseen: list[str] = []
        self._titling = False
        self._pre = False
        self._lines = ""
        """Text inside `<pre>` so far."""
        self._lists: list[int | None] = []
        self._heading = ""
        self._cells: list[str] | None = None
        self._rows = 0
        self._link = ""

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        known = {name: value or "" for name, value in attributes}
        if tag == "html" and known.get("lang"):
            self.language = known["lang"].split("-")[0].lower()
        self._titling = self._titling or (tag == "title" and not self._unseen)
        if self._unseen and self._unseen[-1] in _UNCLOSED and _ends(self._unseen[-1], tag):
            self._unseen.pop()
        if self._unseen or tag in _UNSEEN or _is_hidden(known):
            if tag not in _VOID:
                self._unseen.append(tag)
            return
        self._open(tag, known)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attributes)
        if tag not in _VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        self._titling = self._titling and tag != "title"
        if tag in self._unseen:
            # Whatever was left open inside ends with it.
            del self._unseen[len(self._unseen) - 1 - self._unseen[::-1].index(tag) :]
            return
        if self._unseen and self._unseen[0] in _UNCLOSED:
            self._unseen.clear()
        if not self._unseen:
            self._close(tag)

    def handle_data(self, data: str) -> None:
        if self._titling:
            self.title = _SPACES.sub(" ", self.title + data).strip()
        elif not self._unseen:
            self._write(data if self._pre else _SPACES.sub(" ", data))

    def finish(self) -> None:
        """Closes what the page left open."""
        self._code()
        self._row()

    def _open(self, tag: str, known: dict[str, str]) -> None:
        match tag:
            case "h1" | "h2" | "h3" | "h4" | "h5" | "h6":
                self._block("#" * int(tag[1]) + " ")
                self._heading = tag
            case "ul" | "ol":
                self._lists.append(1 if tag == "ol" else None)
            case "li":
                self._item()
            case "tr":
                self._row()
            case "td" | "th":
                self._cells = [] if self._cells is None else self._cells
                self._cells.append("")
            case "table":
                self._block()
                self._rows = 0
            case "pre":
                self._block()
                self._pre = True
            case "br":
                self._write("\n" if self._pre else " " if self._cells is not None else "  \n")
            case "img":
                self._write(known.get("alt", ""))
            case "a":
                address = known.get("href", "").strip()
                self._link = address if address.lower().startswith(_SAFE) else ""
            case _ if tag in _BLOCKS:
                self._block()

    def _close(self, tag: str) -> None:
        match tag:
            case "ul" | "ol":
                if self._lists:
                    self._lists.pop()
                self._block()
            case "tr" | "thead" | "tbody" | "tfoot":
                self._row()
            case "table":
                self._row()
                self._block()
            case "pre":
                self._code()
            case "a":
                if self._link:
                    self._write(f" ({self._link})")
                self._link = ""
            case "td" | "th" | "li":
                pass
            case _ if tag in _BLOCKS:
                self._block()
                self._heading = "" if tag == self._heading else self._heading

    def _write(self, text: str) -> None:
        if self._cells:
            self._cells[-1] += text
            return
        if self._pre:
            self._lines += text
            return
        if self._heading == "h1" and not self.first.endswith("\n"):
            self.first += text
        at_start = not self.out or self.out[-1].endswith(("\n", " "))
        self.out.append(text.lstrip(" ") if at_start else text)

    def _block(self, start: str = "") -> None:
        if self._cells is not None:
            self._write(" ")
            return
        if self._heading == "h1" and self.first:
            self.first = self.first.strip() + "\n"
        self.out.append("\n\n" + start)

    def _code(self) -> None:
        self._pre = False
        lines, self._lines = self._lines.strip("\n"), ""
        if self._cells is not None:
            self._write(lines)
        elif lines.strip():
            fence = "`" * max(3, 1 + max(map(len, re.findall("`+", lines)), default=0))
            self.out.append(f"\n\n{fence}\n{lines}\n{fence}\n\n")

    def _item(self) -> None:
        if self._cells is not None:
            self._write(" ")
            return
        depth = max(len(self._lists) - 1, 0)
        number = self._lists[-1] if self._lists else None
        if self._lists and number is not None:
            self._lists[-1] = number + 1
        self.out.append("\n" + "   " * depth + ("- " if number is None else f"{number}. "))

    def _row(self) -> None:
        cells = [_SPACES.sub(" ", cell).strip().replace("|", "\\|") for cell in self._cells or ()]
        self._cells = None
        if not cells:
            return
        self.out.append("| " + " | ".join(cells) + " |\n")
        if not self._rows:
            self.out.append("|" + " --- |" * len(cells) + "\n")
        self._rows += 1


def _ends(open: str, tag: str) -> bool:
    """True if `tag` ends an element `open` that has no end tag."""
    return tag == open or (tag in _BLOCKS and open == "p") or (tag == "tr" and open in ("td", "th"))


def _is_hidden(known: dict[str, str]) -> bool:
    return "hidden" in known or bool(_HIDDEN.search(known.get("style", "")))
