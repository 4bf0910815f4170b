"""indexes.storage.database: a transaction is whole, in its own thread, or it did not happen."""

import asyncio
import sqlite3
from pathlib import Path

import aiosqlite
import pytest

from indexes.storage.database import Database

SCHEMA = "CREATE TABLE IF NOT EXISTS t (n INTEGER)"


def _insert_row(connection: sqlite3.Connection) -> int:
    connection.execute("INSERT INTO t VALUES (1)")
    return int(connection.execute("SELECT count(*) FROM t").fetchone()[0])


async def test_a_transaction_returns_its_value(tmp_path: Path) -> None:
    async with Database(tmp_path / "a.db", schema=SCHEMA) as db:
        assert await db.run_transaction(_insert_row) == 1
        assert await db.run_read(lambda c: c.execute("SELECT count(*) FROM t").fetchone()[0]) == 1


async def test_a_fault_inside_rolls_everything_back(tmp_path: Path) -> None:
    def insert_and_fail(connection: sqlite3.Connection) -> None:
        _insert_row(connection)
        raise ValueError("no")

    async with Database(tmp_path / "a.db", schema=SCHEMA) as db:
        with pytest.raises(ValueError, match="no"):
            await db.run_transaction(insert_and_fail)
        assert await db.run_transaction(_insert_row) == 1


async def test_a_cancelled_caller_does_not_tear_a_transaction(tmp_path: Path) -> None:
    async with Database(tmp_path / "a.db", schema=SCHEMA) as db:
        task = asyncio.create_task(db.run_transaction(_insert_row))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await db.run_transaction(_insert_row) == 2


async def test_a_closed_database_says_so(tmp_path: Path) -> None:
    db = Database(tmp_path / "a.db")
    with pytest.raises(sqlite3.ProgrammingError, match="not open"):
        await db.run_transaction(_insert_row)


async def test_opening_waits_for_a_process_that_is_making_the_same_new_file(tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "a.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    asyncio.get_running_loop().call_later(0.1, other.execute, "COMMIT")
    async with Database(tmp_path / "a.db", schema=SCHEMA) as db:
        assert await db.run_transaction(_insert_row) == 1
    other.close()


async def test_a_lock_that_nobody_lets_go_ends_the_opening(tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "a.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        async with Database(tmp_path / "a.db", schema=SCHEMA, busy_s=0.05):
            pass
    other.close()


async def test_a_new_file_is_for_its_owner_alone_and_the_mode_of_an_old_one_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    for mode in (0o600, 0o640):
        async with Database(path, schema="CREATE TABLE IF NOT EXISTS t (a)") as database:
            await database.run_transaction(lambda connection: connection.execute("INSERT INTO t VALUES (1)"))
        assert path.stat().st_mode & 0o777 == mode
        path.chmod(0o640)


async def test_a_file_that_cannot_be_opened_leaves_no_thread_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that answers a loop which has been closed meanwhile ends with a traceback."""
    monkeypatch.setattr(aiosqlite, "connect", None)
    with pytest.raises(sqlite3.OperationalError, match="unable to open"):
        await Database(tmp_path).__aenter__()
