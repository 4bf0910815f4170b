"""Embedding: unit vectors out of any good folder, one kind of error out of any bad one."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexes.embedding.embedder import BATCH_TOKENS_MAX, BagOfTokens, OnnxEmbedder
from indexes.types import Band, Embedder, EmbedError
from tests.indexes import tiny_model


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> OnnxEmbedder:
    return OnnxEmbedder(tiny_model.write_model(tmp_path_factory.mktemp("model")))


def compute_cosine(one: list[float], other: list[float]) -> float:
    return float(np.dot(one, other))


def test_both_are_embedders(model: OnnxEmbedder) -> None:
    embedders: list[Embedder] = [model, BagOfTokens()]
    assert [len(embedder.embed_query("days of leave")) for embedder in embedders] == [64, 512]


def test_the_band_comes_from_the_card(model: OnnxEmbedder) -> None:
    assert model.choose_band("en", "en") == Band(0.2, 0.9)


def test_meaning_shared_is_nearness(model: OnnxEmbedder) -> None:
    question = model.embed_query("may I park my bicycle")
    near, far = model.embed_passages(["bikes shed", "copper conducts heat"])
    assert compute_cosine(question, near) > 0.9 > 0.2 > compute_cosine(question, far)


@given(st.lists(st.text(max_size=30), min_size=1, max_size=12))
def test_passages_come_in_their_order_whatever_their_lengths(model: OnnxEmbedder, texts: list[str]) -> None:
    texts = [text + " heat" for text in texts]
    alone = [model.embed_passages([text])[0] for text in texts]
    assert np.allclose(model.embed_passages(texts), alone, atol=1e-5)


def test_no_texts_are_no_vectors(model: OnnxEmbedder) -> None:
    assert model.embed_passages([]) == []


def test_a_large_batch_is_run_in_parts(model: OnnxEmbedder) -> None:
    vectors = model.embed_passages(["heat " * 16] * (BATCH_TOKENS_MAX // 8))
    assert np.allclose(vectors, vectors[0])


def test_texts_are_cut_at_the_card_s_length(model: OnnxEmbedder) -> None:
    assert model.embed_query("heat " * 16 + "leave " * 50) == model.embed_query("heat " * 16)


def test_prefixes_are_put_before_each_kind_of_text(tmp_path: Path) -> None:
    model = OnnxEmbedder(tiny_model.write_model(tmp_path, query_prefix="heat ", passage_prefix="bridge "))
    plain = OnnxEmbedder(tiny_model.write_model(tmp_path / "plain"))
    assert model.embed_query("leave") == plain.embed_query("heat leave")
    assert model.embed_passages(["leave"]) == plain.embed_passages(["bridge leave"])


@pytest.mark.parametrize(("pooling", "token"), [("cls", "leave"), ("last", "heat")])
def test_pooling_takes_the_first_or_the_last_real_token(tmp_path: Path, pooling: str, token: str) -> None:
    mean = OnnxEmbedder(tiny_model.write_model(tmp_path / "mean"))
    model = OnnxEmbedder(tiny_model.write_model(tmp_path / pooling, pooling=pooling, probes=[]))
    short, _ = model.embed_passages(["leave copper heat", "bikes " * 12])
    assert short == pytest.approx(mean.embed_query(token))


def test_other_inputs_are_filled_in(tmp_path: Path) -> None:
    tiny_model.write_model(tmp_path, probes=[])
    table = np.ones((99, 64), np.float32)
    kinds = ("input_ids", "attention_mask", "token_type_ids", "position_ids")
    onnx.save(tiny_model.build_graph(table, kinds), tmp_path / "model.onnx")
    assert len(OnnxEmbedder(tmp_path).embed_query("heat")) == 64


def test_the_name_tells_models_apart_but_not_their_bounds(tmp_path: Path, model: OnnxEmbedder) -> None:
    assert model.name.startswith("tiny@")
    assert OnnxEmbedder(tiny_model.write_model(tmp_path / "bounds", floor=0.5)).name == model.name
    assert OnnxEmbedder(tiny_model.write_model(tmp_path / "prefix", query_prefix="q ")).name != model.name


def damage_model(folder: Path, fault: str) -> None:
    graph = folder / "model.onnx"
    table = np.ones((30, 64), np.float32)
    damages: dict[str, Callable[[], object]] = {
        "gone": graph.unlink,
        "not a graph": lambda: graph.write_bytes(b"\0" * 4096),
        "cut short": lambda: graph.write_bytes(graph.read_bytes()[:-500]),
        "no tokenizer": lambda: (folder / "tokenizer.json").write_text("{}"),
        "no pad": lambda: tiny_model.write_model(folder, pad_token="[NONE]"),
        "other output": lambda: tiny_model.write_model(folder, output="logits"),
        "other width": lambda: tiny_model.write_model(folder, dim=32),
        "other inputs": lambda: onnx.save(tiny_model.build_graph(table, ("pixels",)), graph),
        "means nothing": lambda: onnx.save(tiny_model.build_graph(table), graph),
        "not finite": lambda: onnx.save(tiny_model.build_graph(table * np.float32("nan")), graph),
        "zero": lambda: onnx.save(tiny_model.build_graph(table * 0), graph),
        "too few words": lambda: onnx.save(tiny_model.build_graph(table[:2]), graph),
    }
    damages[fault]()


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ("gone", "model.onnx missing; a model is a folder with"),
        ("not a graph", "model.onnx"),
        ("cut short", "model.onnx"),
        ("no tokenizer", "tiny"),
        ("no pad", "no [NONE]; name another"),
        ("other output", "outputs are states; the card names logits"),
        ("other width", "is not what its card says"),
        ("other inputs", "inputs are pixels"),
        ("means nothing", "fails its self-test"),
        ("not finite", "no direction"),
        ("zero", "no direction"),
        ("too few words", "failed"),
    ],
)
def test_a_ruined_folder_is_one_kind_of_error_that_names_it(tmp_path: Path, fault: str, says: str) -> None:
    folder = tiny_model.write_model(tmp_path / "tiny")
    damage_model(folder, fault)
    with pytest.raises(EmbedError) as caught:
        OnnxEmbedder(folder)
    assert says in str(caught.value)
    assert "tiny" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_threads_may_share_one(model: OnnxEmbedder) -> None:
    texts = ["days of leave", "park the bicycle", "copper heat " * 8]
    want = [model.embed_query(text) for text in texts]
    wrong: list[int] = []

    def embed_repeatedly() -> None:
        wrong.extend(
            i for _ in range(50) for i, text in enumerate(texts) if model.embed_query(text) != want[i]
        )

    threads = [threading.Thread(target=embed_repeatedly) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_the_stand_in_knows_words_and_no_meaning() -> None:
    bag = BagOfTokens()
    question = bag.embed_query("May I park here?")
    same, other = bag.embed_passages(["park here", "leave the vehicle in this place"])
    assert compute_cosine(question, same) > 0.5
    assert abs(compute_cosine(question, other)) < 0.2
    assert bag.embed_query("Park HERE, may i") == pytest.approx(question)


@given(st.text())
def test_the_stand_in_gives_unit_vectors_or_nothing(text: str) -> None:
    length = float(np.linalg.norm(BagOfTokens().embed_query(text)))
    assert length == 0 or length == pytest.approx(1)


def test_nothing_is_kept_or_sent_about_who_embeds(tmp_path: Path) -> None:
    quiet = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    home = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    subprocess.run(
        [sys.executable, "-c", "import indexes.embedding.embedder"], env={**quiet, **home}, check=True
    )
    assert not list(tmp_path.rglob("*"))
