"""Language packs: `config/languages/<tag>/*.toml` → the values that guards and indexes work with.

One folder a language, one file a reader: `words.toml` (detection, stop words), `texts.toml` (fixed texts),
`sentences.toml`, `values.toml`, `voice.toml` (the gate's parts of the same names), `refuse.toml` (topics,
overview, follow-ups). Each file is checked strictly against the dataclass of the module that reads it.
"""

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from proxy.domain.errors import ConfigError

LANGUAGE_TAGS = ("en", "fa", "es", "pt", "fr", "de", "ru", "ar", "hi", "zh")

T = TypeVar("T")


def find_pack_folder() -> Traversable:
    """Where the packs lie, in a checkout and in an installed wheel alike."""
    return files("config") / "languages"


def load_pack(tag: str, name: str, kind: type[T]) -> T:
    """One file of one pack as its dataclass. Raises `ConfigError` naming file, key and what was wanted."""
    path = find_pack_folder() / tag / f"{name}.toml"
    try:
        data = tomllib.loads(path.read_text("utf-8"))
        return TypeAdapter(kind).validate_python(data)
    except (OSError, tomllib.TOMLDecodeError) as fault:
        raise ConfigError(f"{path}: {fault}") from fault
    except ValidationError as fault:
        raise ConfigError(
            *(
                f"{path}: {'.'.join(map(str, e['loc']))}: {e['msg']}, got {e['input']!r:.80}"
                for e in fault.errors()
            )
        ) from fault


def load_packs(name: str, kind: type[T], tags: tuple[str, ...] = LANGUAGE_TAGS) -> Mapping[str, T]:
    """The same file of every pack, by tag."""
    return {tag: load_pack(tag, name, kind) for tag in tags}
