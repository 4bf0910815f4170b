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

from proxy.errors import ConfigError, StoreError

log = logging.getLogger("fiador.auth")
FETCH_S = 5
BYTES_MAX = 1_000_000
AGAIN_S = 10
"""Shortest time between two fetches: made-up key names must not become requests to the provider."""
STALE_S = 3_600
"""Longest that the last good keys serve while the provider does not answer."""
LOCAL = ("localhost", "127.0.0.1", "::1")


class KeySet:
    """`find(name)`: the key of that name, fetched when the kept ones are older than `cache_s` or lack it."""

    def __init__(self, place: str, *, cache_s: float, clock: Callable[[], float] = time.monotonic):
        self._url = _url(place)
        self._path = Path(place)
        self._cache_s = cache_s
        self._clock = clock
        self._keys: dict[str | None, jwt.PyJWK] = {}
        self._good = self._tried = float("-inf")
        self._lock = asyncio.Lock()

    async def find(self, name: str | None) -> jwt.PyJWK | None:
        """The key called `name`; without a name the only one. Raises StoreError if none can be had."""
        async with self._lock:
            age, idle = self._clock() - self._good, self._clock() - self._tried
            if (age > self._cache_s or self._pick(name) is None) and idle > AGAIN_S:
                await self._refresh()
            if self._clock() - self._good > self._cache_s + STALE_S:
                raise StoreError("The identity provider's keys cannot be had.")
            return self._pick(name)

    def _pick(self, name: str | None) -> jwt.PyJWK | None:
        if name is None and len(self._keys) == 1:
            return next(iter(self._keys.values()))
        return self._keys.get(name)

    async def _refresh(self) -> None:
        self._tried = self._clock()
        try:
            self._keys = _parse(await self._read())
            self._good = self._tried
        except (httpx.HTTPError, OSError, ValueError) as fault:
            log.error("the identity provider's keys cannot be read: %s", fault)

    async def _read(self) -> bytes:
        if not self._url:
            return await asyncio.to_thread(self._path.read_bytes)
        async with httpx.AsyncClient(timeout=FETCH_S, follow_redirects=False) as client:
            answer = await client.get(self._url)
        answer.raise_for_status()
        if len(answer.content) > BYTES_MAX:
            raise ValueError("too large")
        return answer.content


def _url(place: str) -> str:
    """The address; "" for a file. Who can change keys on their way can sign anything, so only https."""
    parts = urlsplit(place)
    if parts.scheme == "http" and parts.hostname not in LOCAL:
        raise ConfigError(f"auth.jwt.jwks: want https, got {place}")
    return place if parts.scheme in ("http", "https") else ""


def _parse(text: bytes) -> dict[str | None, jwt.PyJWK]:
    """Public signing keys by name, those that we cannot use left out. Raises ValueError if none is."""
    document = json.loads(text)
    entries = document.get("keys", []) if isinstance(document, dict) else []
    found = {
        entry.get("kid"): key
        for entry in entries
        if isinstance(entry, dict) and (key := _key(entry)) is not None
    }
    if not found:
        raise ValueError("no usable key in the set")
    return found


def _key(entry: dict[str, object]) -> jwt.PyJWK | None:
    if entry.get("kty") == "oct" or entry.get("use", "sig") != "sig":
        return None
    try:
        return jwt.PyJWK(entry)
    except jwt.PyJWTError:
        return None
