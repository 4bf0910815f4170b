"""fiador: every command. Exit 0 done, 1 a check failed, 2 bad input."""

import asyncio
import sys
from collections.abc import Coroutine
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

import click

from proxy.errors import ConfigError, FiadorError
from proxy.settings.load import load
from proxy.settings.tree import Settings
from proxy.types import Decision

T = TypeVar("T")

JSON = click.option("--json", "as_json", is_flag=True, help="For programs.")


class Group(click.Group):
    """A group that tells faults of ours in their own words instead of a traceback."""

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except ConfigError as fault:
            click.echo("\n".join(fault.faults), err=True)
            raise SystemExit(2) from fault
        except FiadorError as fault:
            click.echo(f"{fault.text} {fault.detail}".strip(), err=True)
            raise SystemExit(1) from fault


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(version("fiador"), prog_name="fiador")
@click.option(
    "-c",
    "--config",
    type=click.Path(path_type=Path),
    default=Path("fiador.toml"),
    envvar="FIADOR_CONFIG",
    show_default=True,
    help="The configuration.",
)
@click.option("--data-dir", type=click.Path(path_type=Path), help="Instead of server.data_dir.")
@click.pass_context
def main(context: click.Context, config: Path, data_dir: Path | None) -> None:
    """An OpenAI-compatible proxy that lets an answer through only as far as your documents support it."""
    context.obj = (config, data_dir)


def settings_of(context: click.Context) -> Settings:
    config, data_dir = context.obj
    return load(config, data_dir=data_dir)


def wait(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


def names(text: str) -> frozenset[str]:
    return frozenset(part.strip() for part in text.split(",") if part.strip())


@main.command()
@click.option("--serve", is_flag=True, help="Leave the proxy running and show how to ask it.")
def demo(serve: bool) -> None:
    """A guarded conversation with the sample corpus; checks every claim it makes."""
    from proxy.commands import demo as command

    sys.exit(command.run(command.home(), serve=serve))


@main.command()
@click.argument("folder", type=click.Path(path_type=Path))
def init(folder: Path) -> None:
    """Write a commented configuration and a first document into FOLDER."""
    from proxy.commands import starting

    starting.init(folder)


@main.command()
@click.option("--host", help="Instead of server.host.")
@click.option("--port", type=int, help="Instead of server.port.")
@click.pass_context
def serve(context: click.Context, host: str | None, port: int | None) -> None:
    """Run the proxy."""
    from proxy.commands import serving

    config, data_dir = context.obj
    serving.run(config, data_dir, host=host, port=port)


@main.command()
@click.option("--online", is_flag=True, help="Also ask each upstream for its list of models.")
@click.pass_context
def check(context: click.Context, online: bool) -> None:
    """Do all that serve does, up to opening the port."""
    from proxy.commands import checking

    sys.exit(wait(checking.run(settings_of(context), online=online)))


@main.command()
@click.option("--watch", is_flag=True, help="Go on with every change, until Ctrl-C.")
@click.pass_context
def sync(context: click.Context, watch: bool) -> None:
    """Bring the index up to date with the sources and record books."""
    from proxy.commands import syncing

    settings = settings_of(context)
    sys.exit(wait(syncing.watch(settings) if watch else syncing.run(settings)))


@main.command()
@click.argument("question")
@click.option("--as", "groups", default="", help="Ask as a caller with these groups (a,b).")
@click.option("--model", default="", help="An alias of [models]; the first one if not said.")
@click.option("--dry-run", is_flag=True, help="Stop before the upstream.")
@click.option("--explain", is_flag=True, help="Show layers, scores, sources and verdicts.")
@JSON
@click.pass_context
def ask(context: click.Context, /, question: str, **options: Any) -> None:
    """Ask one question through the real pipeline, without HTTP."""
    from proxy.commands import asking

    told = "json" if options["as_json"] else "explain" if options["explain"] else ""
    how = asking.How(options["model"], names(options["groups"]), dry=options["dry_run"], told=told)
    wait(asking.once(settings_of(context), question, how))


@main.command()
@click.argument("id", required=False)
@click.option("-n", "--last", default=20, show_default=True, help="How many, newest first.")
@click.option("--decision", type=click.Choice([str(d) for d in Decision]), help="Only these.")
@JSON
@click.pass_context
def decisions(context: click.Context, id: str | None, last: int, decision: str | None, as_json: bool) -> None:
    """What became of requests, and why; ID opens one of them."""
    from proxy.commands import decisions as command

    settings = settings_of(context)
    if id is None:
        only = None if decision is None else Decision(decision)
        return wait(command.recent(settings, last, decision=only, as_json=as_json))
    if not wait(command.one(settings, id, as_json=as_json)):
        raise click.UsageError(f"no decision {id} in the log")
    return None


@main.group()
def keys() -> None:
    """Keys of callers."""


@keys.command("create")
@click.argument("name")
@click.option("--groups", default="", help="Groups of the caller (a,b).")
@click.option("--scopes", default="", help="`admin` may change documents and read every decision.")
@click.option("--usd-month", type=float, help="Cap of this key a month.")
@click.option("--usd-day", type=float, help="Cap of this key a day.")
@click.option("--days", type=float, help="Days until it expires.")
@click.pass_context
def create_key(context: click.Context, /, name: str, **options: Any) -> None:
    """Make a key; it is shown this once."""
    from proxy.commands import keys as command

    wish = command.Wish(
        name,
        names(options["groups"]),
        names(options["scopes"]),
        command.cap(options["usd_month"], options["usd_day"]),
        options["days"],
    )
    click.echo(wait(command.create(settings_of(context), wish)))


@keys.command("list")
@JSON
@click.pass_context
def list_keys(context: click.Context, as_json: bool) -> None:
    """List keys, never their text."""
    from proxy.commands import keys as command

    wait(command.show(settings_of(context), as_json=as_json))


@keys.command("revoke")
@click.argument("id")
@click.pass_context
def revoke_key(context: click.Context, id: str) -> None:
    """End a key, from its next request on."""
    from proxy.commands import keys as command

    if not wait(command.revoke(settings_of(context), id)):
        raise click.UsageError(f"no live key {id}; `fiador keys list` shows them")
    click.echo(f"{id} is revoked")


@main.command()
def model() -> None:
    """Build the default embedding model once (91 MB to load)."""
    from rich.console import Console

    from proxy.commands import building

    sys.exit(0 if building.ensure(Console()) else 1)


if __name__ == "__main__":
    main()
