"""proxy.app.pushing: what programs push holds for the next question; who may not push changes nothing."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import httpx
import pytest

from proxy.app import Services, opened
from proxy.app.asgi import surface
from proxy.app.paths import paths
from proxy.auth import Keys
from proxy.inside import Question, ask
from proxy.settings.load import load
from tests.proxy.deployment import CONFIG
from tests.serving import serving

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


class Pushed:
    """A server that takes pushes, a client with an admin's key, and a way to ask."""

    def __init__(self, client: httpx.AsyncClient, services: Services, plain: str):
        self.client, self._services, self.plain = client, services, plain

    async def answer(self, question: str = ASKED) -> str:
        desk = self._services.desk
        await self._services.evidence.lexical.drain()
        return (await ask(Question(question, "quoting", frozenset({"public"})), desk)).text


@pytest.fixture(name="pushed")
async def _pushed(tmp_path: Path) -> AsyncIterator[Pushed]:
    config = tmp_path / "fiador.toml"
    text = CONFIG.format(url="http://127.0.0.1:9", idle_s=5, retries=0, join_s=0) + MORE
    text = text.replace('sources = ["handbook"]', 'sources = ["handbook", "pushed"]\nrecords = ["cv"]')
    config.write_text(text, "utf-8")
    settings = load(config)
    async with opened(settings) as services, Keys(paths(settings).keys) as keys, AsyncExitStack() as stack:
        admin = (await keys.create("admin", scopes=["admin"])).secret
        plain = (await keys.create("plain", groups=["public"])).secret
        url = await stack.enter_async_context(serving(surface(services)))
        headers = {"authorization": f"Bearer {admin}"}
        client = httpx.AsyncClient(base_url=url, trust_env=False, headers=headers)
        yield Pushed(await stack.enter_async_context(client), services, plain)


async def test_a_pushed_document_is_found_by_the_next_question(pushed: Pushed) -> None:
    assert "7:45" not in await pushed.answer()
    got = await pushed.client.put(ADDRESS, json=DOCUMENT)
    assert (got.status_code, got.json()) == (200, {"changed": "added"})
    assert "7:45" in await pushed.answer()


async def test_access_that_is_taken_away_holds_for_the_next_question(pushed: Pushed) -> None:
    await pushed.client.put(ADDRESS, json=DOCUMENT)
    got = await pushed.client.patch(ADDRESS, json={"allowed_groups": ["staff"]})
    assert got.json() == {"changed": True}
    assert "7:45" not in await pushed.answer()


async def test_a_deleted_document_answers_nobody(pushed: Pushed) -> None:
    await pushed.client.put(ADDRESS, json=DOCUMENT)
    assert (await pushed.client.delete(ADDRESS)).json() == {"changed": True}
    assert (await pushed.client.delete(ADDRESS)).json() == {"changed": False}
    assert "7:45" not in await pushed.answer()


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE"])
async def test_without_the_scope_nothing_changes(pushed: Pushed, method: str) -> None:
    await pushed.client.put(ADDRESS, json=DOCUMENT)
    headers = {"authorization": f"Bearer {pushed.plain}"}
    got = await pushed.client.request(
        method, ADDRESS, json=DOCUMENT | {"text": "It is shut."}, headers=headers
    )
    assert (got.status_code, got.json()["error"]["code"]) == (403, "forbidden")
    assert "7:45" in await pushed.answer()


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
    pushed: Pushed, change: dict[str, object], told: str
) -> None:
    got = await pushed.client.put(ADDRESS, json=DOCUMENT | change)
    assert got.status_code == 400
    assert told in got.json()["error"]["message"]


async def test_only_sources_and_books_that_take_pushes_are_written(pushed: Pushed) -> None:
    for path in ("/v1/documents/handbook%2Fx", "/v1/documents/nowhere%2Fx", "/v1/records/nowhere"):
        assert (await pushed.client.put(path, json=DOCUMENT)).status_code == 404


async def test_a_pushed_book_answers_overview_questions_and_is_replaced_whole(pushed: Pushed) -> None:
    question = "What projects has Orchard worked on?"
    assert (await pushed.client.put("/v1/records/cv", json=[RECORD])).json() == {"changed": True}
    assert "38 sheets" in await pushed.answer(question)
    wrong = await pushed.client.put("/v1/records/cv", json=[RECORD, RECORD])
    assert (wrong.status_code, "twice" in wrong.json()["error"]["message"]) == (400, True)
    assert "38 sheets" in await pushed.answer(question)
