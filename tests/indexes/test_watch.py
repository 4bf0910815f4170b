"""Watching: every change is announced, also one made while the caller works, and from time to time anyway."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path

import pytest

from indexes.watch import watch_changes


async def is_change_announced(watching: AsyncGenerator[None, None], within_s: float) -> bool:
    try:
        await asyncio.wait_for(anext(watching), within_s)
    except TimeoutError:
        return False
    return True


@pytest.mark.parametrize("events", [True, False])
async def test_a_change_is_announced_also_while_the_caller_works(tmp_path: Path, events: bool) -> None:
    async with aclosing(watch_changes([tmp_path], poll_s=0.05, use_events=events)) as watching:
        assert await is_change_announced(watching, 20)
        (tmp_path / "a.md").write_text("made while the first pass runs")
        await asyncio.sleep(0.6)
        assert await is_change_announced(watching, 20)


@pytest.mark.parametrize("events", [True, False])
async def test_a_change_right_behind_the_first_announcement_is_announced(
    tmp_path: Path, events: bool
) -> None:
    async with aclosing(watch_changes([tmp_path], poll_s=0.05, use_events=events)) as watching:
        await anext(watching)
        (tmp_path / "a.md").write_text("made before anybody could listen")
        assert await is_change_announced(watching, 20)


@pytest.mark.parametrize("events", [True, False])
async def test_nothing_is_announced_where_nothing_changes(tmp_path: Path, events: bool) -> None:
    async with aclosing(watch_changes([tmp_path], poll_s=0.05, use_events=events)) as watching:
        assert await is_change_announced(watching, 20)
        assert not await is_change_announced(watching, 0.4)


async def test_it_reconciles_from_time_to_time(tmp_path: Path) -> None:
    async with aclosing(watch_changes([tmp_path], reconcile_s=0.1)) as watching:
        for _ in range(3):
            assert await is_change_announced(watching, 20)


async def test_a_root_that_comes_later_is_seen(tmp_path: Path) -> None:
    root = tmp_path / "later"
    async with aclosing(watch_changes([root], poll_s=0.05)) as watching:
        assert await is_change_announced(watching, 20)
        root.mkdir()
        assert await is_change_announced(watching, 20)


@pytest.mark.parametrize("events", [True, False])
async def test_a_file_is_watched_without_its_neighbours_also_when_it_is_replaced(
    tmp_path: Path, events: bool
) -> None:
    book, other = tmp_path / "book.yaml", tmp_path / "other.db"
    book.write_text("a")
    async with aclosing(watch_changes([book], poll_s=0.05, use_events=events)) as watching:
        assert await is_change_announced(watching, 20)
        other.write_text("b")
        (tmp_path / "new").write_text("longer")
        (tmp_path / "new").replace(book)
        assert await is_change_announced(watching, 20)
    async with aclosing(watch_changes([book], poll_s=0.05, use_events=events)) as watching:
        assert await is_change_announced(watching, 20)
        other.write_text("changed")
        assert not await is_change_announced(watching, 0.6)
