"""Killed at any point, truth and index agree again: all that was acknowledged, nothing half, nothing else."""

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from indexes.store import Store
from indexes.types import Query
from tests.indexes.crash_worker import CHANGES, GROUPS, POINTS, apply_change, generate_changes
from tests.indexes.sample_evidence import make_viewer, open_indexed_store

ROOT = Path(__file__).parents[2]


def run_until_killed(folder: Path, point: str, seed: int) -> int:
    """How many changes were acknowledged before the process killed itself."""
    command = [sys.executable, "-m", "tests.indexes.crash_worker", str(folder), point, str(seed)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode in (-signal.SIGKILL, 0), done.stderr
    acknowledged = folder / "acknowledged"
    return len(acknowledged.read_text()) if acknowledged.exists() else 0


async def replay_changes(folder: Path, seed: int, count: int) -> dict[str, set[str]]:
    """Who sees which document after the first `count` changes, done without any crash."""
    async with Store(folder / f"model{count}.db", durable=False) as store:
        for what, id, group in list(generate_changes(seed))[:count]:
            await apply_change(store, what, id, group)
        return {g: await list_visible_ids(store, g) for g in GROUPS}


async def list_visible_ids(store: Store, group: str) -> set[str]:
    return {p.document_id for p in (await store.recheck_passages(range(1, 500), make_viewer(group))).values()}


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("point", POINTS)
async def test_killed(tmp_path: Path, point: str, seed: int) -> None:
    """The next start sees every acknowledged change, and the one in flight whole or not at all."""
    count = await asyncio.to_thread(run_until_killed, tmp_path, point, seed)
    assert count < CHANGES, "the failpoint was never reached"
    async with open_indexed_store(tmp_path) as indexed:
        seen = {g: await list_visible_ids(indexed.store, g) for g in GROUPS}
        assert seen in [
            await replay_changes(tmp_path, seed, count),
            await replay_changes(tmp_path, seed, count + 1),
        ]
        assert await indexed.keyword_index.drain(wait_s=5)
        for group in GROUPS:
            found = await indexed.search.find_evidence(Query(("common words",), limit=50), make_viewer(group))
            assert {hit.passage.document_id for hit in found.hits} == seen[group]
            assert indexed.search.stale_count == 0, (
                "the index itself is right, not only what the truth lets through"
            )
        assert await count_orphans(indexed.store) == 0


async def count_orphans(store: Store) -> int:
    return await store.run_read(
        lambda c: c.execute(
            "SELECT count(*) FROM passage WHERE document NOT IN (SELECT id FROM document)"
        ).fetchone()[0]
    )
