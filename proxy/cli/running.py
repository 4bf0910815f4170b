"""Commands that set up, run and ask a deployment."""

import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from proxy.cli.base import JSON, main, names, settings_of, wait
from proxy.types import Decision


@main.command()
@click.option("--serve", is_flag=True, help="Leave the proxy running and show how to ask it.")
def demo(serve: bool) -> None:
    """Hold a guarded conversation that checks its own claims."""
    from proxy.commands import demo as command

    sys.exit(command.run(command.home(), serve=serve))


@main.command()
@click.argument("folder", type=click.Path(path_type=Path))
def init(folder: Path) -> None:
    """Write a commented configuration and a first document."""
    from proxy.commands import starting

    starting.init(folder)


@main.command()
@click.option("--host", help="Instead of server.host.")
@click.option("--port", type=click.IntRange(0, 65535), help="Instead of server.port.")
@click.pass_context
def serve(context: click.Context, host: str | None, port: int | None) -> None:
    """Run the proxy."""
    from proxy.commands import serving

    config, data_dir = context.obj
    serving.run(config, data_dir, host=host, port=port)


@main.command()
@click.option("--online", is_flag=True, help="Also ask each upstream for its list of models.")
@JSON
@click.pass_context
def check(context: click.Context, online: bool, as_json: bool) -> None:
    """Do all that serve does, up to opening the port."""
    from proxy.commands import checking

    sys.exit(wait(checking.run(settings_of(context), online=online, as_json=as_json)))


@main.command()
@click.option("--watch", is_flag=True, help="Go on with every change, until Ctrl-C.")
@JSON
@click.pass_context
def sync(context: click.Context, watch: bool, as_json: bool) -> None:
    """Bring the index up to date with the sources and record books."""
    from proxy.commands import syncing

    settings, tell = settings_of(context), syncing.as_json if as_json else syncing.as_text()
    if not watch:
        sys.exit(wait(syncing.run(settings, tell)))
    with suppress(KeyboardInterrupt):  # which is how it ends
        wait(syncing.watch(settings, tell))


@main.command()
@click.argument("question")
@click.option("--as", "groups", default="", help="Ask as a caller with these groups (a,b).")
@click.option("--model", default="", help="An alias of [models]; the first one if not said.")
@click.option("--dry-run", is_flag=True, help="Stop before the upstream.")
@click.option("--explain", is_flag=True, help="Show layers, scores, sources and verdicts.")
@JSON
@click.pass_context
def ask(context: click.Context, /, question: str, **options: Any) -> None:
    """Ask one question through the real pipeline, without HTTP.

    What it costs is booked, and the decision log keeps a row of it; a dry run leaves nothing.
    """
    from proxy.commands import asking

    told = "json" if options["as_json"] else "explain" if options["explain"] else ""
    how = asking.How(options["model"], names(options["groups"]), dry=options["dry_run"], told=told)
    wait(asking.once(settings_of(context), question, how))


@main.command()
@click.argument("id", required=False)
@click.option(
    "-n", "--last", type=click.IntRange(1), default=20, show_default=True, help="How many, newest first."
)
@click.option("--decision", type=click.Choice([str(d) for d in Decision]), help="Only these.")
@JSON
@click.pass_context
def decisions(context: click.Context, /, id: str | None, **options: Any) -> None:
    """What became of requests, and why; ID opens one of them."""
    from proxy.commands import decisions as command

    settings, as_json = settings_of(context), options["as_json"]
    if id is None:
        only = Decision(options["decision"]) if options["decision"] else None
        return wait(command.recent(settings, options["last"], decision=only, as_json=as_json))
    if not wait(command.one(settings, id, as_json=as_json)):
        raise click.UsageError(f"no decision {id} in the log")
    return None


@main.command()
def model() -> None:
    """Build the default embedding model, once.

    91 MB to load; says where it is.
    """
    from rich.console import Console

    from indexes.model import home
    from proxy.commands import building

    if not building.ensure(Console()):
        sys.exit(1)
    click.echo(f"built: {home()}")
