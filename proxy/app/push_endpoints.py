"""What programs push: documents of `push` sources and whole record books, for keys with the scope `admin`.

`PUT | PATCH | DELETE /v1/documents/SOURCE%2FKEY` and `PUT /v1/records/BOOK`. A 200 means that the change is
committed, so it holds for the next question; only the vectors of new text follow a moment later.
"""

import asyncio
import logging
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import orjson
from starlette.types import Receive, Scope

from indexes.push import PushReceiver, PushRejection, UnknownDocument
from indexes.sources.record_book import BookFile, read_book_text
from indexes.sync import embed_missing_passages
from indexes.types import EmbedError
from proxy.app.admin_access import require_operator
from proxy.app.deployment import Deployment
from proxy.domain.errors import RequestError
from proxy.domain.ports import HttpRequest
from proxy.http.body import read_request, read_request_head
from proxy.http.replies import ResponseWriter
from proxy.http.routes import RouteTable
from proxy.pipeline.retrieve import translate_store_faults
from proxy.settings import tree
from proxy.wire import strict_json

log = logging.getLogger("fiador.push")


class PushEndpoints:
    """The endpoints over an opened deployment; new text gets its vectors inside `embed_in_background`."""

    def __init__(self, deployment: Deployment):
        self._deployment = deployment
        self._push_sources = {
            name: PushReceiver(deployment.evidence.store, name, deployment.packs.words)
            for name, source in deployment.settings.sources.items()
            if isinstance(source, tree.PushSourceSettings)
        }
        self._new_text_event = asyncio.Event()

    def build_routes(self) -> RouteTable:
        """For `routes.build_app`, as `extra_routes`."""
        return {
            "/v1/documents/{id}": {
                "PUT": self.store_document,
                "PATCH": self.patch_document,
                "DELETE": self.delete_document,
            },
            "/v1/records/{id}": {"PUT": self.put_record_book},
        }

    @asynccontextmanager
    async def embed_in_background(self) -> AsyncIterator[None]:
        """Makes the vectors of what is pushed, behind the requests that push it."""
        task = asyncio.create_task(self._embed_new_text())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait([task])

    async def store_document(self, scope: Scope, receive: Receive, writer: ResponseWriter) -> None:
        """Stores a document whole: fields of front matter, `text`, `format`."""
        fields = await self._read_document_fields(scope, receive)
        receiver, key = self._find_receiver(scope)
        await _commit_change(receiver.put_document(key, fields), writer)
        self._new_text_event.set()

    async def patch_document(self, scope: Scope, receive: Receive, writer: ResponseWriter) -> None:
        """Replaces who may see a document, and when."""
        fields = await self._read_document_fields(scope, receive)
        receiver, key = self._find_receiver(scope)
        await _commit_change(receiver.set_access(key, fields), writer)

    async def delete_document(self, scope: Scope, receive: Receive, writer: ResponseWriter) -> None:
        """Deletes a document."""
        await self._require_operator(read_request_head(scope))
        receiver, key = self._find_receiver(scope)
        await _commit_change(receiver.remove_document(key), writer)

    async def put_record_book(self, scope: Scope, receive: Receive, writer: ResponseWriter) -> None:
        """Replaces all records of a book, or none if one of them is wrong."""
        request = await read_request(scope, receive, self._deployment.settings.server)
        await self._require_operator(request)
        name = scope["path_params"]["id"]
        book = self._deployment.settings.records.get(name)
        if book is None or book.path is not None:
            raise _make_unknown_error("records", name)
        text = _decode_body(request.body)
        reading = await asyncio.to_thread(read_book_text, BookFile(name, Path(name)), text)
        if reading.records is None or reading.faults:
            raise RequestError("\n".join(map(str, reading.faults)), code="invalid_records")
        await _commit_change(self._deployment.evidence.records.replace_book(name, reading.records), writer)

    def _find_receiver(self, scope: Scope) -> tuple[PushReceiver, str]:
        """The source that a path names, and the document's key in it."""
        source, slash, key = scope["path_params"]["id"].partition("/")
        if not slash:
            text = "This path names no document: want /v1/documents/SOURCE%2FKEY, the slash as %2F."
            raise RequestError(text, code="unknown_document", status=404)
        if source not in self._push_sources:
            raise _make_unknown_error("sources", source)
        return self._push_sources[source], key

    async def _read_document_fields(self, scope: Scope, receive: Receive) -> Mapping[str, object]:
        request = await read_request(scope, receive, self._deployment.settings.server)
        await self._require_operator(request)
        fields = strict_json.parse_json(request.body)
        if not isinstance(fields, dict):
            raise RequestError("The request body must be a JSON object.", code="invalid_json")
        return fields

    async def _require_operator(self, request: HttpRequest) -> None:
        await require_operator(request, self._deployment, "Only keys with the scope `admin` may push.")

    async def _embed_new_text(self) -> None:
        evidence = self._deployment.evidence
        while True:
            await self._new_text_event.wait()
            self._new_text_event.clear()
            if evidence.embedder is None:
                continue
            try:
                await embed_missing_passages(evidence.store, evidence.embedder)
            except (EmbedError, sqlite3.Error) as fault:
                log.warning("pushed text has no vectors yet: %s", fault)


async def _commit_change(change: Awaitable[object], writer: ResponseWriter) -> None:
    """Waits until a change is committed, and tells the client what it was or why there was none."""
    try:
        with translate_store_faults():
            changed = await change
    except UnknownDocument as fault:
        raise RequestError(str(fault), code="unknown_document", status=404) from fault
    except PushRejection as fault:
        raise RequestError(str(fault), code="invalid_document") from fault
    result = changed if isinstance(changed, str) else bool(changed)
    await writer.write_json(200, (), orjson.dumps({"changed": result}))


def _decode_body(body: bytes) -> str:
    try:
        return body.decode()
    except UnicodeDecodeError as fault:
        raise RequestError(
            f"The request body is not UTF-8: {fault.reason}.", code="invalid_records"
        ) from fault


def _make_unknown_error(table: str, name: str) -> RequestError:
    hint = 'type = "push"' if table == "sources" else "no `path`"
    text = f"No {table}.{name:.80} that takes pushes is configured here (one with {hint})."
    return RequestError(text, code="unknown_source", status=404)
