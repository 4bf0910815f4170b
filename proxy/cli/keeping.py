"""`fiador backup` and `fiador restore`: what cannot be made again."""

from pathlib import Path

import click

from proxy.cli.base import main, settings_of, wait

FILE = click.argument("file", type=click.Path(path_type=Path, dir_okay=False))


@main.command()
@FILE
@click.pass_context
def backup(context: click.Context, file: Path) -> None:
    """Copy index, books, keys and decisions into FILE.

    Also while it serves; nothing is written over.
    """
    from proxy.commands import keeping

    click.echo(f"written: {file} ({', '.join(keeping.backup(settings_of(context), file))})")


@main.command()
@FILE
@click.pass_context
def restore(context: click.Context, file: Path) -> None:
    """Put a backup back into an empty data folder."""
    from proxy.commands import keeping

    names = wait(keeping.restore(settings_of(context), file))
    click.echo(f"restored: {', '.join(names)}; `fiador check` says what there is")
