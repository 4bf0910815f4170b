"""What programs push holds for the next question; who may not push changes nothing."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import httpx
import pytest

from indexes.push import FORMATS
from indexes.sources.readers.markdown import read_plain_text
from indexes.sources.readers.types import DocumentContent
from proxy.app import Deployment, open_deployment
from proxy.app.asgi import build_surface
from proxy.app.paths import build_data_paths
from proxy.auth import KeyStore
from proxy.pipeline.in_process import InProcessQuestion, ask_in_process
from proxy.settings.load import load_settings
from tests.loopback_server import serve_app
from tests.proxy.deployment import CONFIG
from tests.waiting import wait_until

MORE = """
[sources.pushed]
type = "push"
[records.cv]
"""
DOCUMENT = {
    "text": "The harbour office opens at 7:45.",
    "title": "Harbour office",
    "language": "en",
    "allowed_groups": ["public"],
}
RECORD = {
    "id": "a",
    "kind": "projects",
    "title": {"en": "Atlas"},
    "text": {"en": "An atlas of 38 sheets."},
    "from": "2022",
    "allowed_groups": ["public"],
}
ADDRESS = "/v1/documents/pushed%2Fharbour"
ASKED = "When does the harbour office open?"


class PushServer:
    """A server that takes pushes, a client with an admin's key, and a way to ask."""

    def __init__(self, client: httpx.AsyncClient, deployment: Deployment, plain_key: str):
        self.client, self._deployment, self.plain_key = client, deployment, plain_key

    async def ask_quoting_model(self, question: str = ASKED) -> str:
        context = self._deployment.context
        await self._deployment.evidence.keyword_index.drain()
        return (
            await ask_in_process(InProcessQuestion(question, "quoting", frozenset({"public"})), context)
        ).text


@pytest.fixture(name="pushed")
async def _open_push_server(tmp_path: Path) -> AsyncIterator[PushServer]:
    config = tmp_path / "fiador.toml"
    text = CONFIG.format(url="http://127.0.0.1:9", idle_s=5, retries=0, join_s=0) + MORE
    text = text.replace('sources = ["handbook"]', 'sources = ["handbook", "pushed"]\nrecords = ["cv"]')
    config.write_text(text, "utf-8")
    settings = load_settings(config)
    async with (
        open_deployment(settings) as deployment,
        KeyStore(build_data_paths(settings).keys) as keys,
        AsyncExitStack() as stack,
    ):
        admin_key = (await keys.create_key("admin", scopes=["admin"])).credential
        plain_key = (await keys.create_key("plain", groups=["public"])).credential
        url = await stack.enter_async_context(serve_app(build_surface(deployment)))
        headers = {"authorization": f"Bearer {admin_key}"}
        client = httpx.AsyncClient(base_url=url, trust_env=False, headers=headers)
        yield PushServer(await stack.enter_async_context(client), deployment, plain_key)


async def test_a_pushed_document_is_found_by_the_next_question(pushed: PushServer) -> None:
    assert "7:45" not in await pushed.ask_quoting_model()
    got = await pushed.client.put(ADDRESS, json=DOCUMENT)
    assert (got.status_code, got.json()) == (200, {"changed": "added"})
    assert "7:45" in await pushed.ask_quoting_model()


async def test_access_that_is_taken_away_holds_for_the_next_question(pushed: PushServer) -> None:
    await pushed.client.put(ADDRESS, json=DOCUMENT)
    got = await pushed.client.patch(ADDRESS, json={"allowed_groups": ["staff"]})
    assert got.json() == {"changed": True}
    assert "7:45" not in await pushed.ask_quoting_model()


async def test_a_deleted_document_answers_nobody(pushed: PushServer) -> None:
    await pushed.client.put(ADDRESS, json=DOCUMENT)
    assert (await pushed.client.delete(ADDRESS)).json() == {"changed": True}
    assert (await pushed.client.delete(ADDRESS)).json() == {"changed": False}
    assert "7:45" not in await pushed.ask_quoting_model()


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE"])
async def test_without_the_scope_nothing_changes(pushed: PushServer, method: str) -> None:
    await pushed.client.put(ADDRESS, json=DOCUMENT)
    headers = {"authorization": f"Bearer {pushed.plain_key}"}
    got = await pushed.client.request(
        method, ADDRESS, json=DOCUMENT | {"text": "It is shut."}, headers=headers
    )
    assert (got.status_code, got.json()["error"]["code"]) == (403, "forbidden")
    assert "7:45" in await pushed.ask_quoting_model()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"allowed_groups": []}, "allowed_groups"),
        ({"text": ""}, "text"),
        ({"titel": "x"}, "titel"),
        ({"valid_from": "soon"}, "valid_from"),
    ],
)
async def test_a_wrong_document_is_refused_by_name(
    pushed: PushServer, change: dict[str, object], told: str
) -> None:
    got = await pushed.client.put(ADDRESS, json=DOCUMENT | change)
    assert got.status_code == 400
    assert told in got.json()["error"]["message"]


