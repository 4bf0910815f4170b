"""How often one address and one key may ask: windows that refill continuously. Fails open, and says so."""

from proxy.limits.address import find_client_address, parse_networks
from proxy.limits.memory import MemoryLimitStore
from proxy.limits.rules import LimitRule, LimitStore, RateLimits
from proxy.limits.sqlite import SqliteLimitStore

__all__ = [
    "LimitRule",
    "LimitStore",
    "MemoryLimitStore",
    "RateLimits",
    "SqliteLimitStore",
    "find_client_address",
    "parse_networks",
]
