"""API keys in one SQLite file: shown once, kept as a hash, read at every request, so revoked at once."""

import contextlib
import hashlib
import hmac
import json
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from indexes.storage.database import Database
from proxy.domain.errors import StoreError
from proxy.ledger.periods import SpendCap

T = TypeVar("T")
KEY_PREFIX = "fiador"
NO_CAP = SpendCap()
SCHEMA = """
CREATE TABLE IF NOT EXISTS keys (
  id        TEXT PRIMARY KEY,
  hash      BLOB NOT NULL,
  name      TEXT NOT NULL,
  groups    TEXT NOT NULL,
  scopes    TEXT NOT NULL,
  cap_month INTEGER,
  cap_day   INTEGER,
  created   REAL NOT NULL,
  expires   REAL,
  revoked   REAL
) STRICT
"""


@dataclass(frozen=True, slots=True)
class ApiKey:
    """What is known of a key; never the key itself. Caps in nano-dollars, moments in Unix seconds."""

    id: str
    name: str
    groups: frozenset[str]
    scopes: frozenset[str]
    cap: SpendCap
    created: float
    expires: float | None
    revoked: float | None

    def is_valid(self, now: float) -> bool:
        """Neither revoked nor expired."""
        return self.revoked is None and (self.expires is None or now < self.expires)


@dataclass(frozen=True, slots=True)
class IssuedKey:
    """A new key, and the credential with it: the text that the client sends, shown this once."""

    credential: str
    key: ApiKey


class KeyStore:
    """`async with KeyStore(path)`. Every method raises StoreError if the file cannot be used."""

    def __init__(self, path: Path, *, busy_s: float = 2, clock: Callable[[], float] = time.time):
        self.path = path
        self._clock = clock
        self._database = Database(path, schema=SCHEMA, busy_s=busy_s)
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        try:
            if self.path.exists():  # before SQLite makes files of its own, which take over its rights
                self.path.chmod(0o600)
            await self._stack.enter_async_context(self._database)
        except (sqlite3.Error, OSError) as fault:
            raise StoreError("The key store cannot be opened.", detail=f"{self.path}: {fault}") from fault
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.aclose()

    async def create_key(
        self,
        name: str,
        *,
        groups: Iterable[str] = (),
        scopes: Iterable[str] = (),
        cap: SpendCap = NO_CAP,
        expires: float | None = None,
    ) -> IssuedKey:
        """A new key of 256 random bits. `expires` in Unix seconds; None: never."""
        key_id, secret = secrets.token_hex(4), secrets.token_urlsafe(32)
        key = ApiKey(key_id, name, frozenset(groups), frozenset(scopes), cap, self._clock(), expires, None)
        await self._run_transaction(lambda connection: _insert_key(connection, key, _hash_secret(secret)))
        return IssuedKey(f"{KEY_PREFIX}_{key_id}_{secret}", key)

    async def list_keys(self) -> list[ApiKey]:
        """Every key, oldest first, revoked ones too."""
        return await self._run_read(
            lambda connection: [
                _read_key_row(row)
                for row in connection.execute(f"{_SELECT} ORDER BY created, rowid").fetchall()
            ]
        )

    async def revoke_key(self, key_id: str) -> bool:
        """Ends the key with this id from the next request on. False: there is no such live key."""
        statement = "UPDATE keys SET revoked = ? WHERE id = ? AND revoked IS NULL"
        now = self._clock()
        return await self._run_transaction(lambda c: c.execute(statement, (now, key_id)).rowcount > 0)

    async def find_live_key(self, credential: str) -> ApiKey | None:
        """The live key that `credential` is. Unknown, wrong, expired, revoked: the same path and time."""
        key_id, secret = _split_credential(credential)
        row = await self._run_read(lambda c: c.execute(f"{_SELECT} WHERE id = ?", (key_id,)).fetchone())
        stored_hash = bytes(row[1]) if row else _UNKNOWN_HASH
        is_same = hmac.compare_digest(stored_hash, _hash_secret(secret))
        key = _read_key_row(row) if row else None
        return key if key is not None and is_same and key.is_valid(self._clock()) else None

    async def _run_read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with self._translate_store_errors():
            return await self._database.run_read(work)

    async def _run_transaction(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with self._translate_store_errors():
            return await self._database.run_transaction(work)

    @contextlib.contextmanager
    def _translate_store_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as fault:
            raise StoreError("The key store does not answer.", detail=f"{self.path}: {fault}") from fault


_SELECT = "SELECT id, hash, name, groups, scopes, cap_month, cap_day, created, expires, revoked FROM keys"


def _hash_secret(secret: str) -> bytes:
    """SHA-256 is enough: the secret is 256 random bits, so there is nothing to guess slowly."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


_UNKNOWN_HASH = _hash_secret("")
"""What an unknown id is compared with, so that it takes the time of a known one."""


def _split_credential(credential: str) -> tuple[str, str]:
    """Id and secret; text that is no key of ours has the id "", which no key has."""
    prefix, _, rest = credential.partition("_")
    key_id, _, secret = rest.partition("_")
    return (key_id, secret) if prefix == KEY_PREFIX and secret else ("", credential)


def _insert_key(connection: sqlite3.Connection, key: ApiKey, digest: bytes) -> None:
    lists = (json.dumps(sorted(key.groups)), json.dumps(sorted(key.scopes)))
    connection.execute(
        "INSERT INTO keys VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)",
        (
            key.id,
            digest,
            key.name,
            *lists,
            key.cap.month_nanousd,
            key.cap.day_nanousd,
            key.created,
            key.expires,
        ),
    )


def _read_key_row(row: tuple[object, ...]) -> ApiKey:
    key_id, _, name, groups, scopes, month, day, created, expires, revoked = row
    return ApiKey(
        str(key_id),
        str(name),
        frozenset(json.loads(str(groups))),
        frozenset(json.loads(str(scopes))),
        SpendCap(*(None if cap is None else int(str(cap)) for cap in (month, day))),
        float(str(created)),
        None if expires is None else float(str(expires)),
        None if revoked is None else float(str(revoked)),
    )
