"""fiador: the roof over every command, and what all share: options, faults in their own words, exit codes.

Exit 0 done, 1 a check or the work itself failed, 2 bad input.
"""

import asyncio
import os
import sys
from collections.abc import Coroutine, Mapping
from importlib import import_module
from importlib.metadata import version
from math import isnan
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import click

from proxy.domain.errors import ConfigError, FiadorError
from proxy.settings.load import load_settings
from proxy.settings.tree import Settings

T = TypeVar("T")

COMMANDS: Mapping[str, str] = {
    "ask": "Ask one question through the real pipeline, without HTTP.",
    "backup": "Copy index, books, keys and decisions into FILE.",
    "calibrate": "Find the threshold that parts answers from refusals.",
    "check": "Do all that serve does, up to opening the port.",
    "decisions": "What became of requests, and why; ID opens one of them.",
    "demo": "Hold a guarded conversation that checks its own claims.",
    "eval": "Grade golden cases; exit 1 if one is wrong.",
    "init": "Write a commented configuration and a first document.",
    "keys": "Keys of callers.",
    "model": "Build the default embedding model, once.",
    "restore": "Put a backup back into an empty data folder.",
    "serve": "Run the proxy.",
    "spend": "What was spent.",
    "sync": "Bring the index up to date with the sources and record books.",
}
"""Each is a module of this package that holds `NAME_command`. It is imported only when it is asked for, since
some take seconds to load, so what it does in a line is said here too; a test holds the two together.
"""

USD_MAX = 1e9
"""Of one cap or change: what is beyond it was never meant, and the books count in 64 bits."""

EXIT_INTERRUPTED, EXIT_CLOSED_PIPE = 130, 141
"""What a shell reports of a program that Ctrl-C or a closed pipe (`| head`) has ended."""

JSON_OPTION = click.option("--json", "as_json", is_flag=True, help="For programs.")
SETS_ARGUMENT = click.argument("sets", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))


class RootGroup(click.Group):
    """Loads a command when it is named, and tells faults of ours, and of files, without a traceback."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return super().get_command(context, name)
        command: click.Command = getattr(import_module(f"proxy.commands.{name}"), f"{name}_command")
        return command

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([*COMMANDS.items()])

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except ConfigError as fault:
            exit_with_message(2, "\n".join(fault.faults))
        except FiadorError as fault:
            exit_with_message(1, f"{fault.text} {fault.detail}".strip())
        except KeyboardInterrupt:
            exit_with_message(EXIT_INTERRUPTED, "Interrupted.")
        except BrokenPipeError:
            exit_for_closed_pipe()
        except OSError as fault:
            if fault.filename is None:
                raise
            exit_with_message(2, f"{fault.filename}: {fault.strerror}")
        except SystemExit as end:
            if isinstance(end.__context__, BrokenPipeError):  # how rich says it
                exit_for_closed_pipe()
            raise


def exit_with_message(code: int, message: str) -> NoReturn:
    """Ends with `code`, the message on standard error."""
    click.echo(message, err=True)
    raise SystemExit(code)


def exit_for_closed_pipe() -> NoReturn:
    """Nobody reads any more: ends at once, and keeps the interpreter from flushing into nothing."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    raise SystemExit(EXIT_CLOSED_PIPE)


@click.group(cls=RootGroup, context_settings={"help_option_names": ["-h", "--help"]})
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


def load_context_settings(context: click.Context) -> Settings:
    """The settings that `--config` and `--data-dir` name. Raises `ConfigError`."""
    config, data_dir = context.obj
    return load_settings(config, data_dir=data_dir)


def run_coroutine(coroutine: Coroutine[Any, Any, T]) -> T:
    """Runs `work` to its end in an event loop of its own."""
    return asyncio.run(coroutine)


class BoundedNumber(click.FloatRange):
    """A number within its bounds. No comparison keeps nan out by itself."""

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> Any:
        number = super().convert(value, parameter, context)
        return self.fail(f"{value} is not a number.", parameter, context) if isnan(number) else number


def require_text(_: click.Context, parameter: click.Parameter, text: str) -> str:
    """A click callback: a text that says something."""
    if not text.strip():
        raise click.BadParameter(f"want a {parameter.human_readable_name.lower()}, got an empty text")
    return text


def split_names(text: str) -> frozenset[str]:
    """The names of a list as it is typed: `a,b`."""
    return frozenset(part.strip() for part in text.split(",") if part.strip())
