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

from golden.form import (
    REFUSAL_EXPECTATIONS,
    AskedForm,
    ConversationForm,
    DefaultsForm,
    Expectation,
    GoldenForm,
    SingleCaseForm,
)
from golden.lines import LocatedYaml, ValuePath, parse_located_yaml
from proxy.domain.errors import ConfigError
from proxy.domain.types import Turn

F = TypeVar("F", bound=GoldenForm)


@dataclass(frozen=True, slots=True)
class GoldenCase:
    """One question and what must become of it; the fields are explained above."""

    id: str
    question: str
    model: str
    expect: tuple[Expectation, ...]
    location: str = ""
    """`file:line`, for the report."""
    language: str = ""
    history: tuple[Turn, ...] = ()
    previous_id: str = ""
    """Id of the turn before it in a conversation."""
    groups: frozenset[str] | None = None
    """None: the deployment's public groups."""
    at: datetime | None = None
    """Aware; None: now."""
    needs: str = ""
    """`meaning`: to be left out where keywords or a stand-in serve (`select_servable`)."""
    topic: str = ""
    rule: str = ""
    expect_source: tuple[str, ...] = ()
    expect_records: tuple[str, ...] = ()
    contains: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    script: tuple[str, ...] = ()

    @property
    def expects_refusal(self) -> bool:
        """Whether the reader must get a fixed refusal."""
        return set(self.expect) <= REFUSAL_EXPECTATIONS


def load_cases(paths: Iterable[Path]) -> tuple[GoldenCase, ...]:
    """Every case of the files, and of the `*.yaml` below the folders, in order.

    Raises `ConfigError` with all faults at once, `file:line: …` each.
    """
    faults: list[str] = []
    cases: list[GoldenCase] = []
    for file in _iterate_case_files(paths):
        try:
            cases += parse_cases(file.read_text("utf-8"), str(file))
        except ConfigError as fault:
            faults += fault.faults
        except (OSError, UnicodeDecodeError) as fault:
            faults.append(f"{file}: cannot be read: {fault}")
    faults += _find_duplicate_ids(cases)
    if not cases and not faults:
        faults.append("want at least one case, got none: name a file or a folder with *.yaml")
    if faults:
        raise ConfigError(*faults)
    return tuple(cases)


def select_servable(cases: Iterable[GoldenCase], *, has_meaning: bool) -> tuple[GoldenCase, ...]:
    """The cases that can be right: without a model of meaning, those that need one are left out."""
    return tuple(case for case in cases if has_meaning or case.needs != "meaning")


def parse_cases(text: str, name: str) -> list[GoldenCase]:
    """The cases of one file's text; `name` is shown in faults. Raises `ConfigError` with all of them."""
    yaml_file = parse_located_yaml(text, name)
    shared, items, path = _read_case_list(yaml_file)
    cases: list[GoldenCase] = []
    faults: list[str] = []
    for index, item in enumerate(items):
        try:
            cases += _parse_item(item, shared, yaml_file, (*path, index))
        except ConfigError as fault:
            faults += fault.faults
    if faults:
        raise ConfigError(*faults)
    return cases


def _iterate_case_files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            yield from sorted(path.rglob("*.yaml"))
        else:
            yield path


def _find_duplicate_ids(cases: Iterable[GoldenCase]) -> Iterator[str]:
    seen: dict[str, str] = {}
    for case in cases:
        if case.id in seen:
            yield f"{case.location}: id: `{case.id}` stands already at {seen[case.id]}"
        seen.setdefault(case.id, case.location)


def _read_case_list(yaml_file: LocatedYaml) -> tuple[Mapping[str, object], list[object], ValuePath]:
    """What all cases share, the cases, and the path of their list."""
    data, path = yaml_file.data, ValuePath()
    shared: Mapping[str, object] = {}
    if isinstance(data, Mapping):
        if unknown := [str(key) for key in data if key not in ("defaults", "cases")]:
            raise ConfigError(
                yaml_file.format_fault((unknown[0],), "unknown key; want `defaults` and `cases`")
            )
        shared = data.get("defaults", {})
        _validate_form(DefaultsForm, shared, yaml_file, ("defaults",))
        data, path = data.get("cases"), ("cases",)
    if not isinstance(data, list):
        raise ConfigError(yaml_file.format_fault(path, f"want a list of cases, got {type(data).__name__}"))
    return shared, data, path


def _parse_item(
    item: object, shared: Mapping[str, object], yaml_file: LocatedYaml, path: ValuePath
) -> Iterator[GoldenCase]:
    """One case, or one for each turn of a conversation."""
    if not isinstance(item, Mapping):
        raise ConfigError(yaml_file.format_fault(path, f"want a case, got {type(item).__name__}"))
    if "turns" not in item:
        single = _validate_form(SingleCaseForm, {**shared, **item}, yaml_file, path)
        yield _build_case(
            single,
            single.id,
            yaml_file.format_location(path),
            tuple(turn.build_turn() for turn in single.history),
        )
        return
    own = {key: item[key] for key in item if key in DefaultsForm.model_fields}
    conversation = _validate_form(
        ConversationForm, {key: item[key] for key in item if key not in own}, yaml_file, path
    )
    for index, turn in enumerate(conversation.turns):
        turn_path = (*path, "turns", index)
        asked = _validate_form(AskedForm, {**shared, **own, **turn}, yaml_file, turn_path)
        previous_id = f"{conversation.id}/{index}" if index else ""
        yield _build_case(
            asked,
            f"{conversation.id}/{index + 1}",
            yaml_file.format_location(turn_path),
            previous_id=previous_id,
        )


def _build_case(
    asked: AskedForm, id: str, location: str, history: tuple[Turn, ...] = (), *, previous_id: str = ""
) -> GoldenCase:
    return GoldenCase(
        id=id,
        question=asked.question,
        model=asked.model,
        expect=asked.expect,
        location=location,
        language=asked.language,
        history=history,
        previous_id=previous_id,
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


def _validate_form(form: type[F], value: object, yaml_file: LocatedYaml, path: ValuePath) -> F:
    """The value in its form. Raises `ConfigError`, each fault with the line of the value it is about."""
    try:
        return form.model_validate(value)
    except ValidationError as fault:
        raise ConfigError(
            *(yaml_file.format_fault((*path, *e["loc"]), _describe_error(e)) for e in fault.errors())
        ) from fault


def _describe_error(error: ErrorDetails) -> str:
    """What pydantic found, in the words of our own faults."""
    if error["type"] == "extra_forbidden":
        return "unknown key"
    if error["type"] == "missing":
        return "is needed"
    message = error["msg"].removeprefix("Value error, ").replace("Input should be ", "want ")
    got = error["input"]
    return message + (f", got {got!r:.60}" if isinstance(got, str | int | float | bool) else "")
