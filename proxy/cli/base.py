"""What every command shares: the root, the configuration, faults in their own words."""

import asyncio
import os
import sys
from collections.abc import Coroutine
from importlib.metadata import version
from math import isnan
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import click

from proxy.errors import ConfigError, FiadorError
from proxy.settings.load import load
from proxy.settings.tree import Settings

T = TypeVar("T")

USD_MAX = 1e9
"""Of one cap or change: what is beyond it was never meant, and the books count in 64 bits."""

INTERRUPTED, CLOSED = 130, 141
"""What a shell reports of a program that Ctrl-C or a closed pipe (`| head`) has ended."""

JSON = click.option("--json", "as_json", is_flag=True, help="For programs.")


class Group(click.Group):
    """A group that tells faults of ours, and of files, in their own words instead of a traceback."""

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except ConfigError as fault:
            _end(2, "\n".join(fault.faults))
        except FiadorError as fault:
            _end(1, f"{fault.text} {fault.detail}".strip())
        except KeyboardInterrupt:
            _end(INTERRUPTED, "Interrupted.")
        except BrokenPipeError:
            _closed()
        except OSError as fault:
            if fault.filename is None:
                raise
            _end(2, f"{fault.filename}: {fault.strerror}")
        except SystemExit as end:
            if isinstance(end.__context__, BrokenPipeError):  # how rich says it
                _closed()
            raise


def _end(code: int, told: str) -> NoReturn:
    click.echo(told, err=True)
    raise SystemExit(code)


def _closed() -> NoReturn:
    """Nobody reads any more: ends at once, and keeps the interpreter from flushing into nothing."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    raise SystemExit(CLOSED)


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


class Bounded(click.FloatRange):
    """A number within its bounds. No comparison keeps nan out by itself."""

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> Any:
        number = super().convert(value, parameter, context)
        return self.fail(f"{value} is not a number.", parameter, context) if isnan(number) else number


def stated(_: click.Context, parameter: click.Parameter, text: str) -> str:
    """A text that says something."""
    if not text.strip():
        raise click.BadParameter(f"want a {parameter.human_readable_name.lower()}, got an empty text")
    return text


def names(text: str) -> frozenset[str]:
    return frozenset(part.strip() for part in text.split(",") if part.strip())
