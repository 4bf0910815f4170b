"""What every command shares: the root, the configuration, faults in their own words."""

import asyncio
from collections.abc import Coroutine
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

import click

from proxy.errors import ConfigError, FiadorError
from proxy.settings.load import load
from proxy.settings.tree import Settings

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
