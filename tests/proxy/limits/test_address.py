"""limits.address: a header is believed from our own proxies only, and from the right."""

import pytest
from starlette.datastructures import Headers

from proxy.domain.errors import ConfigError
from proxy.limits import find_client_address, parse_networks

OURS = parse_networks(["10.0.0.0/8", "fd00::/8"])


@pytest.mark.parametrize(
    ("peer", "forwarded", "seen"),
    [
        ("6.6.6.6", "", "6.6.6.6"),
        ("6.6.6.6", "1.1.1.1", "6.6.6.6"),
        ("10.0.0.1", "", "10.0.0.1"),
        ("10.0.0.1", "6.6.6.6", "6.6.6.6"),
        ("10.0.0.1", "1.1.1.1, 6.6.6.6", "6.6.6.6"),
        ("10.0.0.1", "1.1.1.1, 6.6.6.6, 10.9.9.9", "6.6.6.6"),
        ("10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"),
        ("10.0.0.1", "1.1.1.1, nonsense", "10.0.0.1"),
        ("10.0.0.1", "1.1.1.1, nonsense, 10.0.0.2", "10.0.0.2"),
        ("10.0.0.1", "1.1.1.1,, 6.6.6.6:4711", "6.6.6.6"),
        ("10.0.0.1", "[2001:db8:1:2::7]:443", "2001:db8:1:2::/64"),
        ("10.0.0.1", '"[2001:db8:1:2::7]"', "2001:db8:1:2::/64"),
        ("2001:db8:1:2:3:4:5:6", "", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "", "fe80::/64"),
        ("fd00::1", "6.6.6.6", "6.6.6.6"),
        ("::ffff:10.0.0.1", "::ffff:6.6.6.6", "6.6.6.6"),
        ("unix:", "6.6.6.6", "unix:"),
        ("", "6.6.6.6", ""),
    ],
)
def test_the_address_is_the_nearest_stranger(peer: str, forwarded: str, seen: str) -> None:
    assert find_client_address(peer, {"x-forwarded-for": forwarded}, OURS) == seen


def test_a_proxy_that_adds_a_line_of_its_own_is_read_last() -> None:
    headers = Headers(raw=[(b"x-forwarded-for", b"1.1.1.1"), (b"x-forwarded-for", b"6.6.6.6")])
    assert find_client_address("10.0.0.1", headers, OURS) == "6.6.6.6"


def test_a_very_long_header_is_not_walked_to_its_end() -> None:
    forwarded = ", ".join(["1.1.1.1"] + ["10.0.0.2"] * 100_000)
    assert find_client_address("10.0.0.1", {"x-forwarded-for": forwarded}, OURS) == "10.0.0.2"


def test_a_wrong_network_is_a_configuration_error_that_names_each() -> None:
    with pytest.raises(ConfigError) as caught:
        parse_networks(["10.0.0.0/8", "10.0.0.1/8", "proxy"])
    assert len(caught.value.faults) == 2
