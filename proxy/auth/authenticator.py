"""From the headers and the peer of a request to its caller."""

import ipaddress
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from proxy.auth.keys import ApiKey, KeyStore
from proxy.domain.errors import AuthError, ConfigError
from proxy.domain.types import Caller
from proxy.limits import find_client_address, parse_networks
from proxy.settings import tree

INVALID_KEY_TEXT = "The API key is not valid."
MISSING_KEY_TEXT = "No API key was given. Send it in the header `Authorization: Bearer …`."
REMOTE_CALLER_TEXT = (
    "This server answers on its own machine only. Set `auth.open.allow_remote` to let others in."
)
FORWARDED_HEADERS = ("x-forwarded-for", "forwarded", "x-real-ip")
"""Headers of a reverse proxy: behind one every peer looks local, so `open` does not take it for that."""


@dataclass(frozen=True, slots=True)
class TokenBearer:
    """What a valid token says of its bearer. `key_id` stands for issuer and subject, and is safe to show."""

    key_id: str
    name: str
    groups: frozenset[str]
    scopes: frozenset[str]


class TokenChecker(Protocol):
    """Checks tokens of an identity provider."""

    async def check_token(self, token: str) -> TokenBearer:
        """The token's bearer. Raises AuthError, one text whatever is wrong; StoreError without any keys."""
        ...


class CallerAuthenticator:
    """`authenticate(headers, peer)` under `auth.mode`: headers by lower-case name, the socket's address.

    `keys` for mode `keys`, `token_checker` for mode `jwt`; ConfigError if the one that is needed is missing.
    `trusted_networks`: the deployment's own proxies, whose word on the client's address is believed.
    """

    def __init__(
        self,
        settings: tree.AuthSettings,
        *,
        keys: KeyStore | None = None,
        token_checker: TokenChecker | None = None,
        trusted_networks: Iterable[str] = (),
    ):
        self._settings = settings
        self._keys = keys
        self._token_checker = token_checker
        self._trusted_networks = parse_networks(trusted_networks)
        if settings.mode == "jwt" and token_checker is None:
            raise ConfigError('auth.jwt: want issuer, audience and jwks for mode "jwt", got nothing')
        if settings.mode == "keys" and keys is None:
            raise ConfigError('auth.mode: "keys" needs a key store')

    async def authenticate(self, headers: Mapping[str, str], peer: str) -> Caller:
        """The caller with deployment groups and address. Raises AuthError; StoreError without its keys."""
        address = find_client_address(peer, headers, self._trusted_networks)
        if self._settings.mode == "open":
            return self._build_open_caller(headers, peer, address)
        credential = _parse_bearer_header(headers)
        if self._settings.mode == "jwt" and self._token_checker is not None:
            return self._build_token_caller(await self._token_checker.check_token(credential), address)
        key = await self._keys.find_live_key(credential) if self._keys is not None else None
        if key is None:
            raise AuthError(INVALID_KEY_TEXT)
        return self._build_key_caller(key, address)

    def map_groups(self, credential_groups: Iterable[str]) -> frozenset[str]:
        """Deployment groups of a credential's groups; one that `auth.groups` does not map grants nothing."""
        table = self._settings.groups
        mapped = {group for name in credential_groups for group in table.get(name, ())}
        return frozenset(mapped) | self._settings.public_groups

    def _build_open_caller(self, headers: Mapping[str, str], peer: str, address: str) -> Caller:
        is_local = (
            _is_loopback(peer)
            and _is_host_local(headers)
            and not any(name in headers for name in FORWARDED_HEADERS)
        )
        if not is_local and not self._settings.open.allow_remote:
            raise AuthError(REMOTE_CALLER_TEXT, status=403, code="not_here")
        groups = self._settings.open.groups | self._settings.public_groups
        return Caller("open", "open", groups, address=address)

    def _build_key_caller(self, key: ApiKey, address: str) -> Caller:
        # Our own keys are made by this deployment's operator: without a table their groups are its own.
        own_groups = key.groups | self._settings.public_groups
        groups = self.map_groups(key.groups) if self._settings.groups else own_groups
        return Caller(
            key.id, key.name, groups, key.scopes, key.cap.month_nanousd, key.cap.day_nanousd, address
        )

    def _build_token_caller(self, bearer: TokenBearer, address: str) -> Caller:
        return Caller(
            bearer.key_id, bearer.name, self.map_groups(bearer.groups), bearer.scopes, address=address
        )


def _is_host_local(headers: Mapping[str, str]) -> bool:
    """Whether the client meant this machine: a web page whose own name was rebound to it does not say so."""
    host = headers.get("host", "localhost").strip().lower()
    name = host[1:].partition("]")[0] if host.startswith("[") else host.rpartition(":")[0] or host
    return name in ("localhost", "localhost.") or _is_loopback(name)


def _parse_bearer_header(headers: Mapping[str, str]) -> str:
    kind, _, credential = headers.get("authorization", "").strip().partition(" ")
    if kind.lower() != "bearer" or not credential.strip():
        raise AuthError(MISSING_KEY_TEXT)
    return credential.strip()


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False
