"""threshold.lock.toml: calibrated thresholds, and what they were measured on. Lies beside fiador.toml.

`fiador calibrate --write` writes it. An explicit `threshold` in the settings wins over it, with a warning;
a lock of another embedding model says nothing about this one and must not be used (`ThresholdLock.model` is
an `Embedder.name`).
"""

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path

from pydantic import Field, ValidationError

from proxy.domain.errors import ConfigError
from proxy.settings.tree import Fraction, Section, Settings

LOCK_FILE_NAME = "threshold.lock.toml"


class CalibratedThreshold(Section):
    """One threshold, and how many questions of each kind stand behind it."""

    threshold: Fraction
    answerable: int = Field(ge=0)
    unanswerable: int = Field(ge=0)


class AssistantLock(Section):
    """Thresholds of one assistant: over all languages, and per language where one could be found."""

    every: CalibratedThreshold | None = None
    languages: dict[str, CalibratedThreshold] = Field(default_factory=dict)


class ThresholdLock(Section):
    """The whole file. `model` is "" where keywords alone were measured; `date` is ISO 8601."""

    model: str
    generation: str
    date: str
    rule: str
    assistants: dict[str, AssistantLock] = Field(default_factory=dict)

    def find_threshold(self, assistant: str, language: str) -> float | None:
        """The calibrated value for questions in `language`; None where nothing could be calibrated."""
        own = self.assistants.get(assistant, AssistantLock())
        calibrated = own.languages.get(language) or own.every
        return calibrated.threshold if calibrated else None


def read_lock(path: Path) -> ThresholdLock | None:
    """The lock at `path`; None if there is none. Raises `ConfigError` for one that cannot be used."""
    try:
        return ThresholdLock.model_validate(tomllib.loads(path.read_text("utf-8")))
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as fault:
        raise ConfigError(f"{path}: cannot be read: {fault}") from fault
    except ValidationError as fault:
        faults = (f"{path}: {'.'.join(map(str, e['loc']))}: {e['msg']}" for e in fault.errors())
        raise ConfigError(*faults) from fault


def list_lock_warnings(lock: ThresholdLock | None, settings: Settings, model: str) -> Iterator[str]:
    """Where a lock has no say: measured with another model than `model`, or under an explicit setting."""
    if lock is None:
        return
    if lock.model != model:
        yield (
            f"{LOCK_FILE_NAME} was measured with {lock.model or 'keywords alone'} and is not used: "
            "`fiador calibrate SET… --write` measures with what serves now"
        )
        return
    for name, assistant in settings.assistants.items():
        own = lock.assistants.get(name, AssistantLock())
        values = [entry.threshold for entry in (own.every, *own.languages.values()) if entry]
        if assistant.threshold is not None and values:
            span = " to ".join(f"{value:g}" for value in sorted({min(values), max(values)}))
            yield f"assistants.{name}.threshold: {assistant.threshold:g} wins over the calibrated {span}"
        for tag, value in assistant.thresholds.items():
            if (calibrated := lock.find_threshold(name, tag)) is not None:
                yield f"assistants.{name}.thresholds.{tag}: {value:g} wins over the calibrated {calibrated:g}"


def render_lock(lock: ThresholdLock) -> str:
    """The file's text; `read_lock` of it gives the same lock."""
    lines = ["# Calibrated thresholds, written by `fiador calibrate --write`; read beside fiador.toml."]
    lines += [
        f"{key} = {_quote_string(getattr(lock, key))}" for key in ("model", "generation", "date", "rule")
    ]
    for name, own in lock.assistants.items():
        lines += ["", f"[assistants.{_quote_string(name)}]"]
        tables = {"every": own.every} if own.every else {}
        tables |= {f"languages.{_quote_string(tag)}": entry for tag, entry in own.languages.items()}
        for section, entry in tables.items():
            lines += ["", f"[assistants.{_quote_string(name)}.{section}]"]
            lines += [f"{key} = {figure}" for key, figure in entry.model_dump().items()]
    return "\n".join(lines) + "\n"


def _quote_string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)  # JSON's strings are TOML's, but for U+007F
