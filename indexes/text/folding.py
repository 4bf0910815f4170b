"""Text made comparable: one folded form for patterns, values, coverage and voice. Pure and idempotent.

It is never mixed with what is released, nor with `words.tokenize_for_index`, which is for the keyword index
alone.
"""

import unicodedata

import regex

# Width and presentation forms: the only blocks where NFKC is wanted. Elsewhere it would turn 10² into 102.
_NFKC_BLOCKS = (
    range(0xFF01, 0xFF5F),
    range(0xFB00, 0xFB07),
    range(0xFB50, 0xFDFE),
    range(0xFE70, 0xFEFD),
    range(0x1D400, 0x1D800),
)
_HARAKAT = (
    *range(0x0610, 0x061B),
    *range(0x064B, 0x0653),
    *range(0x0656, 0x0660),
    *range(0x06D6, 0x06DD),
    *range(0x06DF, 0x06E5),
    *(0x0640, 0x0670, 0x06E7, 0x06E8),
    *range(0x06EA, 0x06EE),
    *range(0x08D3, 0x08E2),
    *range(0x08E3, 0x0900),
)
_INVISIBLE = (
    *(0x034F, 0x115F, 0x1160, 0x3164, 0xFFA0, 0x180F),
    *range(0x180B, 0x180E),
    *range(0xFE00, 0xFE10),
    *range(0xE0000, 0xE0200),
)
# What may compose with a letter is taken off only after composing: أ إ آ ؤ ئ stay, هٔ becomes ه.
_LETTERS = str.maketrans(
    {"ي": "ی", "ى": "ی", "ك": "ک", "ۀ": "ه", "ە": "ه", "\u0653": None, "\u0654": None, "\u0655": None}
    | dict.fromkeys("’‘ʼ‛`´", "'")
)
_ZWNJ = regex.compile(r"(?<=[\p{Arabic}\p{M}])\u200c+(?=\p{Arabic})")
_YO = regex.compile(r"ё\p{M}*|е\p{M}+")


def _build_character_table() -> dict[int, str | None]:
    """Format characters, harakat and fillers off; digits to ASCII; width and presentation forms by NFKC."""
    table: dict[int, str | None] = dict.fromkeys((*_INVISIBLE, *_HARAKAT))
    for code in range(0x20000):
        char = chr(code)
        match unicodedata.category(char):
            case "Cf":
                table[code] = None
            case "Nd" if code > 0x7F:
                table[code] = str(unicodedata.digit(char))
    for block in _NFKC_BLOCKS:
        for code in block:
            table.setdefault(code, unicodedata.normalize("NFKC", chr(code)).translate(table))
    return table


_CHARACTER_TABLE = _build_character_table()


def fold_text(text: str) -> str:
    """The matching form of `text`: idempotent, accents and vowel signs kept, white space made single.

    Composed; ZWNJ between Arabic letters → space, other unseen characters off; width and presentation
    forms plain; digits ASCII; harakat and tatweel off; ي ى → ی, ك → ک, ۀ → ه; ’ → '; ё → е; lower case.
    """
    if text.isascii():
        return " ".join(text.lower().replace("`", "'").split())
    text = _ZWNJ.sub(" ", unicodedata.normalize("NFC", text)).translate(_CHARACTER_TABLE).lower()
    text = unicodedata.normalize("NFC", text).translate(_LETTERS)
    text = unicodedata.normalize("NFC", _YO.sub(_replace_yo, text))
    return " ".join(text.split())


def _replace_yo(match: regex.Match[str]) -> str:
    return unicodedata.normalize("NFC", match[0].replace("ё", "е").replace("\u0308", ""))
