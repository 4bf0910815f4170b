"""How a case is written: the strict shapes that a golden file's values must fit."""

from datetime import UTC, datetime
from typing import Annotated, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator

from proxy.domain.types import Turn
from proxy.gate.types import GateRule

Expectation = Literal[
    "answered", "refused", "no_evidence", "not_in_sources", "records", "stopped", "truncated"
]
REFUSAL_EXPECTATIONS = frozenset({"refused", "no_evidence", "not_in_sources"})
"""Expectations under which the reader gets a fixed refusal and nothing else."""


def _wrap_text(value: object) -> object:
    """A single text stands for a list of one."""
    return [value] if isinstance(value, str) else value


CaseText = Annotated[str, Field(min_length=1)]
CaseTexts = Annotated[tuple[CaseText, ...], BeforeValidator(_wrap_text)]


class GoldenForm(BaseModel):
    """Unknown keys are faults; text stays exactly as written (a script's spaces matter)."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class UserForm(GoldenForm):
    """As whom a question is asked."""

    groups: frozenset[str]


class TurnForm(GoldenForm):
    """One earlier turn: `{user: …}` or `{assistant: …}`."""

    user: str | None = None
    assistant: str | None = None

    @model_validator(mode="after")
    def _require_one_speaker(self) -> Self:
        if (self.user is None) == (self.assistant is None):
            raise ValueError("want either `user` or `assistant`")
        return self

    def build_turn(self) -> Turn:
        return Turn("user", self.user) if self.user is not None else Turn("assistant", self.assistant or "")


class DefaultsForm(GoldenForm):
    """What `defaults` and a conversation may say for all their questions."""

    model: str = ""
    language: str = ""
    as_user: UserForm | None = None
    at: datetime | None = None
    needs: Literal["", "meaning"] = ""

    @field_validator("at")
    @classmethod
    def _assume_utc(cls, at: datetime | None) -> datetime | None:
        return at.replace(tzinfo=UTC) if at and at.tzinfo is None else at


class AskedForm(DefaultsForm):
    """A question and what must become of it."""

    question: CaseText
    expect: Annotated[tuple[Expectation, ...], BeforeValidator(_wrap_text), Field(min_length=1)]
    topic: str = ""
    rule: str = ""
    expect_source: CaseTexts = ()
    expect_records: CaseTexts = ()
    expect_answer_contains: CaseTexts = ()
    expect_answer_lacks: CaseTexts = ()
    script: CaseTexts = ()

    @model_validator(mode="after")
    def _check_combination(self) -> Self:
        wanted = set(self.expect)
        if not self.model:
            raise ValueError("want `model`, here or in `defaults`")
        if self.topic and "refused" not in wanted:
            raise ValueError("`topic` goes with `expect: refused`")
        if self.rule and not wanted & {"stopped", "not_in_sources"}:
            raise ValueError("`rule` goes with `expect: stopped` or `not_in_sources`")
        if self.rule and self.rule not in set(GateRule):
            raise ValueError(f"want a rule of the gate ({', '.join(GateRule)}), got {self.rule!r}")
        if wanted <= REFUSAL_EXPECTATIONS and self.expect_answer_contains:
            raise ValueError("a refusal is a fixed text: `expect_answer_contains` does not go with it")
        return self


class SingleCaseForm(AskedForm):
    """A case of its own."""

    id: CaseText
    history: tuple[TurnForm, ...] = ()


class ConversationForm(GoldenForm):
    """A conversation; `turns` are read as `AskedForm` after what is shared has been put into each."""

    id: CaseText
    turns: Annotated[tuple[dict[str, object], ...], Field(min_length=1)]
