"""`fiador model`: the default embedding model, built once; everything works by keywords without it."""

from rich.console import Console

from indexes import model
from indexes.progress import shown


def ensure(out: Console) -> bool:
    """Builds the model unless it is there. False, and said so, where it cannot be had."""
    try:
        with shown() as bar:
            model.ensure(bar)
    except model.ModelError as fault:
        out.print(f"[yellow]No embedding model: {fault}\nKeywords alone serve; the threshold stays.[/]")
        return False
    return True
