"""Values: every number, date, time, address and code of a text, and whether the sources hold them."""

from proxy.gate.values.pack import ValuePack
from proxy.gate.values.reader import read
from proxy.gate.values.rendered import rendered, unlinked
from proxy.gate.values.types import Value, Values, missing

__all__ = ["Value", "ValuePack", "Values", "missing", "read", "rendered", "unlinked"]
