"""What programs push: documents of `push` sources and whole record books, for keys with the scope `admin`.

`PUT | PATCH | DELETE /v1/documents/SOURCE%2FKEY` and `PUT /v1/records/BOOK`. A 200 means that the change is
committed, so it holds for the next question; only the vectors of new text follow a moment later.
"""

import asyncio
import logging
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import orjson
from starlette.types import Receive, Scope

from indexes.push import PushReceiver, PushRejection, UnknownDocument
from indexes.sources.record_book import BookFile, read_book_text
from indexes.sync import embed_missing_passages
from indexes.types import EmbedError
from proxy.app.admin_access import admit
from proxy.app.deployment import Services
from proxy.domain.errors import RequestError
from proxy.domain.ports import HttpRequest
from proxy.http.body import head, read
from proxy.http.replies import Line
from proxy.http.routes import Paths
from proxy.pipeline.retrieve import translate_store_faults
from proxy.settings import tree
from proxy.wire import strict_json

log = logging.getLogger("fiador.push")

Change = Callable[[PushReceiver, str, Mapping[str, object]], Awaitable[object]]


class Pushing:
    """The endpoints over opened services. An `async with`: inside it new text gets its vectors."""

    def __init__(self, services: Services):
        self._services = services
        self._sources = {
            name: PushReceiver(services.evidence.store, name, services.packs.words)
            for name, one in services.settings.sources.items()
            if isinstance(one, tree.PushSource)
        }
        self._new = asyncio.Event()

    def paths(self) -> Paths:
        """For `routes.build`."""
        return {
            "/v1/documents/{id}": {"PUT": self.put, "PATCH": self.patch, "DELETE": self.delete},
            "/v1/records/{id}": {"PUT": self.put_book},
        }

    @asynccontextmanager
    async def embedding(self) -> AsyncIterator[None]:
        """Makes the vectors of what is pushed, behind the requests that push it."""
        task = asyncio.create_task(self._embed())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait([task])

    async def put(self, scope: Scope, receive: Receive, line: Line) -> None:
        """Stores a document whole: fields of front matter, `text`, `format`."""
        await self._changed(scope, await self._fields(scope, receive), line, _put)
        self._new.set()

    async def patch(self, scope: Scope, receive: Receive, line: Line) -> None:
        """Replaces who may see a document, and when."""
        await self._changed(scope, await self._fields(scope, receive), line, _patch)

    async def delete(self, scope: Scope, receive: Receive, line: Line) -> None:
        """Deletes a document."""
        await self._admin(head(scope))
        await self._changed(scope, {}, line, _delete)

    async def put_book(self, scope: Scope, receive: Receive, line: Line) -> None:
        """Replaces all records of a book, or none if one of them is wrong."""
        ask = await read(scope, receive, self._services.settings.server)
        await self._admin(ask)
        name = scope["path_params"]["id"]
        book = self._services.settings.records.get(name)
        if book is None or book.path is not None:
            raise _unknown("records", name)
        found = await asyncio.to_thread(read_book_text, BookFile(name, Path(name)), _text(ask.body))
        if found.records is None or found.faults:
            raise RequestError("\n".join(map(str, found.faults)), code="invalid_records")
        changed = await _stored(self._services.evidence.records.replace_book(name, found.records))
        await _done(line, changed)

    async def _changed(self, scope: Scope, fields: Mapping[str, object], line: Line, change: Change) -> None:
        source, slash, key = scope["path_params"]["id"].partition("/")
        if not slash:
            text = "This path names no document: want /v1/documents/SOURCE%2FKEY, the slash as %2F."
            raise RequestError(text, code="unknown_document", status=404)
        if source not in self._sources:
            raise _unknown("sources", source)
        try:
            await _done(line, await _stored(change(self._sources[source], key, fields)))
        except UnknownDocument as fault:
            raise RequestError(str(fault), code="unknown_document", status=404) from fault
        except PushRejection as fault:
            raise RequestError(str(fault), code="invalid_document") from fault

    async def _fields(self, scope: Scope, receive: Receive) -> Mapping[str, object]:
        ask = await read(scope, receive, self._services.settings.server)
        await self._admin(ask)
        fields = strict_json.parse_json(ask.body)
        if not isinstance(fields, dict):
            raise RequestError("The request body must be a JSON object.", code="invalid_json")
        return fields

    async def _admin(self, ask: HttpRequest) -> None:
        await admit(ask, self._services, "Only keys with the scope `admin` may push.")

    async def _embed(self) -> None:
        evidence = self._services.evidence
        while True:
            await self._new.wait()
            self._new.clear()
            if evidence.embedder is None:
                continue
            try:
                await embed_missing_passages(evidence.store, evidence.embedder)
            except (EmbedError, sqlite3.Error) as fault:
                log.warning("pushed text has no vectors yet: %s", fault)


async def _put(push: PushReceiver, key: str, fields: Mapping[str, object]) -> object:
    return await push.put_document(key, fields)


async def _patch(push: PushReceiver, key: str, fields: Mapping[str, object]) -> object:
    return await push.set_access(key, fields)


async def _delete(push: PushReceiver, key: str, fields: Mapping[str, object]) -> object:
    return await push.remove_document(key)


async def _stored(change: Awaitable[object]) -> object:
    with translate_store_faults():
        return await change


async def _done(line: Line, changed: object) -> None:
    await line.whole(
        200, (), orjson.dumps({"changed": changed if isinstance(changed, str) else bool(changed)})
    )


def _text(body: bytes) -> str:
    try:
        return body.decode()
    except UnicodeDecodeError as fault:
        raise RequestError(
            f"The request body is not UTF-8: {fault.reason}.", code="invalid_records"
        ) from fault


def _unknown(table: str, name: str) -> RequestError:
    hint = 'type = "push"' if table == "sources" else "no `path`"
    text = f"No {table}.{name:.80} that takes pushes is configured here (one with {hint})."
    return RequestError(text, code="unknown_source", status=404)
