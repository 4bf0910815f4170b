"""The public keys of an identity provider (JWKS, RFC 7517), from a file or an address, kept for a while."""

import asyncio
import json
import logging
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import jwt

from proxy.domain.errors import ConfigError, StoreError

log = logging.getLogger("fiador.auth")
FETCH_S = 5
"""Longest that a whole answer may take: those with keys that are old or unknown wait for it."""
JWKS_BYTES_MAX = 1_000_000
REFETCH_MIN_S = 10
"""Shortest time between two fetches: made-up key names must not become requests to the provider."""
STALE_MAX_S = 3_600
"""Longest that the last good keys serve while the provider does not answer."""
LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")


class PublicKeySet:
    """Keys by name, fetched when the kept ones are older than `cache_s` or lack the one that is asked for.

    `location`: a path, or an address. Raises ConfigError for one without https that is not local.
    """

    def __init__(self, location: str, *, cache_s: float, clock: Callable[[], float] = time.monotonic):
        self._url = _parse_jwks_url(location)
        self._path = Path(location)
        self._cache_s = cache_s
        self._clock = clock
        self._keys: dict[str | None, jwt.PyJWK] = {}
        self._last_success_s = self._last_try_s = float("-inf")
        self._fetch_task: asyncio.Task[None] | None = None

    async def find_public_key(self, name: str | None) -> jwt.PyJWK | None:
        """The key called `name`; without a name the only one. Raises StoreError if none can be had.

        A key that is at hand and not old is given at once, however slow the provider is with others.
        """
        if self._compute_age_s() > self._cache_s or self._pick_key(name) is None:
            await self._fetch_once()
        if self._compute_age_s() > self._cache_s + STALE_MAX_S:
            raise StoreError("The identity provider's keys cannot be had.")
        return self._pick_key(name)

    def _compute_age_s(self) -> float:
        return self._clock() - self._last_success_s

    async def _fetch_once(self) -> None:
        """One fetch for all who wait; it goes on when whoever began it leaves, or leaving would stop all."""
        if self._fetch_task is None or self._fetch_task.done():
            if self._clock() - self._last_try_s <= REFETCH_MIN_S:
                return
            self._fetch_task = asyncio.create_task(self._refresh_keys())
        await asyncio.shield(self._fetch_task)

    def _pick_key(self, name: str | None) -> jwt.PyJWK | None:
        if name is None and len(self._keys) == 1:
            return next(iter(self._keys.values()))
        return self._keys.get(name)

    async def _refresh_keys(self) -> None:
        self._last_try_s = self._clock()
        try:
            self._keys = _parse_jwks(await self._read_jwks())
            self._last_success_s = self._last_try_s
        except (httpx.HTTPError, OSError, ValueError) as fault:  # a TimeoutError is an OSError
            log.error("the identity provider's keys cannot be read: %s: %s", type(fault).__name__, fault)

    async def _read_jwks(self) -> bytes:
        if not self._url:
            return await asyncio.to_thread(self._path.read_bytes)
        body = bytearray()
        async with (
            asyncio.timeout(FETCH_S),
            httpx.AsyncClient(timeout=FETCH_S, follow_redirects=False) as client,
            client.stream("GET", self._url) as answer,
        ):
            answer.raise_for_status()
            async for piece in answer.aiter_bytes():
                body += piece
                if len(body) > JWKS_BYTES_MAX:
                    raise ValueError(f"larger than {JWKS_BYTES_MAX} bytes")
        return bytes(body)


def _parse_jwks_url(location: str) -> str:
    """The address; "" for a file. Who can change keys on their way can sign anything, so only https."""
    parts = urlsplit(location)
    if parts.scheme == "http" and parts.hostname not in LOCAL_HOSTS:
        raise ConfigError(f"auth.jwt.jwks: want https, got {location}")
    return location if parts.scheme in ("http", "https") else ""


def _parse_jwks(body: bytes) -> dict[str | None, jwt.PyJWK]:
    """Public signing keys by name, those that we cannot use left out. Raises ValueError if none is."""
    document = json.loads(body)
    entries = document.get("keys", []) if isinstance(document, dict) else []
    keys = {key.key_id: key for entry in entries if (key := _parse_jwks_key(entry)) is not None}
    if not keys:
        raise ValueError("no usable key in the set")
    return keys


def _parse_jwks_key(entry: object) -> jwt.PyJWK | None:
    """None for an entry that is no public key to check signatures with: it must not cost the others."""
    if not isinstance(entry, dict) or entry.get("kty") == "oct" or entry.get("use", "sig") != "sig":
        return None
    try:
        return jwt.PyJWK(entry) if isinstance(entry.get("kid", ""), str) else None
    except (jwt.PyJWTError, ValueError, TypeError):
        return None
