"""HTML → Markdown: headings, paragraphs, lists, tables, code, link addresses; nothing unseen.

Scripts, styles, navigation and hidden elements are left out: text that nobody sees is a way to slip words to
a model.
"""

import re
from html.parser import HTMLParser

from indexes.sources.readers.types import DocumentContent


def _split_names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_HIDDEN_TAGS = _split_names("script style template noscript nav svg math iframe object select textarea")
_VOID_TAGS = _split_names("area base br col embed hr img input link meta source track wbr")
_BLOCK_TAGS = _split_names(
    "address article aside blockquote body dd details div dl dt fieldset figcaption figure footer form"
    " h1 h2 h3 h4 h5 h6 header hr li main ol p pre section summary table ul"
)
_OPTIONAL_END_TAGS = _split_names("p li dd dt td th tr")
"""Elements whose end tag may be left out."""
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_SPACES = re.compile(r"[ \t\n\f\r]+")
_BLANK_LINES = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")
_SAFE_SCHEMES = ("http://", "https://", "mailto:", "tel:")


def read_html(body: str) -> DocumentContent:
    """The visible text of a page as Markdown; its `<title>`, or first `<h1>`, and its `lang`."""
    parser = _MarkdownConverter()
    parser.feed(body)
    parser.close()
    parser.finish()
    text = _BLANK_LINES.sub("\n\n", "".join(parser.output)).strip()
    return DocumentContent(text, parser.title or parser.first_heading.strip() or None, parser.language)


class _MarkdownConverter(HTMLParser):
    """Pushes Markdown into `output` as the tags pass. Tags that are never closed do no harm."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.output: list[str] = []
        self.title = ""
        self.first_heading = ""
        self.language: str | None = None
        self._hidden_tags: list[str] = []
        self._in_title = False
        self._in_pre = False
        self._pre_text = ""
        """Text inside `<pre>` so far."""
        self._lists: list[int | None] = []
        self._heading = ""
        self._cells: list[str] | None = None
        self._row_count = 0
        self._link_url = ""

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attributes}
        if tag == "html" and values.get("lang"):
            self.language = values["lang"].split("-")[0].lower()
        self._in_title = self._in_title or (tag == "title" and not self._hidden_tags)
        if (
            self._hidden_tags
            and self._hidden_tags[-1] in _OPTIONAL_END_TAGS
            and _is_implied_end(self._hidden_tags[-1], tag)
        ):
            self._hidden_tags.pop()
        if self._hidden_tags or tag in _HIDDEN_TAGS or _is_hidden(values):
            if tag not in _VOID_TAGS:
                self._hidden_tags.append(tag)
            return
        self._open_tag(tag, values)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attributes)
        if tag not in _VOID_TAGS:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        self._in_title = self._in_title and tag != "title"
        if tag in self._hidden_tags:
            # Whatever was left open inside ends with it.
            del self._hidden_tags[len(self._hidden_tags) - 1 - self._hidden_tags[::-1].index(tag) :]
            return
        if self._hidden_tags and self._hidden_tags[0] in _OPTIONAL_END_TAGS:
            self._hidden_tags.clear()
        if not self._hidden_tags:
            self._close_tag(tag)

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title = _SPACES.sub(" ", self.title + data).strip()
        elif not self._hidden_tags:
            self._write_text(data if self._in_pre else _SPACES.sub(" ", data))

    def finish(self) -> None:
        """Closes what the page left open."""
        self._flush_code()
        self._flush_table_row()

    def _open_tag(self, tag: str, attributes: dict[str, str]) -> None:
        match tag:
            case "h1" | "h2" | "h3" | "h4" | "h5" | "h6":
                self._start_block("#" * int(tag[1]) + " ")
                self._heading = tag
            case "ul" | "ol":
                self._lists.append(1 if tag == "ol" else None)
            case "li":
                self._start_list_item()
            case "tr":
                self._flush_table_row()
            case "td" | "th":
                self._cells = [] if self._cells is None else self._cells
                self._cells.append("")
            case "table":
                self._start_block()
                self._row_count = 0
            case "pre":
                self._start_block()
                self._in_pre = True
            case "br":
                self._write_text("\n" if self._in_pre else " " if self._cells is not None else "  \n")
            case "img":
                self._write_text(attributes.get("alt", ""))
            case "a":
                address = attributes.get("href", "").strip()
                self._link_url = address if address.lower().startswith(_SAFE_SCHEMES) else ""
            case _ if tag in _BLOCK_TAGS:
                self._start_block()

    def _close_tag(self, tag: str) -> None:
        match tag:
            case "ul" | "ol":
                if self._lists:
                    self._lists.pop()
                self._start_block()
            case "tr" | "thead" | "tbody" | "tfoot":
                self._flush_table_row()
            case "table":
                self._flush_table_row()
                self._start_block()
            case "pre":
                self._flush_code()
            case "a":
                if self._link_url:
                    self._write_text(f" ({self._link_url})")
                self._link_url = ""
            case "td" | "th" | "li":
                pass
            case _ if tag in _BLOCK_TAGS:
                self._start_block()
                self._heading = "" if tag == self._heading else self._heading

    def _write_text(self, text: str) -> None:
        if self._cells:
            self._cells[-1] += text
            return
        if self._in_pre:
            self._pre_text += text
            return
        if self._heading == "h1" and not self.first_heading.endswith("\n"):
            self.first_heading += text
        at_start = not self.output or self.output[-1].endswith(("\n", " "))
        self.output.append(text.lstrip(" ") if at_start else text)

    def _start_block(self, start: str = "") -> None:
        if self._cells is not None:
            self._write_text(" ")
            return
        if self._heading == "h1" and self.first_heading:
            self.first_heading = self.first_heading.strip() + "\n"
        self.output.append("\n\n" + start)

    def _flush_code(self) -> None:
        self._in_pre = False
        lines, self._pre_text = self._pre_text.strip("\n"), ""
        if self._cells is not None:
            self._write_text(lines)
        elif lines.strip():
            fence = "`" * max(3, 1 + max(map(len, re.findall("`+", lines)), default=0))
            self.output.append(f"\n\n{fence}\n{lines}\n{fence}\n\n")

    def _start_list_item(self) -> None:
        if self._cells is not None:
            self._write_text(" ")
            return
        depth = max(len(self._lists) - 1, 0)
        number = self._lists[-1] if self._lists else None
        if self._lists and number is not None:
            self._lists[-1] = number + 1
        self.output.append("\n" + "   " * depth + ("- " if number is None else f"{number}. "))

    def _flush_table_row(self) -> None:
        cells = [_SPACES.sub(" ", cell).strip().replace("|", "\\|") for cell in self._cells or ()]
        self._cells = None
        if not cells:
            return
        self.output.append("| " + " | ".join(cells) + " |\n")
        if not self._row_count:
            self.output.append("|" + " --- |" * len(cells) + "\n")
        self._row_count += 1


def _is_implied_end(open_tag: str, tag: str) -> bool:
    """True if `tag` ends an element `open_tag` that has no end tag."""
    return (
        tag == open_tag
        or (tag in _BLOCK_TAGS and open_tag == "p")
        or (tag == "tr" and open_tag in ("td", "th"))
    )


def _is_hidden(attributes: dict[str, str]) -> bool:
    return "hidden" in attributes or bool(_HIDDEN_STYLE.search(attributes.get("style", "")))
