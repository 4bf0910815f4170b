"""Front matter: YAML between two lines of `---` at the very start of a file."""

from dataclasses import dataclass

from indexes.sources.strict_yaml import YamlFault, YamlTable, load_table

FENCE = "---"


@dataclass(frozen=True, slots=True)
class FileParts:
    """A file's text, taken apart; `front_matter` None: it has no front matter."""

    front_matter: YamlTable | None
    body: str


def split_front_matter(text: str) -> FileParts:
    """Raises `YamlFault` where the front matter is not closed or no YAML mapping."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    if lines[0].rstrip() != FENCE:
        return FileParts(None, text)
    end = next((i for i, line in enumerate(lines) if i and line.rstrip() in (FENCE, "...")), None)
    if end is None:
        raise YamlFault(1, f"the front matter is not closed by a line of {FENCE}")
    return FileParts(load_table("\n".join(lines[1:end]), line_offset=1), "\n".join(lines[end + 1 :]))
