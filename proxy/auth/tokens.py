"""Tokens of an identity provider (JWT, RFC 7519) checked against its published keys."""

import hashlib
import time
from collections.abc import Callable, Mapping

import jwt

from proxy.auth.authenticator import Token
from proxy.auth.jwks import KeySet
from proxy.domain.errors import AuthError, ConfigError
from proxy.settings import tree

WRONG = "The token is not valid."
TOKEN_CHARS_MAX = 16_384
NAME_CHARS_MAX = 64
ASYMMETRIC = ("RS", "PS", "ES", "EdDSA", "Ed25519", "Ed448")


class JwtTokens:
    """Checks signature, issuer, audience, times and subject, under the algorithms named and no others.

    ConfigError for an algorithm with a shared secret or none: a public key would then do to sign with.
    """

    def __init__(self, settings: tree.JwtAuth, *, clock: Callable[[], float] = time.monotonic):
        weak = [name for name in settings.algorithms if not name.startswith(ASYMMETRIC)]
        if weak or not settings.algorithms:
            raise ConfigError(f"auth.jwt.algorithms: want signatures such as RS256, got {weak}")
        self._settings = settings
        self._keys = KeySet(settings.jwks, cache_s=settings.cache_s, clock=clock)

    async def find(self, text: str) -> Token:
        """The token's bearer. Raises AuthError, one text whatever is wrong; StoreError without any keys."""
        key = await self._keys.find(_key_name(text))
        if key is None:
            raise AuthError(WRONG, detail="no key of that name")
        claims = self._claims(text, key)
        return Token(
            _identity(claims),
            _plain(str(claims["sub"])),
            _words(_at(claims, self._settings.groups_claim)),
            _words(_at(claims, self._settings.scopes_claim)),
        )

    def _claims(self, text: str, key: jwt.PyJWK) -> Mapping[str, object]:
        settings = self._settings
        try:
            claims: Mapping[str, object] = jwt.decode(
                text,
                key,
                algorithms=list(settings.algorithms),
                audience=settings.audience,
                issuer=settings.issuer,
                leeway=settings.leeway_s,
                options={"require": ["exp", "iss", "aud", "sub"]},
            )
        except jwt.PyJWTError as fault:
            raise AuthError(WRONG, detail=type(fault).__name__) from fault
        return claims


def _key_name(text: str) -> str | None:
    """The `kid` of the header, which proves nothing yet."""
    if len(text) > TOKEN_CHARS_MAX:
        raise AuthError(WRONG, detail="too long")
    try:
        name = jwt.get_unverified_header(text).get("kid")
    except jwt.PyJWTError as fault:
        raise AuthError(WRONG, detail=type(fault).__name__) from fault
    return name if isinstance(name, str) else None


def _identity(claims: Mapping[str, object]) -> str:
    """One account a subject of an issuer; a digest, since subjects may be long or personal."""
    return "jwt-" + hashlib.sha256(f"{claims['iss']}\n{claims['sub']}".encode()).hexdigest()[:16]


def _plain(name: str) -> str:
    return "".join(letter for letter in name if letter.isprintable())[:NAME_CHARS_MAX]


def _at(claims: Mapping[str, object], path: str) -> object:
    """A claim by its name, or by a dotted path such as `realm_access.roles`."""
    if path in claims:
        return claims[path]
    found: object = claims
    for name in path.split("."):
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def _words(value: object) -> frozenset[str]:
    """A claim with several values: a list of texts, or one text with spaces (RFC 8693 `scope`)."""
    if isinstance(value, str):
        return frozenset(value.split())
    return (
        frozenset(item for item in value if isinstance(item, str)) if isinstance(value, list) else frozenset()
    )
