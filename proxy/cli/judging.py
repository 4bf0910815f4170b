"""`fiador eval` and `fiador calibrate`: golden cases."""

import sys
from pathlib import Path
from typing import Any

import click

from proxy.cli.base import JSON, main, settings_of, wait

SETS = click.argument("sets", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))


@main.command("eval")
@SETS
@click.option("--live", is_flag=True, help="Ask the configured upstreams; this costs what they cost.")
@click.option(
    "--embedding",
    type=click.Choice(["configured", "off", "stand-in"]),
    default="configured",
    show_default=True,
    help="`stand-in`: a bag of tokens, without learned meaning.",
)
@JSON
@click.pass_context
def evaluate(context: click.Context, /, sets: tuple[Path, ...], **options: Any) -> None:
    """Grade golden cases; exit 1 if one is wrong."""
    from proxy.commands import judging

    trial = judging.Trial(options["embedding"], options["live"])
    sys.exit(wait(judging.judge(settings_of(context), sets, trial, as_json=options["as_json"])))


@main.command()
@SETS
@click.option("--write", is_flag=True, help="Write threshold.lock.toml beside the configuration.")
@click.option("--plot", "picture", type=click.Path(path_type=Path), help="Draw the similarities as SVG.")
@JSON
@click.pass_context
def calibrate(context: click.Context, /, sets: tuple[Path, ...], **options: Any) -> None:
    """Find the threshold that parts answers from refusals."""
    from proxy.commands import judging

    settings = settings_of(context)
    done = wait(judging.calibrated(settings, sets, writing=options["write"]))
    done.tell(as_json=options["as_json"])
    if options["picture"]:
        done.draw(options["picture"])
    if options["write"]:
        click.echo(f"written: {done.keep(settings)}", err=True)
    sys.exit(0 if done.separates else 1)
