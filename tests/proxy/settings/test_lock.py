"""The lock of calibrated thresholds: written and read back the same, refused when it cannot be used."""

from pathlib import Path

import pytest

from proxy.domain.errors import ConfigError
from proxy.settings.lock import (
    AssistantLock,
    CalibratedThreshold,
    ThresholdLock,
    list_lock_warnings,
    read_lock,
    render_lock,
)
from proxy.settings.tree import Settings

LOCK = ThresholdLock(
    model='e5 "small" sha256:ab',
    generation="7",
    date="2026-11-30",
    rule="middle of the gap",
    assistants={
        "help": AssistantLock(
            every=CalibratedThreshold(threshold=0.41, answerable=50, unanswerable=20),
            languages={"es": CalibratedThreshold(threshold=0.44, answerable=10, unanswerable=5)},
        ),
        "no.one": AssistantLock(),
    },
)


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "threshold.lock.toml"
    path.write_text(render_lock(LOCK), "utf-8")
    assert read_lock(path) == LOCK


def test_a_lock_in_which_nothing_was_found_is_read_back_too(tmp_path: Path) -> None:
    path = tmp_path / "threshold.lock.toml"
    empty = LOCK.model_copy(update={"assistants": {}})
    path.write_text(render_lock(empty), "utf-8")
    assert read_lock(path) == empty


def test_a_language_of_its_own_comes_before_all_languages() -> None:
    assert LOCK.find_threshold("help", "es") == 0.44
    assert LOCK.find_threshold("help", "fr") == 0.41


def test_what_was_not_calibrated_has_no_threshold() -> None:
    assert LOCK.find_threshold("no.one", "en") is None
    assert LOCK.find_threshold("stranger", "en") is None


def test_no_file_is_no_lock(tmp_path: Path) -> None:
    assert read_lock(tmp_path / "threshold.lock.toml") is None


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [("0.41", "1.41", "every.threshold"), ("date", "day", "day"), ("[", "[[[", "cannot be read")],
)
def test_a_lock_that_cannot_be_used_says_where(tmp_path: Path, old: str, new: str, said: str) -> None:
    path = tmp_path / "threshold.lock.toml"
    path.write_text(render_lock(LOCK).replace(old, new), "utf-8")
    with pytest.raises(ConfigError, match=said):
        read_lock(path)


def make_settings(**assistant: object) -> Settings:
    return Settings.model_validate({"assistants": {"help": assistant}, "upstreams": {}, "models": {}})


@pytest.mark.parametrize(
    ("assistant", "said"),
    [
        ({}, []),
        ({"threshold": 0.5}, ["assistants.help.threshold: 0.5 wins over the calibrated 0.41 to 0.44"]),
        ({"thresholds": {"es": 0.3}}, ["assistants.help.thresholds.es: 0.3 wins over the calibrated 0.44"]),
    ],
)
def test_an_explicit_setting_wins_with_a_warning(assistant: dict[str, object], said: list[str]) -> None:
    assert list(list_lock_warnings(LOCK, make_settings(**assistant), LOCK.model)) == said


def test_a_lock_of_another_model_has_no_say_and_that_is_told() -> None:
    told = list(list_lock_warnings(LOCK, make_settings(threshold=0.5), ""))
    assert len(told) == 1
    assert f"was measured with {LOCK.model} and is not used" in told[0]


def test_without_a_lock_there_is_nothing_to_tell() -> None:
    assert not list(list_lock_warnings(None, make_settings(threshold=0.5), ""))
