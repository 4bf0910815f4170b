"""A process that writes evidence until it kills itself at a failpoint. Run by `test_crash.py`.

Every change is appended to `acknowledged` once it has returned; the one after that may be done or not.
"""

import asyncio
import os
import random
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from indexes import document_writes, outbox
from indexes.keywords.index_folder import TantivyFolder
from indexes.keywords.keyword_index import IndexFolders, KeywordIndex
from indexes.store import Store
from indexes.sync import embed_missing_passages
from tests.indexes.sample_evidence import HashEmbedder, make_access, make_document, put_documents

GROUPS = ("a", "b")
CHANGES = 40


def kill_process(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def kill_before_call(owner: Any, name: str, at: int) -> None:
    """Dies instead of the `at`-th call."""
    calls = iter(range(at))
    real: Callable[..., object] = getattr(owner, name)

    def count_call(*arguments: object, **more: object) -> object:
        if next(calls, None) is None:
            kill_process()
        return real(*arguments, **more)

    setattr(owner, name, count_call)


def kill_after_call(owner: Any, name: str, at: int) -> None:
    """Dies after the `at`-th call."""
    calls = iter(range(at))
    real: Callable[..., object] = getattr(owner, name)

    def count_call(*arguments: object, **more: object) -> object:
        value = real(*arguments, **more)
        if next(calls, None) is None:
            kill_process()
        return value

    setattr(owner, name, count_call)


POINTS: dict[str, Callable[[int], None]] = {
    "inside the transaction": lambda at: kill_after_call(document_writes, "enqueue_passages", at),
    "before the index commits": lambda at: kill_before_call(TantivyFolder, "_build_document", at),
    "after the index has committed": lambda at: kill_before_call(TantivyFolder, "mark_applied", at // 4),
    "after the mark": lambda at: kill_before_call(outbox, "record_drain", at // 4),
    "after a drain": lambda at: kill_after_call(outbox, "record_drain", at // 4),
    "before a new index is switched to": lambda at: kill_before_call(IndexFolders, "switch_current", 0),
    "after a new index was switched to": lambda at: kill_after_call(IndexFolders, "switch_current", 0),
}


def generate_changes(seed: int) -> Iterator[tuple[str, str, str]]:
    """The same for the same seed: what, document, group."""
    chance = random.Random(seed)
    for _ in range(CHANGES):
        what = chance.choice(["put", "put", "put", "access", "remove"])
        yield what, f"docs/{chance.randrange(8)}", chance.choice(GROUPS)


async def apply_change(store: Store, what: str, id: str, group: str) -> None:
    match what:
        case "put":
            await put_documents(store, make_document(id, f"common words {group}", make_access(group)))
        case "access":
            await store.set_access(id, make_access(group))
        case "remove":
            await store.remove_document(id)


async def main(folder: Path, point: str, seed: int) -> None:
    chance = random.Random(seed)
    POINTS[point](chance.randrange(4, 30))
    async with Store(folder / "truth.db") as store, KeywordIndex(folder / "lexical", store) as index:
        with (folder / "acknowledged").open("a") as acknowledged:
            for what, id, group in generate_changes(seed):
                await apply_change(store, what, id, group)
                acknowledged.write("x")
                acknowledged.flush()
                if chance.random() < 0.3:
                    await index.drain()
                if chance.random() < 0.1:
                    await embed_missing_passages(store, HashEmbedder())


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
