"""`fiador model`: the default embedding model, built once; everything works by keywords without it."""

from rich.console import Console
from rich.markup import escape

from indexes import model
from indexes.progress import shown


def ensure(out: Console) -> bool:
    """Builds the model unless it is there. False, and said so, where it cannot be had."""
    try:
        with shown() as bar:
            model.ensure(bar)
    except model.ModelError as fault:
        told = f"No embedding model: {escape(str(fault))}.\nKeywords alone serve; the threshold stays."
        out.print(f"[yellow]{told}[/]", soft_wrap=True)
        return False
    return True
