"""Placeholders of texts and prompt templates: `{name}` in curly brackets."""

from collections.abc import Mapping


def fill_placeholders(text: str, values: Mapping[str, str]) -> str:
    """`text` with every `{name}` of `values` filled; all other brackets stay.

    Not `str.format`: an operator's own template may hold brackets that mean nothing to us.
    """
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", value)
    return text
