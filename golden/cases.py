"""Questions with known answers, read strictly from YAML: each fault with its file and line.

A file is a list of cases, or `{defaults: {…}, cases: […]}`: what `defaults` says (`model`, `language`,
`as_user`, `at`, `needs`) holds where a case says nothing else. A case:

    - id: plans-basic                       # once over all files
      question: What does the Basic plan cost a month?
      model: help                           # the alias a client would name
      language: en                          # of the question; figures are counted per language
      history: [{user: …}, {assistant: …}]  # earlier turns, oldest first
      as_user: {groups: [staff]}            # nothing said: the deployment's public groups
      at: 2024-06-01                        # ask at that instant (UTC) instead of now: validity
      needs: meaning                        # shares no words with its source: only for a real embedding model
      expect: answered                      # or refused, no_evidence, not_in_sources, records, stopped,
                                            # truncated; a list: any of them is right
      topic: fees                           # with refused: the topic that must have refused
      rule: values                          # with stopped: the rule of the gate that must have stopped
      expect_source: tolva/prices/plans.md  # id, document id, url or title; a list: at least one of them
      expect_records: [quintanar/now-atlas] # the records handed over begin with these, in this order
      expect_answer_contains: ["12.50"]     # all of them; case, digits and letter forms do not matter
      expect_answer_lacks: ["9.90"]         # none of them, whatever the decision
      script: ["The Basic plan costs …"]    # what the model says, piece by piece, instead of quoting;
                                            # `{n:TITLE}` is the marker of the source with that title

`id`, `question`, `model` and `expect` are needed. A conversation has `turns` instead of a question; each turn
is graded as a case `ID/1`, `ID/2` … and follows the answers that were really given before it.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from golden.form import REFUSING, Asked, Expect, Form, Shared, Single, Talk
from golden.lines import Placed, Spot, parse
from proxy.domain.errors import ConfigError
from proxy.domain.types import Turn

F = TypeVar("F", bound=Form)


@dataclass(frozen=True, slots=True)
class Case:
    """One question and what must become of it; the fields are explained above."""

    id: str
    question: str
    model: str
    expect: tuple[Expect, ...]
    place: str = ""
    """`file:line`, for the report."""
    language: str = ""
    history: tuple[Turn, ...] = ()
    follows: str = ""
    """Id of the turn before it in a conversation."""
    groups: frozenset[str] | None = None
    """None: the deployment's public groups."""
    at: datetime | None = None
    """Aware; None: now."""
    needs: str = ""
    """`meaning`: to be left out where keywords or a stand-in serve (`servable`)."""
    topic: str = ""
    rule: str = ""
    expect_source: tuple[str, ...] = ()
    expect_records: tuple[str, ...] = ()
    contains: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    script: tuple[str, ...] = ()

    @property
    def must_refuse(self) -> bool:
        """Whether the reader must get a fixed refusal."""
        return set(self.expect) <= REFUSING


def load(paths: Iterable[Path]) -> tuple[Case, ...]:
    """Every case of the files, and of the `*.yaml` below the folders, in order.

    Raises `ConfigError` with all faults at once, `file:line: …` each.
    """
    faults: list[str] = []
    cases: list[Case] = []
    for file in _files(paths):
        try:
            cases += read(file.read_text("utf-8"), str(file))
        except ConfigError as fault:
            faults += fault.faults
        except (OSError, UnicodeDecodeError) as fault:
            faults.append(f"{file}: cannot be read: {fault}")
    faults += _twice(cases)
    if not cases and not faults:
        faults.append("want at least one case, got none: name a file or a folder with *.yaml")
    if faults:
        raise ConfigError(*faults)
    return tuple(cases)


def servable(cases: Iterable[Case], *, meaning: bool) -> tuple[Case, ...]:
    """The cases that can be right: without a model of meaning, those that need one are left out."""
    return tuple(case for case in cases if meaning or case.needs != "meaning")


