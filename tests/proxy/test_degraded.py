"""A model that is missing, broken or fails costs the vectors, never an answer, and the log says why."""

import shutil
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from indexes.embedding.embedder import OnnxEmbedder
from indexes.types import EmbedError
from proxy.app import Deployment, build_data_paths, open_deployment
from proxy.app.evidence import ConfiguredEmbedder, load_embedder
from proxy.commands import check
from proxy.commands.sync import sync_index
from proxy.domain.errors import StoreError
from proxy.pipeline.in_process import CapturedAnswer, InProcessQuestion, ask_in_process
from proxy.settings.tree import Settings
from tests.indexes import tiny_model
from tests.proxy.deployment import QUESTION, write_deployment


@pytest.fixture(name="settings")
def _write_model_settings(tmp_path: Path) -> Settings:
    """The small deployment with a tiny model of its own."""
    settings = write_deployment(tmp_path, "http://127.0.0.1:9")
    tiny_model.write_model(tmp_path / "model")
    own = settings.embedding.model_copy(update={"model": tmp_path / "model"})
    return settings.model_copy(update={"embedding": own}).copy_with_folder(tmp_path)


async def ask_quoting(deployment: Deployment) -> CapturedAnswer:
    return await ask_in_process(
        InProcessQuestion(QUESTION, "quoting", frozenset({"public"})), deployment.context
    )


def check_keywords_served(answer: CapturedAnswer, reason: str) -> None:
    assert answer.trace
    assert "opens at 9:30" in answer.text
    assert (answer.trace.mode, answer.trace.threshold, answer.trace.embedded) == ("keywords", 0.35, False)
    assert reason in answer.trace.degraded


async def test_with_its_model_the_search_is_hybrid(settings: Settings) -> None:
    async with open_deployment(settings) as deployment:
        await sync_index(settings, deployment.evidence, deployment.packs)
        seen = await ask_quoting(deployment)
    assert seen.trace
    assert (seen.trace.mode, seen.trace.embedded) == ("hybrid", True)


async def test_check_tells_of_passages_that_the_model_has_not_read(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    async with open_deployment(settings, ConfiguredEmbedder(None)) as deployment:
        await sync_index(settings, deployment.evidence, deployment.packs)
    await check.check_configuration(settings, online=False, as_json=False)
    assert "for want of a vector: 2; `fiador sync`" in capsys.readouterr().out
    async with open_deployment(settings) as deployment:
        await sync_index(settings, deployment.evidence, deployment.packs)
    await check.check_configuration(settings, online=False, as_json=False)
    assert "want of a vector" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        ("emptied", "model.onnx"),
        ("corrupt", "INVALID_PROTOBUF"),
        ("gone", "model.onnx"),
        ("card", "model_card.json"),
    ],
)
async def test_a_broken_folder_leaves_keywords(settings: Settings, broken: str, why: str) -> None:
    async with open_deployment(settings) as deployment:
        await sync_index(settings, deployment.evidence, deployment.packs)
    folder = settings.embedding.model
    assert isinstance(folder, Path)
    match broken:
        case "emptied":
            for file in folder.iterdir():
                file.unlink()
        case "corrupt":
            (folder / "model.onnx").write_bytes(b"\x08\x01 this is no model")
        case "gone":
            shutil.rmtree(folder)
        case "card":
            (folder / "model_card.json").write_text("{}", "utf-8")
    async with open_deployment(settings) as deployment:
        check_keywords_served(await ask_quoting(deployment), why)


class FailingEmbedder:
    """An embedder that works until it is told to fail."""

    def __init__(self, inner: OnnxEmbedder):
        self._inner = inner
        self.name, self.dim, self.choose_band = inner.name, inner.dim, inner.choose_band
        self.has_died = False

    def embed_query(self, text: str) -> list[float]:
        if self.has_died:
            raise EmbedError("the model has died")
        return self._inner.embed_query(text)

    def embed_passages(self, texts: list[str]) -> list[list[float]]:
        return self._inner.embed_passages(texts)


async def test_a_model_that_dies_in_mid_run_leaves_keywords_and_may_come_back(settings: Settings) -> None:
    inner = load_embedder(settings.embedding).embedder
    assert isinstance(inner, OnnxEmbedder)
    model = FailingEmbedder(inner)
    async with AsyncExitStack() as stack:
        deployment = await stack.enter_async_context(open_deployment(settings, ConfiguredEmbedder(model)))
        await sync_index(settings, deployment.evidence, deployment.packs)
        model.has_died = True
        check_keywords_served(await ask_quoting(deployment), "the model has died")
        model.has_died = False
        seen = await ask_quoting(deployment)
    assert seen.trace
    assert seen.trace.mode == "hybrid"


def overwrite_tail(path: Path, start: int) -> None:
    """Everything from `start` on is something else."""
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(start)
        file.write(b"\x5a" * (size - start))


@pytest.mark.parametrize("start", [0, 4_096])
async def test_a_damaged_truth_does_not_open_and_says_which_file_and_what_to_do(
    settings: Settings, start: int
) -> None:
    async with open_deployment(settings) as deployment:
        await sync_index(settings, deployment.evidence, deployment.packs)
    path = build_data_paths(settings).store
    overwrite_tail(path, start)
    with pytest.raises(StoreError, match="The index cannot be opened") as caught:
        async with open_deployment(settings):
            pass
    assert str(path) in caught.value.detail
    assert "move it away and run `fiador sync`" in caught.value.detail
    path.unlink()
    async with open_deployment(settings) as deployment:
        await sync_index(settings, deployment.evidence, deployment.packs)
        assert "opens at 9:30" in (await ask_quoting(deployment)).text


async def test_a_truth_damaged_while_it_is_served_is_a_503_that_names_it(settings: Settings) -> None:
    async with open_deployment(settings) as deployment:
        await sync_index(settings, deployment.evidence, deployment.packs)
        drop = "DROP TABLE acl_group"
        await deployment.evidence.store.run_write(lambda connection: connection.execute(drop).rowcount)
        with pytest.raises(StoreError, match="The index does not answer") as caught:
            await ask_quoting(deployment)
    assert (caught.value.status, caught.value.code) == (503, "store_unavailable")
    assert "acl_group" in caught.value.detail
