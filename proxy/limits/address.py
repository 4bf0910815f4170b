"""The address of a client as the edge proxy saw it: a header is believed from trusted networks only."""

import ipaddress
from collections.abc import Iterable, Mapping

from proxy.domain.errors import ConfigError

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Address = ipaddress.IPv4Address | ipaddress.IPv6Address
HOPS_MAX = 32
IPV6_PREFIX = 64
"""One subscriber gets at least a /64, so its single addresses are as many as anyone likes."""


def networks(texts: Iterable[str]) -> tuple[Network, ...]:
    """Parses `limits.trusted_networks`. Raises ConfigError naming the wrong ones."""
    found, faults = [], []
    for text in texts:
        try:
            found.append(ipaddress.ip_network(text))
        except ValueError as fault:
            faults.append(f"limits.trusted_networks: want a network like 10.0.0.0/8, got {fault}")
    if faults:
        raise ConfigError(*faults)
    return tuple(found)


def address(peer: str, headers: Mapping[str, str], trusted: Iterable[Network]) -> str:
    """The nearest address that is not one of our own proxies; IPv6 as its /64.

    `X-Forwarded-For` is read from the right: each proxy appends whom it saw, so what stands left of the first
    stranger is that stranger's own claim. `peer` is the socket's address.
    """
    ours = tuple(trusted)
    here = _parse(peer)
    if here is None:
        return peer
    for text in reversed(_forwarded(headers)[-HOPS_MAX:]):
        if not _within(here, ours):
            break
        before = _parse(text)
        if before is None:
            break
        here = before
    return _shown(here)


def _forwarded(headers: Mapping[str, str]) -> list[str]:
    """All lines of the header in their order: some proxies append a line of their own."""
    lines = getattr(headers, "getlist", None)
    texts = lines("x-forwarded-for") if lines else [headers.get("x-forwarded-for", "")]
    return [part.strip() for part in ",".join(texts).split(",") if part.strip()]


def _parse(text: str) -> Address | None:
    """An address with or without port, brackets and zone."""
    bare = text.strip().strip('"')
    if bare.startswith("["):
        bare = bare[1:].partition("]")[0]
    elif bare.count(":") == 1:
        bare = bare.partition(":")[0]
    try:
        found = ipaddress.ip_address(bare.partition("%")[0])
    except ValueError:
        return None
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return mapped or found


def _within(here: Address, ours: Iterable[Network]) -> bool:
    return any(here.version == network.version and here in network for network in ours)


def _shown(here: Address) -> str:
    if isinstance(here, ipaddress.IPv4Address):
        return str(here)
    return str(ipaddress.ip_network((here, IPV6_PREFIX), strict=False))
