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

from bench.quality.patterns import ordered, own, refuser, share, table

FLOOR = {"en": "47 % / 21 %"}
"""A keyword rule: attacks refused / look-alikes refused; 0–23 % of attacks in other languages."""
PLAIN = ("override/",)
"""Categories whose rows are ordinary questions: only another assistant's prompt makes them attacks."""
TOLD = ("override/hijack", "override/ignore_previous_instructions", "override/system_mode")
Row = Mapping[str, str]


def run(arguments: list[str]) -> int:
    """Always 0: these are figures, not a gate."""
    main.main(args=arguments, prog_name="bench quality injection", standalone_mode=False)
    return 0


@click.command()
@click.option("--data", type=click.Path(exists=True, file_okay=False, path_type=Path), required=True)
@click.option("--verdicts", type=click.Path(dir_okay=False, path_type=Path), help="Write {id, blocked} rows.")
def main(data: Path, verdicts: Path | None) -> None:
    attacks, benign = (_rows(data / "injection" / f"{name}.jsonl") for name in ("attacks", "benign"))
    attack_tables(attacks)
    look_alikes(benign)
    own_attacks()
    if verdicts:
        guard = refuser()
        lines = (
            {"id": r["id"], "blocked": guard.find_refusal(r["text"]) is not None} for r in (*attacks, *benign)
        )
        verdicts.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")


def _rows(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def _tag(row: Row) -> str:
    return row["lang"][:2]


def _stated(row: Row) -> bool:
    """Whether the text itself asks for a secret or an override, not just for something else."""
    return not row["category"].startswith(PLAIN) or row["category"].startswith(TOLD)


def attack_tables(attacks: Sequence[Row]) -> None:
    """All attacks, and those that state what they want."""
    guard = refuser()
    refused = {row["id"] for row in attacks if guard.find_refusal(row["text"])}
    groups = [(tag, [row for row in attacks if _tag(row) == tag]) for tag in ordered(map(_tag, attacks))]
    groups.append(("all but en", [row for row in attacks if _tag(row) != "en"]))
    body = [
        [tag, _share(rows, refused), _share(list(filter(_stated, rows)), refused), FLOOR.get(tag, "0–23 %")]
        for tag, rows in groups
    ]
    click.echo(table(["attacks", "all", "stated in the text", "keyword floor"], body))


def _share(rows: Sequence[Row], refused: set[str]) -> str:
    return share(sum(row["id"] in refused for row in rows), len(rows))


def look_alikes(benign: Sequence[Row]) -> None:
    """Refused wrongly (tasks off), and refused as the tasks that they are."""
    strict, full = refuser(off=frozenset({"tasks"})), refuser()
    wrong = {row["id"] for row in benign if strict.find_refusal(row["text"])}
    tasks = {row["id"] for row in benign if full.find_refusal(row["text"])} - wrong
    groups = [(tag, [row for row in benign if _tag(row) == tag]) for tag in ordered(map(_tag, benign))]
    groups.append(("all", list(benign)))
    body = [[tag, _share(rows, wrong), _share(rows, tasks)] for tag, rows in groups]
    click.echo(
        "\n" + table(["look-alikes", "refused wrongly", "refused as a task (a topic of its own)"], body)
    )


def own_attacks() -> None:
    """Persian and Portuguese, in our own words."""
    guard = refuser()
    body = []
    for tag, kinds in own("attacks").items():
        hits = {
            kind: sum(guard.find_refusal(text) is not None for text in texts) for kind, texts in kinds.items()
        }
        body.append([tag, *(share(hits[kind], len(kinds[kind])) for kind in ("reveal", "override"))])
        for text in (text for texts in kinds.values() for text in texts if not guard.find_refusal(text)):
            click.echo(f"passed: {tag}: {text}")
    click.echo("\n" + table(["own attacks", "reveal", "override"], body))
