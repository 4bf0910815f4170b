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
from tests.indexes.shelf import HashEmbedder, access, document, put

GROUPS = ("a", "b")
CHANGES = 40


def die(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def before(owner: Any, name: str, at: int) -> None:
    """Dies instead of the `at`-th call."""
    calls = iter(range(at))
    real: Callable[..., object] = getattr(owner, name)

    def counted(*arguments: object, **more: object) -> object:
        if next(calls, None) is None:
            die()
        return real(*arguments, **more)

    setattr(owner, name, counted)


def after(owner: Any, name: str, at: int) -> None:
    """Dies after the `at`-th call."""
    calls = iter(range(at))
    real: Callable[..., object] = getattr(owner, name)

    def counted(*arguments: object, **more: object) -> object:
        value = real(*arguments, **more)
        if next(calls, None) is None:
            die()
        return value

    setattr(owner, name, counted)


POINTS: dict[str, Callable[[int], None]] = {
    "inside the transaction": lambda at: after(document_writes, "enqueue_passages", at),
    "before the index commits": lambda at: before(TantivyFolder, "_build_document", at),
    "after the index has committed": lambda at: before(TantivyFolder, "mark_applied", at // 4),
    "after the mark": lambda at: before(outbox, "record_drain", at // 4),
    "after a drain": lambda at: after(outbox, "record_drain", at // 4),
    "before a new index is switched to": lambda at: before(IndexFolders, "switch_current", 0),
    "after a new index was switched to": lambda at: after(IndexFolders, "switch_current", 0),
}


def changes(seed: int) -> Iterator[tuple[str, str, str]]:
    """The same for the same seed: what, document, group."""
    chance = random.Random(seed)
    for _ in range(CHANGES):
        what = chance.choice(["put", "put", "put", "access", "remove"])
        yield what, f"docs/{chance.randrange(8)}", chance.choice(GROUPS)


async def change(store: Store, what: str, id: str, group: str) -> None:
    match what:
        case "put":
            await put(store, document(id, f"common words {group}", access(group)))
        case "access":
            await store.set_access(id, access(group))
        case "remove":
            await store.remove_document(id)


async def main(folder: Path, point: str, seed: int) -> None:
    chance = random.Random(seed)
    POINTS[point](chance.randrange(4, 30))
    async with Store(folder / "truth.db") as store, KeywordIndex(folder / "lexical", store) as index:
        with (folder / "acknowledged").open("a") as said:
            for what, id, group in changes(seed):
                await change(store, what, id, group)
                said.write("x")
                said.flush()
                if chance.random() < 0.3:
                    await index.drain()
                if chance.random() < 0.1:
                    await embed_missing_passages(store, HashEmbedder())


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