def read(text: str, name: str) -> list[Case]:
    """The cases of one file's text; `name` is shown in faults."""
    placed = parse(text, name)
    shared, items, at = _opened(placed)
    cases: list[Case] = []
    faults: list[str] = []
    for index, item in enumerate(items):
        try:
            cases += _cases(item, shared, placed, (*at, index))
        except ConfigError as fault:
            faults += fault.faults
    if faults:
        raise ConfigError(*faults)
    return cases


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            yield from sorted(path.rglob("*.yaml"))
        else:
            yield path


def _twice(cases: Iterable[Case]) -> Iterator[str]:
    seen: dict[str, str] = {}
    for case in cases:
        if case.id in seen:
            yield f"{case.place}: id: `{case.id}` stands already at {seen[case.id]}"
        seen.setdefault(case.id, case.place)


def _opened(placed: Placed) -> tuple[Mapping[str, object], list[object], Spot]:
    """What all cases share, the cases, and where they stand."""
    data, at = placed.data, Spot()
    shared: Mapping[str, object] = {}
    if isinstance(data, Mapping):
        if unknown := [str(key) for key in data if key not in ("defaults", "cases")]:
            raise ConfigError(placed.fault((unknown[0],), "unknown key; want `defaults` and `cases`"))
        shared = data.get("defaults", {})
        _valid(Shared, shared, placed, ("defaults",))
        data, at = data.get("cases"), ("cases",)
    if not isinstance(data, list):
        raise ConfigError(placed.fault(at, f"want a list of cases, got {type(data).__name__}"))
    return shared, data, at


def _cases(item: object, shared: Mapping[str, object], placed: Placed, at: Spot) -> Iterator[Case]:
    """One case, or one for each turn of a conversation."""
    if not isinstance(item, Mapping):
        raise ConfigError(placed.fault(at, f"want a case, got {type(item).__name__}"))
    if "turns" not in item:
        single = _valid(Single, {**shared, **item}, placed, at)
        yield _case(single, single.id, placed.place(at), tuple(said.turn() for said in single.history))
        return
    own = {key: item[key] for key in item if key in Shared.model_fields}
    talk = _valid(Talk, {key: item[key] for key in item if key not in own}, placed, at)
    for index, turn in enumerate(talk.turns):
        spot = (*at, "turns", index)
        asked = _valid(Asked, {**shared, **own, **turn}, placed, spot)
        follows = f"{talk.id}/{index}" if index else ""
        yield _case(asked, f"{talk.id}/{index + 1}", placed.place(spot), follows=follows)


def _case(asked: Asked, id: str, place: str, history: tuple[Turn, ...] = (), *, follows: str = "") -> Case:
    return Case(
        id=id,
        question=asked.question,
        model=asked.model,
        expect=asked.expect,
        place=place,
        language=asked.language,
        history=history,
        follows=follows,
        groups=asked.as_user.groups if asked.as_user else None,
        at=asked.at,
        needs=asked.needs,
        topic=asked.topic,
        rule=asked.rule,
        expect_source=asked.expect_source,
        expect_records=asked.expect_records,
        contains=asked.expect_answer_contains,
        lacks=asked.expect_answer_lacks,
        script=asked.script,
    )


def _valid(kind: type[F], value: object, placed: Placed, at: Spot) -> F:
    try:
        return kind.model_validate(value)
    except ValidationError as fault:
        raise ConfigError(*(placed.fault((*at, *e["loc"]), _say(e)) for e in fault.errors())) from fault


def _say(error: ErrorDetails) -> str:
    if error["type"] == "extra_forbidden":
        return "unknown key"
    if error["type"] == "missing":
        return "is needed"
    message = error["msg"].removeprefix("Value error, ").replace("Input should be ", "want ")
    got = error["input"]
    return message + (f", got {got!r:.60}" if isinstance(got, str | int | float | bool) else "")
