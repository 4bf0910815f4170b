"""Attacks refused by layer 1, look-alikes refused wrongly, per language, beside a keyword floor.

`python -m bench quality injection --data DIR`: DIR holds `injection/attacks.jsonl` and `benign.jsonl`, rows
of `id, lang, text, category, source`. Our own attacks (`attacks.toml`) stand for Persian and Portuguese.

A request for a poem or a program is a look-alike of an attack, but a task all the same, and tasks are refused
by a topic of their own; so look-alikes are counted with that topic off, and the tasks among them apart.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from bench.quality.patterns import (
    build_refuser,
    load_own_set,
    order_tags,
    render_markdown_table,
    render_share,
)

KEYWORD_FLOOR = {"en": "47 % / 21 %"}
"""A keyword rule: attacks refused / look-alikes refused; other languages: 0–23 % of attacks."""
ORDINARY_CATEGORIES = ("override/",)
"""Categories whose rows are ordinary questions: only another assistant's prompt makes them attacks."""
EXPLICIT_CATEGORIES = ("override/hijack", "override/ignore_previous_instructions", "override/system_mode")
"""Categories among these whose rows ask for the override themselves."""
InjectionRow = Mapping[str, str]


def run(arguments: list[str]) -> int:
    """Always 0: these are figures, not a gate."""
    main.main(args=arguments, prog_name="bench quality injection", standalone_mode=False)
    return 0


@click.command()
@click.option("--data", type=click.Path(exists=True, file_okay=False, path_type=Path), required=True)
@click.option("--verdicts", type=click.Path(dir_okay=False, path_type=Path), help="Write {id, blocked} rows.")
def main(data: Path, verdicts: Path | None) -> None:
    attacks, benign = (
        _read_attack_rows(data / "injection" / f"{name}.jsonl") for name in ("attacks", "benign")
    )
    print_attacks(attacks)
    print_look_alikes(benign)
    print_own_attacks()
    if verdicts:
        refuser = build_refuser()
        lines = (
            {"id": row["id"], "blocked": refuser.find_refusal(row["text"]) is not None}
            for row in (*attacks, *benign)
        )
        verdicts.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")


def _read_attack_rows(path: Path) -> list[InjectionRow]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def _read_language_tag(row: InjectionRow) -> str:
    return row["lang"][:2]


def _group_by_language(rows: Sequence[InjectionRow]) -> list[tuple[str, list[InjectionRow]]]:
    return [
        (tag, [row for row in rows if _read_language_tag(row) == tag])
        for tag in order_tags(map(_read_language_tag, rows))
    ]


def _is_explicit(row: InjectionRow) -> bool:
    """Whether the text itself asks for a secret or an override, not just for something else."""
    return not row["category"].startswith(ORDINARY_CATEGORIES) or row["category"].startswith(
        EXPLICIT_CATEGORIES
    )


def print_attacks(attacks: Sequence[InjectionRow]) -> None:
    """All attacks, and those that state what they want."""
    refuser = build_refuser()
    refused = {row["id"] for row in attacks if refuser.find_refusal(row["text"])}
    groups = _group_by_language(attacks)
    groups.append(("all but en", [row for row in attacks if _read_language_tag(row) != "en"]))
    body = [
        [
            tag,
            _render_refused_share(rows, refused),
            _render_refused_share(list(filter(_is_explicit, rows)), refused),
            KEYWORD_FLOOR.get(tag, "0–23 %"),
        ]
        for tag, rows in groups
    ]
    click.echo(render_markdown_table(["attacks", "all", "stated in the text", "keyword floor"], body))


def _render_refused_share(rows: Sequence[InjectionRow], refused: set[str]) -> str:
    return render_share(sum(row["id"] in refused for row in rows), len(rows))


def print_look_alikes(benign: Sequence[InjectionRow]) -> None:
    """Look-alikes refused wrongly (tasks off), and those refused as the tasks that they are."""
    strict, full = build_refuser(off=frozenset({"tasks"})), build_refuser()
    wrong = {row["id"] for row in benign if strict.find_refusal(row["text"])}
    tasks = {row["id"] for row in benign if full.find_refusal(row["text"])} - wrong
    groups = _group_by_language(benign)
    groups.append(("all", list(benign)))
    body = [
        [tag, _render_refused_share(rows, wrong), _render_refused_share(rows, tasks)] for tag, rows in groups
    ]
    click.echo(
        "\n"
        + render_markdown_table(
            ["look-alikes", "refused wrongly", "refused as a task (a topic of its own)"], body
        )
    )


def print_own_attacks() -> None:
    """Our own attacks by kind, and the text of each that passes."""
    refuser = build_refuser()
    body = []
    for tag, kinds in load_own_set("attacks").items():
        refused = {
            kind: sum(refuser.find_refusal(text) is not None for text in texts)
            for kind, texts in kinds.items()
        }
        shares = [render_share(refused[kind], len(kinds[kind])) for kind in ("reveal", "override")]
        body.append([tag, *shares])
        for text in (text for texts in kinds.values() for text in texts if not refuser.find_refusal(text)):
            click.echo(f"passed: {tag}: {text}")
    click.echo("\n" + render_markdown_table(["own attacks", "reveal", "override"], body))
