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
from tests.fake_upstream import FakeUpstream, ResponseScript, script_answer
from tests.proxy.deployment import QUESTION, RunningProxy, open_proxy

TRUE = script_answer("The reading room opens at 9:30 [1].")
WRONG = script_answer("The reading room opens at 9:30 [1]. ", "It has 41 seats [1].")
TITLE = "Generate a concise, 3-5 word title with an emoji summarizing the chat history."
LINKS = "Sources:\n- [Opening hours](https://orchard.example/hours)"


@asynccontextmanager
async def open_swapped_proxy(
    folder: Path, play: ResponseScript, swap: Mapping[str, str]
) -> AsyncIterator[RunningProxy]:
    async with FakeUpstream(play) as fake, open_proxy(folder, fake.url, swap=swap) as proxy:
        yield proxy


async def ask_model(proxy: RunningProxy, question: str = QUESTION, **fields: object) -> ChatCompletion:
    client = await proxy.open_client()
    messages = [{"role": "user", "content": question}]
    done = await client.chat.completions.create(model="help", messages=messages, **fields)  # type: ignore[call-overload]
    assert isinstance(done, ChatCompletion)
    return done


def read_answer(done: ChatCompletion) -> str:
    return done.choices[0].message.content or ""


def make_assistant_lines(*lines: str) -> dict[str, str]:
    """Lines of the assistant's own table."""
    return {"[assistants.help]": "\n".join(["[assistants.help]", *lines])}


@pytest.mark.parametrize(
    ("shown", "listed", "noted"),
    [("both", True, True), ("list", True, False), ("annotations", False, True), ("none", False, False)],
)
async def test_sources_are_shown_as_links_as_notes_as_both_or_not_at_all(
    tmp_path: Path, shown: str, listed: bool, noted: bool
) -> None:
    async with open_swapped_proxy(
        tmp_path, TRUE, make_assistant_lines(f'answer = {{ sources = "{shown}" }}')
    ) as proxy:
        done = await ask_model(proxy)
    assert (LINKS in read_answer(done), bool(done.choices[0].message.annotations)) == (listed, noted)
    assert read_answer(done).startswith("The reading room opens at 9:30.")


@pytest.mark.parametrize(("mode", "empty"), [("refuse", False), ("empty", True)])
async def test_a_title_for_a_chat_window_costs_nothing(tmp_path: Path, mode: str, empty: bool) -> None:
    async with open_swapped_proxy(
        tmp_path, TRUE, {"[server]": f'[server]\nbackground_tasks = "{mode}"'}
    ) as proxy:
        done = await ask_model(proxy, TITLE)
        found = await proxy.await_trace()
    assert (read_answer(done) == "", done.choices[0].finish_reason) == (empty, "stop")
    assert (found.decision, found.upstream_calls, found.embedded) == (Decision.REFUSED, 0, False)


@pytest.mark.parametrize("finish", ["stop", "content_filter"])
async def test_the_finish_of_a_stopped_answer_is_told_as_chosen(tmp_path: Path, finish: str) -> None:
    async with open_swapped_proxy(
        tmp_path, WRONG, {"[server]": f'[server]\nstop_finish = "{finish}"'}
    ) as proxy:
        done = await ask_model(proxy)
    assert done.choices[0].finish_reason == finish
    assert "41" not in read_answer(done)


async def test_a_cut_by_the_servers_own_cap_is_told_as_an_ordinary_end(tmp_path: Path) -> None:
    async with open_swapped_proxy(
        tmp_path, script_answer("It opens at 9:30 [1]. ", "It has", finish="length"), {}
    ) as proxy:
        done = await ask_model(proxy)
        assert (await proxy.await_trace()).decision is Decision.TRUNCATED
    assert done.choices[0].finish_reason == "stop"
    assert read_answer(done).startswith("It opens at 9:30.\n\n")


