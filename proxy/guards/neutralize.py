"""Takes the sting out of what others wrote: markers and tags in history and sources, our own texts in it."""

from collections.abc import Collection

import regex

# A bracketed number in any script and width, with unseen characters anywhere inside.
_GAP = r"[\s\p{Cf}\p{Mn}\p{Cc}]*"
_OPEN, _CLOSE = r"[\[［【〔⟦❲﹝〚]", r"[\]］】〕⟧❳﹞〛]"
_NUMBERS = rf"\^?{_GAP}[\p{{N}}](?:{_GAP}[\p{{N}}])*"
_MARKER = regex.compile(rf"{_OPEN}{_GAP}({_NUMBERS}(?:{_GAP}[,،、;–—-]{_GAP}{_NUMBERS})*){_GAP}{_CLOSE}")
_TAG = regex.compile(
    rf"[<＜‹﹤]({_GAP}[/／]?{_GAP}(?:sources?|question|reminder)(?![\p{{L}}]))", regex.IGNORECASE
)
_LINKS = r"(?:- [^\n]+(?:\n|$))+"


def neutralize(text: str) -> str:
    """`text` with bracketed numbers in round brackets and our own tags unmade; all else as it came."""
    return _TAG.sub(r"‹\1", _MARKER.sub(_round_brackets, text))


def _round_brackets(marker: regex.Match[str]) -> str:
    return "(" + regex.sub(r"[\s\p{Cf}\p{Mn}\p{Cc}]+", "", marker[1]) + ")"


def strip_fixed_texts(text: str, fixed_texts: Collection[str]) -> str:
    """`text` (an earlier assistant turn) without our `fixed_texts`, by their exact form.

    In a fixed text `{sources}` stands for the rest of its line, `{links}` for the lines of a list of links.
    """
    # The longest first: a short text may stand inside a longer one, and the rest of that would stay.
    for form in sorted(filter(None, fixed_texts), key=len, reverse=True):
        text = _compile_text_form(form).sub("", text) if "{" in form else text.replace(form, "")
    return text.strip("\n ") if text.strip() else ""


def _compile_text_form(form: str) -> regex.Pattern[str]:
    exact = regex.escape(form, special_only=True)
    return regex.compile(exact.replace(r"\{sources\}", r"[^\n]*").replace(r"\{links\}", _LINKS))
