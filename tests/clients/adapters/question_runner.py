"""What the Python adapters share: the questions from the environment, one printed row for each."""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace

URL = os.environ["FIADOR_URL"]


@dataclass
class ClientQuestion:
    """What to ask."""

    model: str
    key: str
    question: str

    @property
    def messages(self) -> list[dict[str, str]]:
        return [{"role": "user", "content": self.question}]


@dataclass
class ShownAnswer:
    """What a person would see."""

    text: str = ""
    finish: str | None = None
    usage: list[int] | None = field(default=None)


def read_token_counts(
    usage: object, prompt: str = "prompt_tokens", completion: str = "completion_tokens"
) -> list[int] | None:
    """The two counts of a usage object or dict."""
    found = SimpleNamespace(**usage) if isinstance(usage, dict) else usage
    return None if found is None else [getattr(found, prompt), getattr(found, completion)]


def answer_questions(version: str, modes: dict[str, Callable[[ClientQuestion], ShownAnswer]]) -> None:
    """Every question in every mode; an exception is a row as well."""
    for name, fields in json.loads(os.environ["FIADOR_QUESTIONS"]).items():
        for mode, function in modes.items():
            shown, error = ShownAnswer(), ""
            try:
                shown = function(ClientQuestion(**fields))
            except Exception as fault:
                error = f"{type(fault).__name__}: {fault}"
            row = {"version": version, "question": name, "mode": mode, "error": error}
            print("row", json.dumps(row | vars(shown)), flush=True)
