"""The address of a client as the edge proxy saw it: a header is believed from trusted networks only."""

import ipaddress
from collections.abc import Iterable, Mapping

from proxy.domain.errors import ConfigError

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Address = ipaddress.IPv4Address | ipaddress.IPv6Address
HOPS_MAX = 32
"""Entries of the forwarding header that are looked at, the nearest ones."""
IPV6_PREFIX = 64
"""One subscriber gets at least a /64, so its single addresses are as many as anyone likes."""


def parse_networks(texts: Iterable[str]) -> tuple[Network, ...]:
    """Parses `limits.trusted_networks`. Raises ConfigError naming the wrong ones."""
    networks, faults = [], []
    for text in texts:
        try:
            networks.append(ipaddress.ip_network(text))
        except ValueError as fault:
            faults.append(f"limits.trusted_networks: want a network like 10.0.0.0/8, got {fault}")
    if faults:
        raise ConfigError(*faults)
    return tuple(networks)


def find_client_address(peer: str, headers: Mapping[str, str], trusted_networks: Iterable[Network]) -> str:
    """The nearest address that is not one of our own proxies; IPv6 as its /64.

    `X-Forwarded-For` is read from the right: each proxy appends whom it saw, so what stands left of the first
    stranger is that stranger's own claim. `peer` is the socket's address.
    """
    own_networks = tuple(trusted_networks)
    nearest = _parse_address(peer)
    if nearest is None:
        return peer
    for text in reversed(_split_forwarded_header(headers)[-HOPS_MAX:]):
        if not _is_within_networks(nearest, own_networks):
            break
        previous = _parse_address(text)
        if previous is None:
            break
        nearest = previous
    return _format_address(nearest)


def _split_forwarded_header(headers: Mapping[str, str]) -> list[str]:
    """All lines of the header in their order: some proxies append a line of their own."""
    get_lines = getattr(headers, "getlist", None)
    lines = get_lines("x-forwarded-for") if get_lines else [headers.get("x-forwarded-for", "")]
    return [part.strip() for part in ",".join(lines).split(",") if part.strip()]


def _parse_address(text: str) -> Address | None:
    """An address with or without port, brackets and zone."""
    bare = text.strip().strip('"')
    if bare.startswith("["):
        bare = bare[1:].partition("]")[0]
    elif bare.count(":") == 1:
        bare = bare.partition(":")[0]
    try:
        address = ipaddress.ip_address(bare.partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def _is_within_networks(address: Address, networks: Iterable[Network]) -> bool:
    return any(address.version == network.version and address in network for network in networks)


def _format_address(address: Address) -> str:
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    return str(ipaddress.ip_network((address, IPV6_PREFIX), strict=False))
