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
from proxy.settings.languages import TAGS
from proxy.settings.tree import FolderSource, JwtAuth, Settings, Upstream

LOOPBACK = ("127.0.0.1", "::1", "localhost")
WEB = ("http://", "https://")


def load(path: Path, *, data_dir: Path | None = None) -> Settings:
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
        raise ConfigError(*(f"{path}: {_say(error, data)}" for error in fault.errors())) from fault
    if faults := [f"{path}: {line}" for line in _cross(settings)]:
        raise ConfigError(*faults)
    settings = _absolute(settings, path.resolve().parent)
    if data_dir is not None:
        server = settings.server.model_copy(update={"data_dir": data_dir.resolve()})
        settings = settings.model_copy(update={"server": server})
    return settings


def _say(error: ErrorDetails, data: Mapping[str, Any]) -> str:
    at = ".".join(str(part) for part in error["loc"])
    if error["type"] == "extra_forbidden":
        near = get_close_matches(str(error["loc"][-1]), _known(error["loc"]), n=1)
        return f"{at}: unknown setting" + (f"; did you mean `{near[0]}`?" if near else "")
    if error["type"] == "missing":
        return f"{at}: want a value, got nothing"
    return f"{at}: want {_want(error)}, got {_shown(error)}"


def _want(error: ErrorDetails) -> str:
    message = error["msg"].removeprefix("Input should be ").removeprefix("Value error, ")
    return message[:1].lower() + message[1:]


def _shown(error: ErrorDetails) -> str:
    """The value at fault; never a table, which may hold what nobody should read in a log."""
    value = error["input"]
    return f"{value!r:.60}" if isinstance(value, str | int | float | bool) else type(value).__name__


def _known(at: tuple[int | str, ...]) -> list[str]:
    """Names of the settings that may stand where `at` points."""
    model: Any = Settings
    for part in at[:-1]:
        fields = getattr(model, "model_fields", {})
        if part in fields:
            model = _model(fields[part].annotation)
    return list(getattr(model, "model_fields", {}))


def _model(annotation: Any) -> Any:
    """The section inside an annotation such as `dict[Name, Assistant]` or `JwtAuth | None`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for inner in getattr(annotation, "__args__", ()):
        if (found := _model(inner)) is not None:
            return found
    return None


def _cross(settings: Settings) -> Iterator[str]:
    """Faults between settings: dangling names, and what one choice demands of another."""
    yield from _assistants(settings)
    yield from _models(settings)
    yield from _links(settings)
    for name, upstream in settings.upstreams.items():
        yield from _upstream(f"upstreams.{name}", upstream)
    yield from _auth(settings)
    for table in ("assistants", "upstreams", "models"):
        if not getattr(settings, table):
            yield f"{table}: want at least one, got none"


def _assistants(settings: Settings) -> Iterator[str]:
    for name, assistant in settings.assistants.items():
        at = f"assistants.{name}"
        yield from _dangling(f"{at}.sources", assistant.sources, settings.sources)
        yield from _dangling(f"{at}.records", assistant.records, settings.records)
        languages = {"language": (assistant.language,), "thresholds": (*assistant.thresholds,)}
        for where, tags in {**languages, "texts": (*assistant.texts,)}.items():
            yield from _dangling(f"{at}.{where}", tags, dict.fromkeys(TAGS))
        topics = assistant.topics
        yield from _dangling(f"{at}.topics.off", tuple(topics.off), dict.fromkeys((*TOPICS, *topics.own)))
        for tag, own in assistant.texts.items():
            yield from _dangling(f"{at}.texts.{tag}", tuple(own), dict.fromkeys(list_text_keys(topics.own)))
        if not assistant.sources and not assistant.records:
            yield f"{at}: want at least one of `sources`, `records`, got neither: it could answer nothing"


def _models(settings: Settings) -> Iterator[str]:
    for name, model in settings.models.items():
        at = f"models.{name}"
        yield from _dangling(f"{at}.assistant", (model.assistant,), settings.assistants)
        yield from _dangling(f"{at}.upstream", (model.upstream,), settings.upstreams)
        upstream = settings.upstreams.get(model.upstream)
        if upstream and upstream.protocol in ("openai", "anthropic") and not model.model:
            yield f"{at}.model: want the upstream's name of the model, got nothing"


def _links(settings: Settings) -> Iterator[str]:
    """Prefixes of links that no answer could show: only addresses of these schemes leave."""
    for name, source in settings.sources.items():
        base = source.url_base if isinstance(source, FolderSource) else ""
        if base and not base.startswith(WEB):
            yield f"sources.{name}.url_base: want an http(s) address, got {base!r}"


def _upstream(at: str, upstream: Upstream) -> Iterator[str]:
    if upstream.protocol in ("openai", "anthropic") and not upstream.base_url.startswith(WEB):
        yield f"{at}.base_url: want an http(s) address, got {upstream.base_url!r}"
    if upstream.protocol == "scripted" and upstream.script is None:
        yield f"{at}.script: want the file to replay, got nothing"


def _auth(settings: Settings) -> Iterator[str]:
    auth = settings.auth
    if auth.mode == "jwt" and auth.jwt is None:
        yield "auth.jwt: want a table with issuer, audience and jwks for mode `jwt`, got nothing"
    if auth.mode == "open" and settings.server.host not in LOOPBACK and not auth.open.allow_remote:
        yield (
            f"auth.mode: want `keys` or `jwt` on {settings.server.host}, got `open`; "
            "set auth.open.allow_remote = true if everyone who reaches it may ask"
        )


def _dangling(at: str, names: tuple[str, ...], known: Mapping[str, object]) -> Iterator[str]:
    for name in names:
        if name not in known:
            near = get_close_matches(name, list(known), n=1)
            hint = f"; did you mean `{near[0]}`?" if near else ""
            yield f"{at}: want one of {', '.join(known) or 'none configured'}, got `{name}`{hint}"


def _absolute(settings: Settings, folder: Path) -> Settings:
    """The same settings with every relative path taken from the file's folder."""

    def whole(path: Path) -> Path:
        return path if path.is_absolute() else folder / path

    def keys(jwt: JwtAuth | None) -> JwtAuth | None:
        here = jwt is not None and "://" not in jwt.jwks
        return jwt.model_copy(update={"jwks": str(whole(Path(jwt.jwks)))}) if jwt and here else jwt

    model = settings.embedding.model
    moved = settings.model_copy(
        update={
            "server": settings.server.model_copy(update={"data_dir": whole(settings.server.data_dir)}),
            "auth": settings.auth.model_copy(update={"jwt": keys(settings.auth.jwt)}),
            "embedding": settings.embedding.model_copy(
                update={"model": whole(model) if isinstance(model, Path) else model}
            ),
            "assistants": {
                name: a.model_copy(update={"prompt": whole(a.prompt)}) if a.prompt else a
                for name, a in settings.assistants.items()
            },
            "sources": {
                name: s.model_copy(update={"path": whole(s.path)}) if isinstance(s, FolderSource) else s
                for name, s in settings.sources.items()
            },
            "records": {
                name: r.model_copy(update={"path": whole(r.path)}) if r.path else r
                for name, r in settings.records.items()
            },
            "upstreams": {
                name: u.model_copy(update={"script": whole(u.script)}) if u.script else u
                for name, u in settings.upstreams.items()
            },
        }
    )
    return moved.placed(folder)
