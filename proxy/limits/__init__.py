"""How often one address and one key may ask: windows that refill continuously. Fails open, and says so."""

from proxy.limits.address import address, networks
from proxy.limits.memory import MemoryStore
from proxy.limits.rules import Limits, Rule, Store
from proxy.limits.sqlite import SqliteStore

__all__ = ["Limits", "MemoryStore", "Rule", "SqliteStore", "Store", "address", "networks"]
