"""The door: from the headers and the peer of a request to its caller."""

import ipaddress
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from proxy.auth.keys import Key, Keys
from proxy.domain.errors import AuthError, ConfigError
from proxy.domain.types import Caller
from proxy.limits import address, networks
from proxy.settings import tree

WRONG = "The API key is not valid."
MISSING = "No API key was given. Send it in the header `Authorization: Bearer …`."
NOT_HERE = "This server answers on its own machine only. Set `auth.open.allow_remote` to let others in."
FORWARDED = ("x-forwarded-for", "forwarded", "x-real-ip")
"""Headers of a reverse proxy: behind one every peer looks local, so `open` does not take it for that."""


@dataclass(frozen=True, slots=True)
class Token:
    """What a valid token says of its bearer. `key_id` stands for issuer and subject, and is safe to show."""

    key_id: str
    name: str
    groups: frozenset[str]
    scopes: frozenset[str]


class Tokens(Protocol):
    """Checks tokens of an identity provider."""

    async def find(self, text: str) -> Token:
        """The token's bearer. Raises AuthError, one text whatever is wrong; StoreError without any keys."""
        ...


class Door:
    """`authenticate(headers, peer)` under `auth.mode`: headers by lower-case name, the socket's address.

    `keys` for mode `keys`, `tokens` for mode `jwt`; ConfigError if the one that is needed is missing.
    """

    def __init__(
        self,
        settings: tree.Auth,
        *,
        keys: Keys | None = None,
        tokens: Tokens | None = None,
        trusted: Iterable[str] = (),
    ):
        self._settings = settings
        self._keys = keys
        self._tokens = tokens
        self._trusted = networks(trusted)
        if settings.mode == "jwt" and tokens is None:
            raise ConfigError('auth.jwt: want issuer, audience and jwks for mode "jwt", got nothing')
        if settings.mode == "keys" and keys is None:
            raise ConfigError('auth.mode: "keys" needs a key store')

    async def authenticate(self, headers: Mapping[str, str], peer: str) -> Caller:
        """The caller with deployment groups and address. Raises AuthError; StoreError without its keys."""
        where = address(peer, headers, self._trusted)
        if self._settings.mode == "open":
            return self._anyone(headers, peer, where)
        credential = _bearer(headers)
        if self._settings.mode == "jwt" and self._tokens is not None:
            return self._token(await self._tokens.find(credential), where)
        found = await self._keys.find(credential) if self._keys is not None else None
        if found is None:
            raise AuthError(WRONG)
        return self._key(found, where)

    def groups(self, credential: Iterable[str]) -> frozenset[str]:
        """Deployment groups of a credential's groups; one that `auth.groups` does not map grants nothing."""
        table = self._settings.groups
        mapped = {group for name in credential for group in table.get(name, ())}
        return frozenset(mapped) | self._settings.public_groups

    def _anyone(self, headers: Mapping[str, str], peer: str, where: str) -> Caller:
        local = _loopback(peer) and _named_local(headers) and not any(name in headers for name in FORWARDED)
        if not local and not self._settings.open.allow_remote:
            raise AuthError(NOT_HERE, status=403, code="not_here")
        groups = self._settings.open.groups | self._settings.public_groups
        return Caller("open", "open", groups, address=where)

    def _key(self, key: Key, where: str) -> Caller:
        # Our own keys are made by this deployment's operator: without a table their groups are its own.
        plain = key.groups | self._settings.public_groups
        groups = self.groups(key.groups) if self._settings.groups else plain
        return Caller(key.id, key.name, groups, key.scopes, key.cap.month, key.cap.day, where)

    def _token(self, token: Token, where: str) -> Caller:
        return Caller(token.key_id, token.name, self.groups(token.groups), token.scopes, address=where)


def _named_local(headers: Mapping[str, str]) -> bool:
    """Whether the client meant this machine: a web page whose own name was rebound to it does not say so."""
    host = headers.get("host", "localhost").strip().lower()
    name = host[1:].partition("]")[0] if host.startswith("[") else host.rpartition(":")[0] or host
    return name in ("localhost", "localhost.") or _loopback(name)


def _bearer(headers: Mapping[str, str]) -> str:
    kind, _, credential = headers.get("authorization", "").strip().partition(" ")
    if kind.lower() != "bearer" or not credential.strip():
        raise AuthError(MISSING)
    return credential.strip()


def _loopback(peer: str) -> bool:
    try:
        return ipaddress.ip_address(peer).is_loopback
    except ValueError:
        return False
