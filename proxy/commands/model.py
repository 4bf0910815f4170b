"""`fiador model`: the default embedding model, built once; everything works by keywords without it."""

import sys

import click
from rich.console import Console
from rich.markup import escape

from indexes.embedding import default_model, model
from indexes.progress import show_progress


def ensure_model(out: Console) -> bool:
    """Builds the model unless it is there. False, and said so, where it cannot be had."""
    try:
        with show_progress() as bar:
            default_model.ensure_default_model(bar)
    except model.ModelError as fault:
        message = f"No embedding model: {escape(str(fault))}.\nKeywords alone serve; the threshold stays."
        out.print(f"[yellow]{message}[/]", soft_wrap=True)
        return False
    return True


@click.command("model")
def model_command() -> None:
    """Build the default embedding model, once.

    91 MB to load; says where it is.
    """
    if not ensure_model(Console()):
        sys.exit(1)
    click.echo(f"built: {model.locate_default_model()}")
