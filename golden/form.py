"""How a case is written: the strict shapes that a golden file's values must fit."""

from datetime import UTC, datetime
from typing import Annotated, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator

from proxy.domain.types import Turn
from proxy.gate.types import RULES

Expect = Literal["answered", "refused", "no_evidence", "not_in_sources", "records", "stopped", "truncated"]
REFUSING = frozenset({"refused", "no_evidence", "not_in_sources"})
"""Expectations under which the reader gets a fixed refusal and nothing else."""


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


Text = Annotated[str, Field(min_length=1)]
Texts = Annotated[tuple[Text, ...], BeforeValidator(_listed)]


class Form(BaseModel):
    """Unknown keys are faults; text stays exactly as written (a script's spaces matter)."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class User(Form):
    groups: frozenset[str]


class Said(Form):
    """One earlier turn: `{user: …}` or `{assistant: …}`."""

    user: str | None = None
    assistant: str | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.user is None) == (self.assistant is None):
            raise ValueError("want either `user` or `assistant`")
        return self

    def turn(self) -> Turn:
        return Turn("user", self.user) if self.user is not None else Turn("assistant", self.assistant or "")


class Shared(Form):
    """What `defaults` and a conversation may say for all their questions."""

    model: str = ""
    language: str = ""
    as_user: User | None = None
    at: datetime | None = None
    needs: Literal["", "meaning"] = ""

    @field_validator("at")
    @classmethod
    def _aware(cls, at: datetime | None) -> datetime | None:
        return at.replace(tzinfo=UTC) if at and at.tzinfo is None else at


class Asked(Shared):
    """A question and what must become of it."""

    question: Text
    expect: Annotated[tuple[Expect, ...], BeforeValidator(_listed), Field(min_length=1)]
    topic: str = ""
    rule: str = ""
    expect_source: Texts = ()
    expect_records: Texts = ()
    expect_answer_contains: Texts = ()
    expect_answer_lacks: Texts = ()
    script: Texts = ()

    @model_validator(mode="after")
    def _fits(self) -> Self:
        wanted = set(self.expect)
        if not self.model:
            raise ValueError("want `model`, here or in `defaults`")
        if self.topic and "refused" not in wanted:
            raise ValueError("`topic` goes with `expect: refused`")
        if self.rule and not wanted & {"stopped", "not_in_sources"}:
            raise ValueError("`rule` goes with `expect: stopped` or `not_in_sources`")
        if self.rule and self.rule not in RULES:
            raise ValueError(f"want a rule of the gate ({', '.join(RULES)}), got {self.rule!r}")
        if wanted <= REFUSING and self.expect_answer_contains:
            raise ValueError("a refusal is a fixed text: `expect_answer_contains` does not go with it")
        return self


class Single(Asked):
    """A case of its own."""

    id: Text
    history: tuple[Said, ...] = ()


class Talk(Form):
    """A conversation; `turns` are read as `Asked` after what is shared has been put into each."""

    id: Text
    turns: Annotated[tuple[dict[str, object], ...], Field(min_length=1)]
