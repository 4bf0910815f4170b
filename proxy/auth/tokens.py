"""Tokens of an identity provider (JWT, RFC 7519) checked against its published keys."""

import hashlib
import time
from collections.abc import Callable, Mapping

import jwt

from proxy.auth.authenticator import TokenBearer
from proxy.auth.jwks import PublicKeySet
from proxy.domain.errors import AuthError, ConfigError
from proxy.settings import tree

INVALID_TOKEN_TEXT = "The token is not valid."
TOKEN_CHARS_MAX = 16_384
NAME_CHARS_MAX = 64
ASYMMETRIC_PREFIXES = ("RS", "PS", "ES", "EdDSA", "Ed25519", "Ed448")


class JwtTokenChecker:
    """Checks signature, issuer, audience, times and subject, under the algorithms named and no others.

    ConfigError for an algorithm with a shared secret or none: a public key would then do to sign with.
    """

    def __init__(self, settings: tree.JwtAuthSettings, *, clock: Callable[[], float] = time.monotonic):
        weak = [name for name in settings.algorithms if not name.startswith(ASYMMETRIC_PREFIXES)]
        if weak or not settings.algorithms:
            raise ConfigError(f"auth.jwt.algorithms: want signatures such as RS256, got {weak}")
        self._settings = settings
        self._key_set = PublicKeySet(settings.jwks, cache_s=settings.cache_s, clock=clock)

    async def check_token(self, token: str) -> TokenBearer:
        """The token's bearer. Raises AuthError, one text whatever is wrong; StoreError without any keys."""
        key = await self._key_set.find_public_key(_read_key_name(token))
        if key is None:
            raise AuthError(INVALID_TOKEN_TEXT, detail="no key of that name")
        claims = self._decode_claims(token, key)
        return TokenBearer(
            _hash_subject(claims),
            _strip_unprintable(str(claims["sub"])),
            _split_claim(_find_claim(claims, self._settings.groups_claim)),
            _split_claim(_find_claim(claims, self._settings.scopes_claim)),
        )

    def _decode_claims(self, token: str, key: jwt.PyJWK) -> Mapping[str, object]:
        settings = self._settings
        try:
            claims: Mapping[str, object] = jwt.decode(
                token,
                key,
                algorithms=list(settings.algorithms),
                audience=settings.audience,
                issuer=settings.issuer,
                leeway=settings.leeway_s,
                options={"require": ["exp", "iss", "aud", "sub"]},
            )
        except jwt.PyJWTError as fault:
            raise AuthError(INVALID_TOKEN_TEXT, detail=type(fault).__name__) from fault
        return claims


def _read_key_name(token: str) -> str | None:
    """The `kid` of the header, which proves nothing yet. Raises AuthError."""
    if len(token) > TOKEN_CHARS_MAX:
        raise AuthError(INVALID_TOKEN_TEXT, detail="too long")
    try:
        name = jwt.get_unverified_header(token).get("kid")
    except jwt.PyJWTError as fault:
        raise AuthError(INVALID_TOKEN_TEXT, detail=type(fault).__name__) from fault
    return name if isinstance(name, str) else None


def _hash_subject(claims: Mapping[str, object]) -> str:
    """One account a subject of an issuer; a digest, since subjects may be long or personal."""
    return "jwt-" + hashlib.sha256(f"{claims['iss']}\n{claims['sub']}".encode()).hexdigest()[:16]


def _strip_unprintable(name: str) -> str:
    """At most `NAME_CHARS_MAX` characters, none that would break a line or a terminal."""
    return "".join(letter for letter in name if letter.isprintable())[:NAME_CHARS_MAX]


def _find_claim(claims: Mapping[str, object], path: str) -> object:
    """A claim by its name, or by a dotted path such as `realm_access.roles`."""
    if path in claims:
        return claims[path]
    value: object = claims
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _split_claim(value: object) -> frozenset[str]:
    """A claim with several values: a list of texts, or one text with spaces (RFC 8693 `scope`)."""
    if isinstance(value, str):
        return frozenset(value.split())
    return (
        frozenset(item for item in value if isinstance(item, str)) if isinstance(value, list) else frozenset()
    )
