"""What an operator may choose changes what a reader gets: each choice over a real socket."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from openai.types.chat import ChatCompletion

from indexes.types import Evidence, EvidenceFinder, Query, Viewer
from proxy.domain.types import Decision, Turn
from proxy.pipeline import in_process
from proxy.pipeline.in_process import InProcessQuestion
from tests.fakes import FakeUpstream, Play, says
from tests.proxy.deployment import QUESTION, RunningProxy, deployed

TRUE = says("The reading room opens at 9:30 [1].")
WRONG = says("The reading room opens at 9:30 [1]. ", "It has 41 seats [1].")
TITLE = "Generate a concise, 3-5 word title with an emoji summarizing the chat history."
LINKS = "Sources:\n- [Opening hours](https://orchard.example/hours)"


@asynccontextmanager
async def chosen(folder: Path, play: Play, swap: Mapping[str, str]) -> AsyncIterator[RunningProxy]:
    async with FakeUpstream(play) as fake, deployed(folder, fake.url, swap=swap) as proxy:
        yield proxy


async def ask(proxy: RunningProxy, question: str = QUESTION, **fields: object) -> ChatCompletion:
    client = await proxy.client()
    messages = [{"role": "user", "content": question}]
    done = await client.chat.completions.create(model="help", messages=messages, **fields)  # type: ignore[call-overload]
    assert isinstance(done, ChatCompletion)
    return done


def said(done: ChatCompletion) -> str:
    return done.choices[0].message.content or ""


def assistant(*lines: str) -> dict[str, str]:
    """Lines of the assistant's own table."""
    return {"[assistants.help]": "\n".join(["[assistants.help]", *lines])}


@pytest.mark.parametrize(
    ("shown", "listed", "noted"),
    [("both", True, True), ("list", True, False), ("annotations", False, True), ("none", False, False)],
)
async def test_sources_are_shown_as_links_as_notes_as_both_or_not_at_all(
    tmp_path: Path, shown: str, listed: bool, noted: bool
) -> None:
    async with chosen(tmp_path, TRUE, assistant(f'answer = {{ sources = "{shown}" }}')) as proxy:
        done = await ask(proxy)
    assert (LINKS in said(done), bool(done.choices[0].message.annotations)) == (listed, noted)
    assert said(done).startswith("The reading room opens at 9:30.")


@pytest.mark.parametrize(("mode", "empty"), [("refuse", False), ("empty", True)])
async def test_a_title_for_a_chat_window_costs_nothing(tmp_path: Path, mode: str, empty: bool) -> None:
    async with chosen(tmp_path, TRUE, {"[server]": f'[server]\nbackground_tasks = "{mode}"'}) as proxy:
        done = await ask(proxy, TITLE)
        found = await proxy.row()
    assert (said(done) == "", done.choices[0].finish_reason) == (empty, "stop")
    assert (found.decision, found.upstream_calls, found.embedded) == (Decision.REFUSED, 0, False)


@pytest.mark.parametrize("finish", ["stop", "content_filter"])
async def test_the_finish_of_a_stopped_answer_is_told_as_chosen(tmp_path: Path, finish: str) -> None:
    async with chosen(tmp_path, WRONG, {"[server]": f'[server]\nstop_finish = "{finish}"'}) as proxy:
        done = await ask(proxy)
    assert done.choices[0].finish_reason == finish
    assert "41" not in said(done)


async def test_a_cut_by_the_servers_own_cap_is_told_as_an_ordinary_end(tmp_path: Path) -> None:
    async with chosen(tmp_path, says("It opens at 9:30 [1]. ", "It has", finish="length"), {}) as proxy:
        done = await ask(proxy)
        assert (await proxy.row()).decision is Decision.TRUNCATED
    assert done.choices[0].finish_reason == "stop"
    assert said(done).startswith("It opens at 9:30.\n\n")


@pytest.mark.parametrize(("voice", "decision"), [("third_person", "stopped"), ("we", "answered")])
async def test_an_assistant_speaks_as_we_only_where_it_may(tmp_path: Path, voice: str, decision: str) -> None:
    play = says("We open the reading room at 9:30 [1].")
    async with chosen(tmp_path, play, assistant(f'voice = "{voice}"')) as proxy:
        done = await ask(proxy)
        assert (await proxy.row()).decision == decision
    assert ("We open" in said(done)) is (decision == "answered")


