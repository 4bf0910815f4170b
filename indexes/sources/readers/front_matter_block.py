"""Front matter: YAML between two lines of `---` at the very start of a file."""

from dataclasses import dataclass

from indexes.sources.strict_yaml import Bad, Table, load

FENCE = "---"


@dataclass(frozen=True, slots=True)
class Parts:
    """A file's text, taken apart; `front` None: it has no front matter."""

    front: Table | None
    body: str


def split(text: str) -> Parts:
    """Raises `Bad` where the front matter is not closed or no YAML mapping."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    if lines[0].rstrip() != FENCE:
        return Parts(None, text)
    end = next((i for i, line in enumerate(lines) if i and line.rstrip() in (FENCE, "...")), None)
    if end is None:
        raise Bad(1, f"the front matter is not closed by a line of {FENCE}")
    return Parts(load("\n".join(lines[1:end]), skipped=1), "\n".join(lines[end + 1 :]))
