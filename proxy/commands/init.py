"""`fiador init FOLDER`: a folder that `check`, `sync` and `serve` work in at once."""

from importlib.resources import files
from pathlib import Path

import click

from proxy.domain.errors import ConfigError

SAMPLE_ACCESS = """\
# Who may see what lies below this folder, and from when. The nearest .access.yaml upwards decides;
# a file's own front matter may narrow it. A document for which nothing is stated is not indexed.
rules:
  - path: "**"
    allowed_groups: [public]
    valid_from: 2024-01-01
"""
SAMPLE_DOCUMENT = """\
---
title: Opening hours
url: https://example.org/opening-hours
language: en
---
# Opening hours

The front desk is open from Monday to Friday between 9:00 and 17:30.
On Saturday the front desk closes at 13:00.
Visitors without an appointment wait about 15 minutes.
"""


def write_starter_files(folder: Path) -> None:
    """Writes a configuration and a first document. Raises `ConfigError` rather than write over a file."""
    texts = {
        folder / "fiador.toml": (files("config") / "fiador.toml").read_text("utf-8"),
        folder / "docs" / ".access.yaml": SAMPLE_ACCESS,
        folder / "docs" / "opening-hours.md": SAMPLE_DOCUMENT,
    }
    if existing := [str(path) for path in texts if path.exists()]:
        raise ConfigError(
            *(f"{path}: exists already; `fiador init` writes over nothing" for path in existing)
        )
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    click.echo(f"Written to {folder}. Next:\n  cd {folder}\n  fiador check && fiador sync && fiador serve")


@click.command("init")
@click.argument("folder", type=click.Path(path_type=Path))
def init_command(folder: Path) -> None:
    """Write a commented configuration and a first document."""
    write_starter_files(folder)