async def test_a_text_of_the_operators_own_is_told_and_taken_out_of_the_history(tmp_path: Path) -> None:
    own = 'texts.en.no_evidence = "The handbook is silent on this."'
    async with FakeUpstream(TRUE) as fake, deployed(tmp_path, fake.url, swap=assistant(own)) as proxy:
        refused = said(await ask(proxy, "What is the capital of Mongolia?"))
        assert refused == "The handbook is silent on this. Searched: Handbook."
        client = await proxy.client()
        turns = [
            {"role": "user", "content": "What is the capital of Mongolia?"},
            {"role": "assistant", "content": refused},
            {"role": "user", "content": QUESTION},
        ]
        await client.chat.completions.create(model="help", messages=turns)  # type: ignore[arg-type]
        assert "silent on this" not in str(fake.calls[0].json["messages"])


async def test_the_readers_language_alone_is_searched_where_so_chosen(tmp_path: Path) -> None:
    question = "¿A qué hora abre la reading room opens?"
    for languages, handed in (("any", True), ("reader", False)):
        folder = tmp_path / languages
        swap = assistant(f'language = "es"\nevidence = {{ languages = "{languages}" }}')
        async with chosen(folder, TRUE, swap) as proxy:
            await ask(proxy, question)
            found = await proxy.row()
        assert (found.language, bool(found.sources)) == ("es", handed)


async def test_a_threshold_of_one_language_counts_for_that_language_alone(tmp_path: Path) -> None:
    async with chosen(tmp_path, TRUE, assistant("thresholds = { de = 0.9 }")) as proxy:
        await ask(proxy)
        assert (await proxy.row()).threshold == 0.35
        await ask(proxy, "Wann öffnet der Lesesaal der Bibliothek?")
        assert (await proxy.row(2)).threshold == 0.9


async def test_a_question_about_the_subject_that_nothing_supports_gets_a_digest_of_the_records(
    tmp_path: Path,
) -> None:
    book = tmp_path / "cv.yaml"
    book.write_text(
        "allowed_groups: [public]\nrecords:\n"
        + "".join(
            f"  - {{kind: projects, title: Atlas {year}, text: An atlas of {year}., from: {year}}}\n"
            for year in range(2010, 2020)
        )
    )
    swap = {
        **assistant('records = ["cv"]', "evidence = { digest_records = 3 }"),
        "[upstreams.model]": '[records.cv]\npath = "cv.yaml"\n[upstreams.model]',
    }
    async with FakeUpstream(says("NOT_IN_SOURCES")) as fake, deployed(tmp_path, fake.url, swap=swap) as proxy:
        await ask(proxy, "Does Orchard like mountaineering?")
        found = await proxy.row()
        assert (found.decision, found.mode) == (Decision.NOT_IN_SOURCES, "records")
        assert [source["title"] for source in found.sources] == ["Atlas 2019", "Atlas 2018", "Atlas 2017"]
        await ask(proxy, "Is mountaineering popular in Mongolia?")
        assert ((await proxy.row(2)).decision, len(fake.calls)) == (Decision.NO_EVIDENCE, 1)


async def test_a_follow_up_is_about_the_subject_in_the_language_that_it_is_asked_in(tmp_path: Path) -> None:
    """«ella» is no pronoun of the assistant's own language; the name it stands for helps the order."""
    asked: list[Query] = []

    class Listening:
        def __init__(self, finder: EvidenceFinder):
            self._finder = finder

        async def find_evidence(self, query: Query, viewer: Viewer) -> Evidence:
            asked.append(query)
            return await self._finder.find_evidence(query, viewer)

        async def list_titles(self, viewer: Viewer) -> tuple[str, ...]:
            return await self._finder.list_titles(viewer)

    async with deployed(tmp_path) as proxy:
        desk = replace(
            proxy.services.context, evidence_finder=Listening(proxy.services.context.evidence_finder)
        )
        before = (Turn("user", "¿Quién es Orchard?"), Turn("assistant", "Orchard es una biblioteca."))
        question = InProcessQuestion(
            "¿Y cuándo empezó ella con la sala?", "quoting", frozenset({"public"}), before
        )
        await in_process.ask_in_process(question, desk)
    assert asked[-1].ranking_text == f"Orchard {question.text}"
