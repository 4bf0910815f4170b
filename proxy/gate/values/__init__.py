"""Values: every number, date, time, address and code of a text, and whether the sources hold them."""

from proxy.gate.values.pack import ValuePack
from proxy.gate.values.reader import read_values
from proxy.gate.values.rendered import render_text, unwrap_links
from proxy.gate.values.types import TextValues, Value, find_missing_value

__all__ = [
    "TextValues",
    "Value",
    "ValuePack",
    "find_missing_value",
    "read_values",
    "render_text",
    "unwrap_links",
]
