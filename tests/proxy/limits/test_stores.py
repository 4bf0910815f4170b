"""limits.memory and limits.sqlite: one contract; several workers over one file share it."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from proxy.domain.types import Caller
from proxy.ledger.owner import Owner
from proxy.limits import LimitRule, LimitStore, MemoryLimitStore, RateLimits, SqliteLimitStore
from proxy.limits.sqlite import PRUNE_EVERY_REQUESTS
from proxy.settings import tree

MINUTE = LimitRule("address_minute", "1.1.1.1", 3, 60)
HOUR = LimitRule("address_hour", "1.1.1.1", 100, 3_600)
AT_ONCE = LimitRule("key_concurrent", "k1", 2)
NOW = 1_796_000_000.0


@pytest.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[LimitStore]:
    if request.param == "memory":
        yield MemoryLimitStore()
    else:
        async with SqliteLimitStore(tmp_path / "limits.db", clock=lambda: NOW) as opened:
            yield opened


async def count_granted(store: LimitStore, tries: int, *rules: LimitRule, now: float = NOW) -> int:
    """How many of that many requests at once pass."""
    found = await asyncio.gather(*(store.count_request(rules, now) for _ in range(tries)))
    return found.count(None)


async def test_a_window_lets_its_count_through_and_refills(store: LimitStore) -> None:
    assert await count_granted(store, 20, MINUTE) == 3
    assert await count_granted(store, 20, MINUTE, now=NOW + 20.1) == 1
    assert await count_granted(store, 20, MINUTE, now=NOW + 600) == 3


async def test_what_is_refused_counts_nowhere(store: LimitStore) -> None:
    assert await count_granted(store, 120, HOUR, MINUTE) == 3
    assert await count_granted(store, 120, HOUR) == 97


async def test_the_full_rule_is_named_with_its_wait(store: LimitStore) -> None:
    await count_granted(store, 3, MINUTE)
    full = await store.count_request((HOUR, MINUTE), NOW)
    assert full is not None
    assert (full.rule, round(full.retry_after_s, 3)) == (MINUTE, 20)


async def test_places_at_once_come_back_and_never_more_than_there_were(store: LimitStore) -> None:
    assert await count_granted(store, 5, AT_ONCE) == 2
    await store.end_request((AT_ONCE, MINUTE))
    assert await count_granted(store, 5, AT_ONCE) == 1
    for _ in range(9):
        await store.end_request((AT_ONCE,))
    assert await count_granted(store, 5, AT_ONCE) == 2


async def test_one_who_leaves_just_as_its_place_is_granted_gives_it_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with SqliteLimitStore(tmp_path / "limits.db") as store:
        submit, leaving = store._require_commits().submit, list[asyncio.Task[object]]()

        def submit_and_cancel(*work: Any, **undo: Any) -> asyncio.Future[Any]:
            future = submit(*work, **undo)
            future.add_done_callback(lambda _: leaving[0].cancel())
            return future

        monkeypatch.setattr(store._require_commits(), "submit", submit_and_cancel)
        leaving.append(asyncio.create_task(store.count_request((AT_ONCE,), NOW)))
        await asyncio.wait(leaving)
        assert leaving[0].cancelled()
        monkeypatch.undo()
        await store.end_request(())  # what waits is written in its order
        assert await count_granted(store, 5, AT_ONCE) == 2


async def test_workers_over_one_file_share_every_limit(tmp_path: Path) -> None:
    async with (
        SqliteLimitStore(tmp_path / "limits.db") as one,
        SqliteLimitStore(tmp_path / "limits.db") as other,
    ):
        assert await count_granted(one, 2, MINUTE) + await count_granted(other, 2, MINUTE) == 3
        assert await count_granted(one, 2, AT_ONCE) + await count_granted(other, 2, AT_ONCE) == 2


async def test_the_places_of_a_dead_worker_are_free_again(tmp_path: Path) -> None:
    here = Owner.read_current()
    async with SqliteLimitStore(tmp_path / "limits.db") as store:
        store._owner = Owner(here.boot, here.space, here.pid, "1")
        assert await count_granted(store, 5, AT_ONCE) == 2
    async with SqliteLimitStore(tmp_path / "limits.db") as store:
        assert await count_granted(store, 5, AT_ONCE) == 2


async def test_the_file_is_bounded(tmp_path: Path) -> None:
    async with SqliteLimitStore(tmp_path / "limits.db", table_max=50, clock=lambda: NOW) as store:
        for number in range(PRUNE_EVERY_REQUESTS):
            await store.count_request((LimitRule("address_day", f"a{number}", 5, 86_400),), NOW + number)
        assert store._commits is not None
        rows = await store._commits.submit(lambda c: c.execute("SELECT count(*) FROM buckets").fetchone()[0])
        assert rows <= 51


def overwrite_file(path: Path) -> None:
    path.write_bytes(os.urandom(4096))


async def test_a_file_that_cannot_be_opened_lets_through_and_is_counted(tmp_path: Path) -> None:
    overwrite_file(tmp_path / "limits.db")
    async with SqliteLimitStore(tmp_path / "limits.db") as store:
        limit = RateLimits(tree.LimitSettings(address_minute=1), store)
        for _ in range(3):
            async with limit.enter(Caller("k1", "", frozenset()), "1.1.1.1"):
                pass
        assert limit.failure_count == 3
