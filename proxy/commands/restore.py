"""`fiador restore FILE`: what a backup holds, put back into a data folder that has none of it."""

from pathlib import Path

import click

from proxy.commands.backup import restore_backup
from proxy.commands.root import load_context_settings, run_coroutine


@click.command("restore")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.pass_context
def restore_command(context: click.Context, file: Path) -> None:
    """Put a backup back into an empty data folder."""
    names = run_coroutine(restore_backup(load_context_settings(context), file))
    click.echo(f"restored: {', '.join(names)}; `fiador check` says what there is")
