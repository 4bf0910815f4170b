"""Killed at any point, truth and index agree again: all that was acknowledged, nothing half, nothing else."""

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from indexes.store import Store
from indexes.types import Query
from tests.indexes.crashing import CHANGES, GROUPS, POINTS, change, changes
from tests.indexes.shelf import shelf, viewer

ROOT = Path(__file__).parents[2]


def killed(folder: Path, point: str, seed: int) -> int:
    """How many changes were acknowledged before the process killed itself."""
    command = [sys.executable, "-m", "tests.indexes.crashing", str(folder), point, str(seed)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode in (-signal.SIGKILL, 0), done.stderr
    said = folder / "acknowledged"
    return len(said.read_text()) if said.exists() else 0


async def model(folder: Path, seed: int, count: int) -> dict[str, set[str]]:
    """Who sees which document after the first `count` changes, done without any crash."""
    async with Store(folder / f"model{count}.db", durable=False) as store:
        for what, id, group in list(changes(seed))[:count]:
            await change(store, what, id, group)
        return {g: await truth(store, g) for g in GROUPS}


async def truth(store: Store, group: str) -> set[str]:
    return {p.document_id for p in (await store.recheck_passages(range(1, 500), viewer(group))).values()}


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("point", POINTS)
async def test_killed(tmp_path: Path, point: str, seed: int) -> None:
    """The next start sees every acknowledged change, and the one in flight whole or not at all."""
    count = await asyncio.to_thread(killed, tmp_path, point, seed)
    assert count < CHANGES, "the failpoint was never reached"
    async with shelf(tmp_path) as on:
        seen = {g: await truth(on.store, g) for g in GROUPS}
        assert seen in [await model(tmp_path, seed, count), await model(tmp_path, seed, count + 1)]
        assert await on.lexical.drain(wait_s=5)
        for group in GROUPS:
            found = await on.search.find_evidence(Query(("common words",), limit=50), viewer(group))
            assert {hit.passage.document_id for hit in found.hits} == seen[group]
            assert on.search.stale_count == 0, (
                "the index itself is right, not only what the truth lets through"
            )
        assert await orphans(on.store) == 0


async def orphans(store: Store) -> int:
    return await store.run_read(
        lambda c: c.execute(
            "SELECT count(*) FROM passage WHERE document NOT IN (SELECT id FROM document)"
        ).fetchone()[0]
    )
