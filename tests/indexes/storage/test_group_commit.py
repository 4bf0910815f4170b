"""commits: what waits shares one commit, and each item answers for itself alone."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from indexes.storage.database import Database
from indexes.storage.group_commit import BATCH_MAX, GroupCommit

SCHEMA = "CREATE TABLE IF NOT EXISTS t (n INTEGER PRIMARY KEY)"


@pytest.fixture
async def db(tmp_path: Path) -> AsyncIterator[Database]:
    async with Database(tmp_path / "a.db", schema=SCHEMA) as database:
        yield database


def insert_number(connection: sqlite3.Connection, number: int) -> int:
    connection.execute("INSERT INTO t VALUES (?)", (number,))
    return number


async def list_numbers(db: Database) -> list[int]:
    return await db.run_read(lambda c: [row[0] for row in c.execute("SELECT n FROM t ORDER BY n")])


async def test_everything_that_waits_is_one_commit_up_to_a_bound(db: Database) -> None:
    points: list[str] = []
    async with GroupCommit(db, failpoint=points.append) as commits:
        count = BATCH_MAX + 10
        futures = [commits.submit(lambda c, n=number: insert_number(c, n)) for number in range(count)]  # type: ignore[misc]
        assert await asyncio.gather(*futures) == list(range(count))
    assert points == ["before", "after"] * 2
    assert len(await list_numbers(db)) == count


async def test_an_item_that_fails_undoes_itself_and_no_other(db: Database) -> None:
    def insert_and_fail(connection: sqlite3.Connection) -> int:
        insert_number(connection, 7)
        raise ValueError("half")

    async with GroupCommit(db) as commits:
        futures: list[asyncio.Future[int]] = [
            commits.submit(lambda c: insert_number(c, 1)),
            commits.submit(insert_and_fail),
            commits.submit(lambda c: insert_number(c, 1)),
            commits.submit(lambda c: insert_number(c, 2)),
        ]
        found = await asyncio.gather(*futures, return_exceptions=True)
    assert [type(item) for item in found] == [int, ValueError, sqlite3.IntegrityError, int]
    assert await list_numbers(db) == [1, 2]


async def test_a_store_that_fails_fails_everything_of_the_batch(db: Database) -> None:
    async with GroupCommit(db) as commits:
        futures: list[asyncio.Future[int]] = [
            commits.submit(lambda c: insert_number(c, 1)),
            commits.submit(lambda c: c.execute("DELETE FROM missing").rowcount),
        ]
        found = await asyncio.gather(*futures, return_exceptions=True)
    assert [type(item) for item in found] == [sqlite3.OperationalError] * 2
    assert await list_numbers(db) == []


async def test_what_is_cancelled_before_it_begins_is_not_done(db: Database) -> None:
    async with GroupCommit(db) as commits:
        commits.submit(lambda c: insert_number(c, 1)).cancel()
        await commits.submit(lambda c: insert_number(c, 2))
    assert await list_numbers(db) == [2]


async def test_what_is_cancelled_too_late_is_handed_to_undo(db: Database) -> None:
    undone: list[int] = []
    late: list[asyncio.Future[int]] = []
    loop = asyncio.get_running_loop()

    def cancel_late(point: str) -> None:
        if point == "before" and late:
            loop.call_soon_threadsafe(late.pop().cancel)

    async with GroupCommit(db, failpoint=cancel_late) as commits:
        late.append(commits.submit(lambda c: insert_number(c, 1), undo=undone.append))
        await asyncio.sleep(0.05)
    assert (undone, await list_numbers(db)) == ([1], [1])


async def test_a_guard_that_raises_after_the_commit_fails_the_batch(db: Database) -> None:
    calls: list[int] = []

    def fail_second_time() -> None:
        calls.append(1)
        if len(calls) == 2:
            raise OSError("gone")

    async with GroupCommit(db, guard=fail_second_time) as commits:
        with pytest.raises(OSError, match="gone"):
            await commits.submit(lambda c: insert_number(c, 1))


async def test_closing_finishes_what_waits_and_then_takes_nothing(db: Database) -> None:
    async with GroupCommit(db) as commits:
        waiting = commits.submit(lambda c: insert_number(c, 1))
    assert await waiting == 1
    with pytest.raises(sqlite3.ProgrammingError, match="not open"):
        await commits.submit(lambda c: insert_number(c, 2))
