"""fiador.toml → `Settings`: strict, all faults at once, relative paths from the file's folder."""

import tomllib
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from proxy.domain.errors import ConfigError
from proxy.guards.fixed_texts import list_text_keys
from proxy.guards.refusal.pack import TOPICS
from proxy.settings.languages import LANGUAGE_TAGS
from proxy.settings.tree import FolderSourceSettings, JwtAuthSettings, Section, Settings, UpstreamSettings

LOOPBACK = ("127.0.0.1", "::1", "localhost")
WEB_SCHEMES = ("http://", "https://")


def load_settings(path: Path, *, data_dir: Path | None = None) -> Settings:
    """The settings of one file, over another `data_dir` if one is given.

    Raises `ConfigError` with every fault found, one line each.
    """
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError as fault:
        raise ConfigError(f"{path}: no such file; `fiador init DIR` writes one to start from") from fault
    except (OSError, UnicodeDecodeError) as fault:
        raise ConfigError(f"{path}: cannot be read: {fault}") from fault
    except tomllib.TOMLDecodeError as fault:
        raise ConfigError(f"{path}: not TOML: {fault}") from fault
    try:
        settings = Settings.model_validate(data)
    except ValidationError as fault:
        raise ConfigError(*(f"{path}: {_format_fault(error, data)}" for error in fault.errors())) from fault
    if faults := [f"{path}: {line}" for line in _check_settings(settings)]:
        raise ConfigError(*faults)
    settings = _resolve_relative_paths(settings, path.resolve().parent)
    if data_dir is not None:
        server = settings.server.model_copy(update={"data_dir": data_dir.resolve()})
        settings = settings.model_copy(update={"server": server})
    return settings


def _format_fault(error: ErrorDetails, data: Mapping[str, Any]) -> str:
    location = ".".join(str(part) for part in error["loc"])
    if error["type"] == "extra_forbidden":
        near = get_close_matches(str(error["loc"][-1]), _list_setting_names(error["loc"]), n=1)
        return f"{location}: unknown setting" + (f"; did you mean `{near[0]}`?" if near else "")
    if error["type"] == "missing":
        return f"{location}: want a value, got nothing"
    return f"{location}: want {_format_expectation(error)}, got {_format_input(error)}"


def _format_expectation(error: ErrorDetails) -> str:
    message = error["msg"].removeprefix("Input should be ").removeprefix("Value error, ")
    return message[:1].lower() + message[1:]


def _format_input(error: ErrorDetails) -> str:
    """The value at fault; never a table, which may hold what nobody should read in a log."""
    value = error["input"]
    return f"{value!r:.60}" if isinstance(value, str | int | float | bool) else type(value).__name__


def _list_setting_names(location: tuple[int | str, ...]) -> list[str]:
    """Names of the settings that may stand where the last part of `location` stands."""
    model: Any = Settings
    for part in location[:-1]:
        fields = getattr(model, "model_fields", {})
        if part in fields:
            model = _find_section(fields[part].annotation)
    return list(getattr(model, "model_fields", {}))


