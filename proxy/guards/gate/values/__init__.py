"""Values: every number, date, time, address and code of a text, and whether the sources hold them."""

from proxy.guards.gate.values.pack import ValuePack
from proxy.guards.gate.values.reader import read
from proxy.guards.gate.values.rendered import rendered, unlinked
from proxy.guards.gate.values.types import Value, Values, missing

__all__ = ["Value", "ValuePack", "Values", "missing", "read", "rendered", "unlinked"]
