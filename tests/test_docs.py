"""Documents cannot drift: settings, commands, decisions, rules are described; paths that are named exist."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from pydantic import BaseModel

from proxy.commands.root import COMMANDS, main
from proxy.domain.types import Decision
from proxy.gate.types import GateRule
from proxy.guards import prompt
from proxy.settings import tree
from proxy.settings.load import load_settings

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")
COMMENTED = (ROOT / "config" / "fiador.toml").read_text("utf-8")
WHOLE = re.sub(r"(?m)^#(?=[a-z\[])", "", COMMENTED)
"""The commented file with every setting switched on."""


def iterate_settings(model: type[BaseModel], at: str = "") -> Iterator[tuple[str, Any]]:
    """Every setting below a section as (dotted name, default); names of one's own choosing read `*`."""
    for name, field in model.model_fields.items():
        here, kind = f"{at}{name}", field.annotation
        inner = [m for m in find_sections(kind) if m is not model]
        if not inner:
            yield here, field.default
        for section in inner:
            yield from iterate_settings(section, f"{here}.{'*.' if 'dict' in str(kind) else ''}")


def find_sections(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [found for inner in getattr(annotation, "__args__", ()) for found in find_sections(inner)]


def iterate_table_keys(table: dict[str, Any], at: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        yield f"{at}{key}", value
        if isinstance(value, dict):
            yield from iterate_table_keys(value, f"{at}{key}.")
            yield from iterate_table_keys(dict.fromkeys(["*"], value) if at == "" else {}, f"{at}{key}.")
            for inner in value.values():
                if isinstance(inner, dict):
                    yield from iterate_table_keys(inner, f"{at}{key}.*.")


SETTINGS = dict(iterate_settings(tree.Settings))
SHOWN = dict(iterate_table_keys(tomllib.loads(WHOLE)))


@pytest.mark.parametrize("name", sorted(SETTINGS))
def test_every_setting_stands_in_the_commented_file(name: str) -> None:
    assert name in SHOWN


def test_the_commented_file_is_valid_as_it_stands_and_with_everything_switched_on(tmp_path: Path) -> None:
    for text in (COMMENTED, WHOLE):
        (tmp_path / "fiador.toml").write_text(text, "utf-8")
        assert load_settings(tmp_path / "fiador.toml").models


@pytest.mark.parametrize("name", ["server", "limits", "embedding", "ledger", "log"])
def test_the_commented_file_shows_the_defaults(name: str) -> None:
    section = tree.Settings.model_fields[name].default
    for key, value in tomllib.loads(WHOLE)[name].items():
        default = getattr(section, key, None)
        if default is not None and not isinstance(value, dict):
            assert value == (
                str(default)
                if isinstance(default, Path)
                else list(default)
                if isinstance(default, tuple)
                else default
            )


def iterate_subcommands(group: click.Group) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield name, command


def iterate_commands(group: click.Group) -> Iterator[str]:
    for name, command in iterate_subcommands(group):
        yield name
        if isinstance(command, click.Group):
            yield from (f"{name} {inner}" for inner, _ in iterate_subcommands(command))


@pytest.mark.parametrize("command", sorted(iterate_commands(main)))
def test_every_command_is_in_the_readme(command: str) -> None:
    assert f"fiador {command}" in README or f"`{command.split()[-1]}`" in README


def iterate_groups(group: click.Group) -> Iterator[click.Group]:
    yield group
    for _, command in iterate_subcommands(group):
        if isinstance(command, click.Group):
            yield from iterate_groups(command)


@pytest.mark.parametrize("group", list(iterate_groups(main)), ids=lambda group: group.name)
def test_the_list_of_commands_says_of_each_what_it_does_in_a_whole_sentence(group: click.Group) -> None:
    told = CliRunner().invoke(group, ["--help"]).output.partition("Commands:")[2]
    assert told
    assert "..." not in told


@pytest.mark.parametrize(("name", "command"), list(iterate_subcommands(main)))
def test_the_roof_says_of_each_command_what_the_command_says_itself(
    name: str, command: click.Command
) -> None:
    assert COMMANDS[name] == command.get_short_help_str(limit=100)


@pytest.mark.parametrize("decision", list(Decision))
def test_every_decision_is_in_the_readme(decision: Decision) -> None:
    assert f"`{decision}`" in README


@pytest.mark.parametrize("rule", GateRule)
def test_every_rule_of_the_gate_is_in_the_readme(rule: str) -> None:
    assert f"`{rule}`" in README


@pytest.mark.parametrize("rule", prompt.RULES, ids=lambda rule: rule.id)
def test_every_rule_of_the_prompt_stands_beside_its_twins_in_the_readme(rule: prompt.PromptRule) -> None:
    row = next((line for line in README.splitlines() if line.startswith(f"| {rule.id} ")), "")
    assert row, f"no row for {rule.id}"
    assert all(f"`{twin}`" in row for twin in rule.gate_rules)
    assert rule.gate_rules or "none" in row


@pytest.mark.parametrize("document", ["README.md", "bench/README.md", "CHANGELOG.md"])
def test_every_path_named_in_a_document_exists(document: str) -> None:
    text = (ROOT / document).read_text("utf-8")
    tops = "proxy|indexes|config|golden|tests|bench"
    for path in re.findall(rf"`((?:{tops})/[\w./-]*)`", text):
        assert (ROOT / path).exists(), path