@pytest.mark.parametrize(("voice", "decision"), [("third_person", "stopped"), ("we", "answered")])
async def test_an_assistant_speaks_as_we_only_where_it_may(tmp_path: Path, voice: str, decision: str) -> None:
    play = script_answer("We open the reading room at 9:30 [1].")
    async with open_swapped_proxy(tmp_path, play, make_assistant_lines(f'voice = "{voice}"')) as proxy:
        done = await ask_model(proxy)
        assert (await proxy.await_trace()).decision == decision
    assert ("We open" in read_answer(done)) is (decision == "answered")


async def test_a_text_of_the_operators_own_is_told_and_taken_out_of_the_history(tmp_path: Path) -> None:
    own = 'texts.en.no_evidence = "The handbook is silent on this."'
    async with (
        FakeUpstream(TRUE) as fake,
        open_proxy(tmp_path, fake.url, swap=make_assistant_lines(own)) as proxy,
    ):
        refused = read_answer(await ask_model(proxy, "What is the capital of Mongolia?"))
        assert refused == "The handbook is silent on this. Searched: Handbook."
        client = await proxy.open_client()
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
        swap = make_assistant_lines(f'language = "es"\nevidence = {{ languages = "{languages}" }}')
        async with open_swapped_proxy(folder, TRUE, swap) as proxy:
            await ask_model(proxy, question)
            found = await proxy.await_trace()
        assert (found.language, bool(found.sources)) == ("es", handed)


async def test_a_threshold_of_one_language_counts_for_that_language_alone(tmp_path: Path) -> None:
    async with open_swapped_proxy(tmp_path, TRUE, make_assistant_lines("thresholds = { de = 0.9 }")) as proxy:
        await ask_model(proxy)
        assert (await proxy.await_trace()).threshold == 0.35
        await ask_model(proxy, "Wann öffnet der Lesesaal der Bibliothek?")
        assert (await proxy.await_trace(2)).threshold == 0.9


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
        **make_assistant_lines('records = ["cv"]', "evidence = { digest_records = 3 }"),
        "[upstreams.model]": '[records.cv]\npath = "cv.yaml"\n[upstreams.model]',
    }
    async with (
        FakeUpstream(script_answer("NOT_IN_SOURCES")) as fake,
        open_proxy(tmp_path, fake.url, swap=swap) as proxy,
    ):
        await ask_model(proxy, "Does Orchard like mountaineering?")
        found = await proxy.await_trace()
        assert (found.decision, found.mode) == (Decision.NOT_IN_SOURCES, "records")
        assert [source["title"] for source in found.sources] == ["Atlas 2019", "Atlas 2018", "Atlas 2017"]
        await ask_model(proxy, "Is mountaineering popular in Mongolia?")
        assert ((await proxy.await_trace(2)).decision, len(fake.calls)) == (Decision.NO_EVIDENCE, 1)


async def test_a_follow_up_is_about_the_subject_in_the_language_that_it_is_asked_in(tmp_path: Path) -> None:
    """«ella» is no pronoun of the assistant's own language; the name it stands for helps the order."""
    queries: list[Query] = []

    class RecordingFinder:
        def __init__(self, finder: EvidenceFinder):
            self._finder = finder

        async def find_evidence(self, query: Query, viewer: Viewer) -> Evidence:
            queries.append(query)
            return await self._finder.find_evidence(query, viewer)

        async def list_titles(self, viewer: Viewer) -> tuple[str, ...]:
            return await self._finder.list_titles(viewer)

    async with open_proxy(tmp_path) as proxy:
        context = replace(
            proxy.deployment.context,
            evidence_finder=RecordingFinder(proxy.deployment.context.evidence_finder),
        )
        before = (Turn("user", "¿Quién es Orchard?"), Turn("assistant", "Orchard es una biblioteca."))
        question = InProcessQuestion(
            "¿Y cuándo empezó ella con la sala?", "quoting", frozenset({"public"}), before
        )
        await in_process.ask_in_process(question, context)
    assert queries[-1].ranking_text == f"Orchard {question.text}"