async def test_only_sources_and_books_that_take_pushes_are_written(pushed: PushServer) -> None:
    for path in ("/v1/documents/handbook%2Fx", "/v1/documents/nowhere%2Fx", "/v1/records/nowhere"):
        assert (await pushed.client.put(path, json=DOCUMENT)).status_code == 404


@pytest.mark.parametrize("path", ["harbour", "pushed/harbour"])
async def test_a_document_named_without_its_source_or_its_encoding_is_told_how(
    pushed: PushServer, path: str
) -> None:
    got = await pushed.client.put(f"/v1/documents/{path}", json=DOCUMENT)
    assert (got.status_code, "%2F" in got.json()["error"]["message"]) == (404, True)


async def test_a_pushed_book_answers_overview_questions_and_is_replaced_whole(pushed: PushServer) -> None:
    question = "What projects has Orchard worked on?"
    assert (await pushed.client.put("/v1/records/cv", json=[RECORD])).json() == {"changed": True}
    assert "38 sheets" in await pushed.ask_quoting_model(question)
    wrong = await pushed.client.put("/v1/records/cv", json=[RECORD, RECORD])
    assert (wrong.status_code, "twice" in wrong.json()["error"]["message"]) == (400, True)
    assert "38 sheets" in await pushed.ask_quoting_model(question)


async def test_an_overview_of_everything_holds_records_of_a_kind_that_no_question_names(
    pushed: PushServer,
) -> None:
    await pushed.client.put("/v1/records/cv", json=[RECORD | {"kind": "job"}])
    assert "38 sheets" in await pushed.ask_quoting_model("Give me an overview of Orchard's work.")
    assert "38 sheets" not in await pushed.ask_quoting_model("What projects has Orchard worked on?")


async def test_a_book_is_emptied_by_an_empty_list_and_by_nothing_less(pushed: PushServer) -> None:
    question = "What projects has Orchard worked on?"
    await pushed.client.put("/v1/records/cv", json=[RECORD])
    headers = {"content-type": "application/json"}
    for body in (b"", b"  ", b"{}", b"null", b'{"allowed_groups": ["public"]}', b"\xff\xfe["):
        got = await pushed.client.put("/v1/records/cv", content=body, headers=headers)
        assert (got.status_code, got.json()["error"]["code"]) == (400, "invalid_records"), body
    assert "38 sheets" in await pushed.ask_quoting_model(question)
    assert (await pushed.client.put("/v1/records/cv", json=[])).json() == {"changed": True}
    assert "38 sheets" not in await pushed.ask_quoting_model(question)


async def test_access_of_a_document_that_is_not_there_cannot_be_changed(pushed: PushServer) -> None:
    """Who takes something from somebody under a misspelt key must hear that nothing was taken."""
    await pushed.client.put(ADDRESS, json=DOCUMENT)
    got = await pushed.client.patch(f"{ADDRESS}s", json={"allowed_groups": ["staff"]})
    assert (got.status_code, got.json()["error"]["code"]) == (404, "unknown_document")
    same = await pushed.client.patch(ADDRESS, json={"allowed_groups": ["public"]})
    assert (same.status_code, same.json()) == (200, {"changed": False})


@pytest.mark.parametrize("key", ["%FF", "%C3", "%20", "%2F%20", "", "%2F", "%00", "%0A", "a" * 501])
async def test_a_key_that_names_nothing_is_refused(pushed: PushServer, key: str) -> None:
    got = await pushed.client.put(f"/v1/documents/pushed%2F{key}", json=DOCUMENT)
    assert got.status_code == 400
    assert got.json()["error"]["code"] in ("invalid_path", "invalid_document")


@pytest.mark.parametrize("key", ["..%2F..%2Fetc%2Fpasswd", "handbook%2Fhours.md", "%252F", "%E9%A1%B5 1"])
async def test_a_key_is_a_name_and_no_path(pushed: PushServer, key: str) -> None:
    assert (await pushed.client.put(f"/v1/documents/pushed%2F{key}", json=DOCUMENT)).status_code == 200
    assert "7:45" in await pushed.ask_quoting_model()
    assert (await pushed.client.delete(f"/v1/documents/pushed%2F{key}")).json() == {"changed": True}
    assert "7:45" not in await pushed.ask_quoting_model()


async def test_a_document_that_is_slow_to_read_keeps_nobody_waiting(
    pushed: PushServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, let = threading.Event(), threading.Event()

    def read_slowly(text: str) -> DocumentContent:
        begun.set()
        assert let.wait(10)
        return read_plain_text(text)

    monkeypatch.setitem(FORMATS, "markdown", read_slowly)
    putting = asyncio.create_task(pushed.client.put(ADDRESS, json=DOCUMENT))
    await wait_until(begun.is_set)
    assert (await pushed.client.get("/healthz")).status_code == 200
    let.set()
    assert (await putting).status_code == 200