def _find_section(annotation: Any) -> Any:
    """The section inside an annotation such as `dict[Name, ModelSettings]` or `JwtAuthSettings | None`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for inner in getattr(annotation, "__args__", ()):
        if (section := _find_section(inner)) is not None:
            return section
    return None


def _check_settings(settings: Settings) -> Iterator[str]:
    """Faults between settings: dangling names, and what one choice demands of another."""
    yield from _check_assistants(settings)
    yield from _check_models(settings)
    yield from _check_links(settings)
    for name, upstream in settings.upstreams.items():
        yield from _check_upstream(f"upstreams.{name}", upstream)
    yield from _check_auth(settings)
    for table in ("assistants", "upstreams", "models"):
        if not getattr(settings, table):
            yield f"{table}: want at least one, got none"


def _check_assistants(settings: Settings) -> Iterator[str]:
    for name, assistant in settings.assistants.items():
        location = f"assistants.{name}"
        yield from _check_references(f"{location}.sources", assistant.sources, settings.sources)
        yield from _check_references(f"{location}.records", assistant.records, settings.records)
        languages = {"language": (assistant.language,), "thresholds": (*assistant.thresholds,)}
        for key, tags in {**languages, "texts": (*assistant.texts,)}.items():
            yield from _check_references(f"{location}.{key}", tags, dict.fromkeys(LANGUAGE_TAGS))
        topics = assistant.topics
        yield from _check_references(
            f"{location}.topics.off", tuple(topics.off), dict.fromkeys((*TOPICS, *topics.own))
        )
        text_keys = dict.fromkeys(list_text_keys(topics.own))
        for tag, texts in assistant.texts.items():
            yield from _check_references(f"{location}.texts.{tag}", tuple(texts), text_keys)
        if not assistant.sources and not assistant.records:
            lack = "want at least one of `sources`, `records`, got neither: it could answer nothing"
            yield f"{location}: {lack}"


def _check_models(settings: Settings) -> Iterator[str]:
    for name, model in settings.models.items():
        location = f"models.{name}"
        yield from _check_references(f"{location}.assistant", (model.assistant,), settings.assistants)
        yield from _check_references(f"{location}.upstream", (model.upstream,), settings.upstreams)
        upstream = settings.upstreams.get(model.upstream)
        if upstream and upstream.is_http and not model.model:
            yield f"{location}.model: want the upstream's name of the model, got nothing"


def _check_links(settings: Settings) -> Iterator[str]:
    """Prefixes of links that no answer could show: only addresses of these schemes leave."""
    for name, source in settings.sources.items():
        base = source.url_base if isinstance(source, FolderSourceSettings) else ""
        if base and not base.startswith(WEB_SCHEMES):
            yield f"sources.{name}.url_base: want an http(s) address, got {base!r}"


def _check_upstream(location: str, upstream: UpstreamSettings) -> Iterator[str]:
    if upstream.is_http and not upstream.base_url.startswith(WEB_SCHEMES):
        yield f"{location}.base_url: want an http(s) address, got {upstream.base_url!r}"
    if upstream.protocol == "scripted" and upstream.script is None:
        yield f"{location}.script: want the file to replay, got nothing"


def _check_auth(settings: Settings) -> Iterator[str]:
    auth = settings.auth
    if auth.mode == "jwt" and auth.jwt is None:
        yield "auth.jwt: want a table with issuer, audience and jwks for mode `jwt`, got nothing"
    if auth.mode == "open" and settings.server.host not in LOOPBACK and not auth.open.allow_remote:
        yield (
            f"auth.mode: want `keys` or `jwt` on {settings.server.host}, got `open`; "
            "set auth.open.allow_remote = true if everyone who reaches it may ask"
        )


def _check_references(location: str, names: tuple[str, ...], targets: Mapping[str, object]) -> Iterator[str]:
    for name in names:
        if name not in targets:
            near = get_close_matches(name, list(targets), n=1)
            hint = f"; did you mean `{near[0]}`?" if near else ""
            yield f"{location}: want one of {', '.join(targets) or 'none configured'}, got `{name}`{hint}"


def _resolve_relative_paths(settings: Settings, folder: Path) -> Settings:
    """The same settings with every relative path taken from the file's folder."""
    resolved = settings.model_copy(
        update={
            "server": _resolve_path(settings.server, "data_dir", folder),
            "auth": settings.auth.model_copy(update={"jwt": _resolve_jwks(settings.auth.jwt, folder)}),
            "embedding": _resolve_path(settings.embedding, "model", folder),
            "assistants": _resolve_paths(settings.assistants, "prompt", folder),
            "sources": _resolve_paths(settings.sources, "path", folder),
            "records": _resolve_paths(settings.records, "path", folder),
            "upstreams": _resolve_paths(settings.upstreams, "script", folder),
        }
    )
    return resolved.copy_with_folder(folder)


def _resolve_paths(table: Mapping[str, Section], key: str, folder: Path) -> dict[str, Section]:
    return {name: _resolve_path(section, key, folder) for name, section in table.items()}


def _resolve_path(section: Section, key: str, folder: Path) -> Section:
    """The section with its path taken from `folder`; as it is where it has none, or a word in its place."""
    value = getattr(section, key, None)
    if not isinstance(value, Path):
        return section
    return section.model_copy(update={key: folder / value})  # an absolute path stays as it is


def _resolve_jwks(jwt: JwtAuthSettings | None, folder: Path) -> JwtAuthSettings | None:
    """A file of public keys starts at `folder` too; an address stays."""
    if jwt is None or "://" in jwt.jwks:
        return jwt
    return jwt.model_copy(update={"jwks": str(folder / jwt.jwks)})
